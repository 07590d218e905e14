package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/weir-cli/weir/tui/noquery"
)

func init() { noquery.Done() }

// leaveMsg ends the dashboard from outside.
type leaveMsg struct{}

// continuedMsg says that the terminal was given away and is ours again.
type continuedMsg struct{}

// Dashboard is a running one.
type Dashboard struct {
	program *tea.Program
	done    chan struct{}
	err     error
}

// PanicError is a fault of the dashboard itself; the terminal is as it was.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the dashboard broke: %v", e.Value) }

// Start shows src on a terminal until it is left. out must be a terminal; in
// is where keys come from.
func Start(ctx context.Context, src Source, in io.Reader, out *os.File, opt Options) *Dashboard {
	return start(ctx, newModel(src, opt), in, out)
}

// Screen is one screen of a source as plain text.
func Screen(src Source, opt Options, width, height int) string {
	m := newModel(src, opt)
	m.w, m.h = width, height
	return m.screen().plainText()
}

func start(ctx context.Context, m tea.Model, in io.Reader, out *os.File) *Dashboard {
	d := &Dashboard{done: make(chan struct{})}
	d.program = tea.NewProgram(m, tea.WithInput(in), tea.WithOutput(out), tea.WithContext(ctx),
		tea.WithAltScreen(), tea.WithoutSignalHandler(), tea.WithoutCatchPanics(), tea.WithFPS(30))
	release := d.watchSignals()
	go func() {
		defer close(d.done)
		defer release()
		defer func() {
			if p := recover(); p != nil {
				d.err = &PanicError{p, debug.Stack()}
				_ = d.program.ReleaseTerminal()
			}
		}()
		_, err := d.program.Run()
		if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, context.Canceled) {
			d.err = err
		}
	}()
	return d
}

// Done is closed once the terminal is as it was.
func (d *Dashboard) Done() <-chan struct{} { return d.done }

// Leave ends the dashboard and returns once the terminal is as it was.
func (d *Dashboard) Leave() error {
	d.program.Send(leaveMsg{})
	<-d.done
	return d.err
}

// Wait returns once the dashboard has been left.
func (d *Dashboard) Wait() error {
	<-d.done
	return d.err
}

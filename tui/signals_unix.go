//go:build unix

package tui

import (
	"os"
	"os/signal"
	"syscall"

	tea "github.com/charmbracelet/bubbletea"
)

// suspend asks for the process to be stopped, and all of its job with it.
func suspend() tea.Msg {
	_ = syscall.Kill(0, syscall.SIGTSTP)
	return nil
}

// watchSignals gives the terminal back before a signal stops or ends the
// process, and takes it again when the process is continued. Interrupts are
// the caller's.
func (d *Dashboard) watchSignals() (release func()) {
	stops := make(chan os.Signal, 1)
	signal.Notify(stops, syscall.SIGTSTP)
	ends := make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGHUP, syscall.SIGQUIT)
	over := make(chan struct{})
	go func() {
		for {
			select {
			case <-stops:
				d.stop(stops)
			case sig := <-ends:
				_ = d.program.ReleaseTerminal()
				signal.Reset(sig)
				_ = syscall.Kill(os.Getpid(), sig.(syscall.Signal))
			case <-over:
				return
			}
		}
	}()
	return func() {
		signal.Stop(stops)
		signal.Stop(ends)
		close(over)
	}
}

// stop stops this process as the signal would have done, with the terminal in
// order, and returns when it is continued.
func (d *Dashboard) stop(stops chan os.Signal) {
	_ = d.program.ReleaseTerminal()
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	signal.Reset(syscall.SIGTSTP)
	_ = syscall.Kill(os.Getpid(), syscall.SIGTSTP)
	<-on
	signal.Stop(on)
	signal.Notify(stops, syscall.SIGTSTP)
	_ = d.program.RestoreTerminal()
}

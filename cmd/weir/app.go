package main

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// app is everything of the outside that a verb may touch. Tests fill it with
// buffers and fixed answers; systemApp fills it from the process.
type app struct {
	stdin  io.Reader
	stdout io.Writer // results, and nothing else
	stderr io.Writer // progress, logs, errors and hints

	stdoutTTY, stderrTTY bool
	// screen and keys are the terminal for a dashboard; nil without one.
	screen, keys *os.File
	// width is the terminal's width in columns, or 80 without a terminal.
	width func() int
	// height is the terminal's height in rows, or 0 without a terminal.
	height    func() int
	lookupEnv func(name string) (string, bool)
	now       func() time.Time
	// cut ends at the second interrupt; the command's own context ends at the
	// first. Never nil.
	cut context.Context
}

const defaultWidth = 80

func systemApp() *app {
	screen, keys := terminal()
	a := &app{
		screen:    screen,
		keys:      keys,
		stdin:     os.Stdin,
		stdout:    &pipeWriter{w: os.Stdout},
		stderr:    os.Stderr,
		stdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
		stderrTTY: term.IsTerminal(int(os.Stderr.Fd())),
		width:     terminalWidth,
		height:    terminalHeight,
		lookupEnv: os.LookupEnv,
		now:       time.Now,
		cut:       context.Background(),
	}
	if !a.utf8() {
		if a.stdoutTTY {
			a.stdout = &asciiWriter{w: a.stdout}
		}
		if a.stderrTTY {
			a.stderr = &asciiWriter{w: a.stderr}
		}
	}
	return a
}

// terminal finds the one that a dashboard is drawn on and the one that its keys
// come from. Results go to stdout, so the screen is stderr where it can be.
func terminal() (screen, keys *os.File) {
	for _, f := range []*os.File{os.Stderr, os.Stdout} {
		if screen == nil && term.IsTerminal(int(f.Fd())) {
			screen = f
		}
	}
	if term.IsTerminal(int(os.Stdin.Fd())) {
		return screen, os.Stdin
	}
	return screen, nil
}

func terminalWidth() int {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	return defaultWidth
}

func terminalHeight() int {
	if _, h, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		return h
	}
	return 0
}

// env is lookupEnv for callers to whom unset and empty are the same.
func (a *app) env(name string) string {
	v, _ := a.lookupEnv(name)
	return v
}

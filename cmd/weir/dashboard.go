package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// dashboard reports whether one may be drawn, and says on stderr when it was
// asked for and there is no terminal for it.
func (c *console) dashboard(a *app) bool {
	if !c.screen(a) && !c.quiet {
		fmt.Fprintln(a.stderr, "note: no terminal for a dashboard; going on in plain lines")
	}
	return c.screen(a)
}

// screen reports whether there is a terminal to draw a dashboard on.
func (c *console) screen(a *app) bool {
	return !c.quiet && a.screen != nil && a.keys != nil && a.env("TERM") != "dumb" && a.env("TERM") != ""
}

// colors is what the terminal can show, by what it says about itself.
func (c *console) colors(a *app) tui.Colors {
	name := a.env("TERM")
	switch {
	case c.noColor || a.env("NO_COLOR") != "" || name == "dumb" || strings.HasSuffix(name, "-m") || strings.HasSuffix(name, "-mono") || name == "vt100" || name == "vt220":
		return tui.NoColor
	case a.env("COLORTERM") == "truecolor" || a.env("COLORTERM") == "24bit" || strings.HasSuffix(name, "-direct"):
		return tui.TrueColor
	case strings.Contains(name, "256color") || name == "xterm-kitty" || name == "alacritty" || name == "xterm-ghostty" || name == "foot":
		return tui.Colors256
	}
	return tui.Colors16
}

// startDashboard shows a source on the terminal.
func startDashboard(ctx context.Context, a *app, c *console, src tui.Source, view tui.View) *tui.Dashboard {
	return tui.Start(ctx, src, a.keys, a.screen, tui.Options{Colors: c.colors(a), ASCII: !a.utf8(), View: view, Export: exportScreen})
}

// afterwards leaves the answer on the normal screen where the result itself went
// elsewhere.
func (c *console) afterwards(a *app, r *report.Result, out *output) {
	if c.screen(a) && !(a.stdoutTTY && out.toStdout()) {
		fmt.Fprintln(a.stderr, report.Headline(r))
	}
}

// exportsMost bounds the names that are tried for an exported screen.
const exportsMost = 1000

// exportScreen keeps a screen beside those that are there already.
func exportScreen(text, svg string) (string, error) {
	for i := 1; i <= exportsMost; i++ {
		name := fmt.Sprintf("weir-screen-%d", i)
		err := writeNew(name+".txt", text)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = writeNew(name+".svg", svg)
		}
		return name + ".txt and .svg", err
	}
	return "", fmt.Errorf("there are %d screens here already", exportsMost)
}

// writeNew writes a file that must not be there yet.
func writeNew(name, text string) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// dashboardError types what ended a dashboard.
func dashboardError(err error) error {
	var p *tui.PanicError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &p):
		return internalError(err)
	}
	return reachError(fmt.Errorf("the terminal: %w", err), "leave --tui out")
}

package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// golden compares a screen with the one that was kept.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs from what was kept (go test -update keeps this one):\n%s", name, ansi.Strip(got))
	}
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 45}} {
		for v := range views {
			tape, _ := openRun(t, false)
			m := newModel(tape, Options{View: v, Export: func(string, string) (string, error) { return "", nil }})
			m.w, m.h = size[0], size[1]
			name := fmt.Sprintf("%s-%dx%d", v, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				m.opt.Colors = NoColor
				mono := m.View()
				m.opt.Colors = Colors256
				color := m.View()
				fits(t, mono, size[0], size[1])
				fits(t, color, size[0], size[1])
				if ansi.Strip(mono) != ansi.Strip(color) {
					t.Error("colour changes more than colour")
				}
				if strings.Contains(mono, "38;5") || !strings.Contains(color, "38;5") {
					t.Error("colours where there should be none, or none where there should be")
				}
				golden(t, name+".txt", m.screen().plainText())
				golden(t, name+"-color.txt", color+"\n")
			})
		}
	}
}

// fits fails when a screen is wider or higher than it may be, or has anything
// that a terminal could take for an order beyond a change of colour.
func fits(t *testing.T, screen string, w, h int) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	if len(lines) > h {
		t.Errorf("%d lines on a screen of %d", len(lines), h)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > w {
			t.Errorf("line %d has %d columns on a screen of %d: %q", i, n, w, ansi.Strip(line))
		}
		rest := line
		for {
			before, after, found := strings.Cut(rest, "\x1b[")
			if strings.ContainsFunc(before, func(r rune) bool { return !unicode.IsPrint(r) || unruly(r) }) {
				t.Errorf("line %d has something unprintable: %q", i, before)
			}
			if !found {
				break
			}
			code, tail, ended := strings.Cut(after, "m")
			if !ended || strings.Trim(code, "0123456789;") != "" {
				t.Errorf("line %d has an escape that is no colour: %q", i, after)
			}
			rest = tail
		}
	}
}

// Every size gives a screen that fits, whatever is shown.
func TestEverySizeFits(t *testing.T) {
	tape, _ := openRun(t, false)
	for _, w := range []int{0, 1, 20, 59, 60, 61, 80, 100, 117, 118, 119, 160, 400} {
		for _, h := range []int{0, 1, 5, 15, 16, 17, 24, 45, 120} {
			for v := range views {
				m := newModel(tape, Options{View: v, Colors: TrueColor})
				next, _ := m.Update(tea.WindowSizeMsg{Width: w, Height: h})
				for _, keys := range []string{"", "?", "m", "zzz", "ZZZZs"} {
					at := press(next.(model), keys)
					fits(t, at.View(), w, max(h, 1))
				}
			}
		}
	}
}

// Without UTF-8 a screen is what it was, column by column, in ASCII.
func TestScreensInASCII(t *testing.T) {
	tape, _ := openRun(t, false)
	for v := range views {
		m := newModel(tape, Options{View: v, ASCII: true})
		m.w, m.h = 80, 24
		got := strings.Split(m.View(), "\n")
		m.opt.ASCII = false
		for i, line := range strings.Split(m.View(), "\n") {
			plain := ansi.Strip(got[i])
			if strings.ContainsFunc(plain, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s, line %d: %q", v, i, plain)
			}
			if ansi.StringWidth(plain) > ansi.StringWidth(line) {
				t.Errorf("%s, line %d is wider than\n%s\n%s", v, i, line, plain)
			}
		}
		if v == Traffic {
			golden(t, "traffic-80x24-ascii.txt", strings.Join(got, "\n")+"\n")
		}
	}
}

func TestTooSmallSaysSo(t *testing.T) {
	tape, _ := openRun(t, false)
	m := newModel(tape, Options{})
	m.w, m.h = 20, 5
	if got := strings.Join(strings.Fields(m.screen().plainText()), " "); got != "20×5 is too small for the dashboard: it needs 60×16." {
		t.Errorf("got %q", got)
	}
}

func TestHelpAndPictures(t *testing.T) {
	tape, _ := openRun(t, false)
	m := newModel(tape, Options{Export: func(string, string) (string, error) { return "", nil }})
	m = press(m, "?")
	golden(t, "help-80x24.txt", m.screen().plainText())
	m = press(m, "x")
	golden(t, "traffic-80x24.svg", m.screen().svg())
}

// Browsers drop spaces at the ends of a text and all but one of several in it,
// and would stretch the rest over their room.
func TestPicturesHaveNoSpacesToDrop(t *testing.T) {
	c := newCanvas(30, 2)
	c.text(0, 0, "  a b   c日d ", style{})
	c.text(0, 1, " HELD  █ 3", style{reverse: true})
	picture := c.svg()
	for _, want := range []string{
		`<text x="16.8" y="15" textLength="25.2" lengthAdjust="spacingAndGlyphs" fill="#d8d8d8">a b</text>`,
		`<text x="67.2" y="15" textLength="33.6" lengthAdjust="spacingAndGlyphs" fill="#d8d8d8">c日d</text>`,
		`<text x="8.4" y="32" textLength="33.6" lengthAdjust="spacingAndGlyphs" fill="#16181d">HELD</text>`,
		`<text x="75.6" y="32" textLength="8.4" lengthAdjust="spacingAndGlyphs" fill="#16181d">3</text>`,
	} {
		if !strings.Contains(picture, want+"\n") {
			t.Errorf("no %s in\n%s", want, picture)
		}
	}
	if n := strings.Count(picture, "<text"); n != 4 {
		t.Errorf("%d texts in\n%s", n, picture)
	}
	tape, _ := openRun(t, false)
	for v := range views {
		m := newModel(tape, Options{View: v})
		m.w, m.h = 160, 45
		for line := range strings.Lines(m.screen().svg()) {
			if strings.HasPrefix(line, "<text") && (strings.Contains(line, "> ") || strings.Contains(line, " </text>") || strings.Contains(line, "  ")) {
				t.Errorf("%s: %s", v, line)
			}
		}
	}
}

// press types keys, one at a time.
func press(m model, keys string) model {
	for _, r := range keys {
		m = key(m, string(r))
	}
	return m
}

var named = map[string]tea.KeyType{"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd,
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "down": tea.KeyDown, "up": tea.KeyUp, "ctrl+c": tea.KeyCtrlC, "backspace": tea.KeyBackspace}

func key(m model, name string) model {
	k := tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
	if typ, ok := named[name]; ok {
		k = tea.KeyMsg{Type: typ}
	} else if name == " " {
		k.Type = tea.KeySpace
	}
	next, _ := m.Update(k)
	return next.(model)
}

package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-cli/weir/report"
)

// What the view keeps of the past.
const (
	viewLooks  = 512
	viewEvents = 4
)

// watchView draws the newest look over the one before. It leaves the cursor
// below the view, and shows it again at the end.
type watchView struct {
	app    *app
	every  time.Duration
	drawn  int // lines of the view on the screen
	past   []uint32
	events []string
}

const (
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	clearBelow = "\x1b[J"
)

func (v *watchView) look(l *look, t *watchTotals) error {
	n := uint32(0)
	if m := l.move.Admitted; m != nil {
		n = uint32(min(*m, 1<<31))
	}
	v.past = append(v.past, n)
	v.past = v.past[max(0, len(v.past)-viewLooks):]
	for _, e := range l.move.Events {
		v.events = append(v.events, time.Unix(0, l.now).UTC().Format("15:04:05")+"  "+e.Text)
	}
	v.events = v.events[max(0, len(v.events)-viewEvents):]
	return v.draw(v.lines(l, t))
}

// lines are the view, each in one row of the terminal.
func (v *watchView) lines(l *look, t *watchTotals) []string {
	width := max(20, v.app.width()-1)
	var out []string
	row := func(text string) { out = append(out, cut(report.Clean(text), width)) }
	clock := time.Unix(0, l.now).UTC().Format("15:04:05")
	if l.r == nil {
		row(clock + "  nothing is there yet")
		return out
	}
	name := l.r.ID
	if name == "" {
		name = l.r.Entries[0].Key
	}
	if l.r.Rule != "" {
		name += "  " + l.r.Rule
	}
	about := l.r.Layout.Name + ", " + l.r.Sure.String()
	if l.r.Limit != nil {
		about = l.r.Limit.String() + "  " + about
	}
	row(clock + "  " + name + "  " + about)
	bar := ""
	if part, ok := share(l.r); ok {
		const cells = 24
		full := int(part * cells)
		bar = "[" + strings.Repeat("█", full) + strings.Repeat("░", cells-full) + "]  "
	}
	row(bar + l.r.Level())
	row(strings.Join(l.ahead(), "  "))
	if since := l.since(); len(since) > 0 {
		row(fmt.Sprintf("%s in %s", strings.Join(since, "  "), l.move.Interval.Round(10*time.Millisecond)))
	}
	if t.known {
		row(sparkline(v.past[max(0, len(v.past)-width):]))
		row(fmt.Sprintf("%s in %s", admittedText(t.admitted, t.atLeast, t.counted), t.length.Round(time.Second)))
	}
	for _, e := range v.events {
		row(e)
	}
	return out
}

// cut is the first width runes of text.
func cut(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width {
		return text
	}
	return string(runes[:width-1]) + "…"
}

func (v *watchView) draw(lines []string) error {
	var b strings.Builder
	if v.drawn == 0 {
		b.WriteString(hideCursor)
	}
	// The terminal's own ^C may have moved the cursor to the right.
	b.WriteByte('\r')
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", v.drawn)
	}
	b.WriteString(clearBelow)
	for _, line := range lines {
		b.WriteString(line + "\r\n")
	}
	v.drawn = len(lines)
	_, err := v.app.stdout.Write([]byte(b.String()))
	return err
}

// end leaves the last view where it is, with the summary below.
func (v *watchView) end(t *watchTotals) error {
	text := "\r" + clearBelow + t.text() + "\r\n"
	if v.drawn > 0 {
		text += showCursor
	}
	_, err := v.app.stdout.Write([]byte(text))
	return err
}

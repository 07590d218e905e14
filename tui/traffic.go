package tui

import (
	"fmt"

	"github.com/weir-cli/weir/report"
)

// traffic draws what was admitted, refused and failed over time: the first so
// many of the three.
func (m *model) traffic(c *canvas, most int) {
	line, cursor := m.lined(c.w-labels), -1
	if t, ok := m.src.(*Tape); ok && !t.reveals {
		if at, seen := line.column(min(t.at, t.length()-1)); seen {
			cursor = at
		}
	}
	flags := m.flags(&line)
	var marks []int
	for _, f := range flags {
		marks = append(marks, f.x-labels)
	}
	bands := m.bands(&line, marks, cursor)
	bands = bands[:min(len(bands), most)]
	words, whole := placeFlags(flags, c.w, 1)
	foot := 1
	if len(flags) > 0 {
		foot++
	}
	if !whole && c.h >= twoRows {
		words, _ = placeFlags(flags, c.w, 2)
		foot++
	}
	var top float64
	for _, b := range bands {
		top = max(top, b.top())
	}
	room, y := c.h-foot, 0
	for i, b := range bands {
		h := room / (len(bands) - i)
		if i == 2 || len(bands) == 3 && i == 0 {
			h = room * 2 / 5
		}
		if i == len(bands)-1 {
			h = room
		}
		scale := b.top()
		if m.shared {
			scale = top
		}
		b.draw(c.sub(0, y, c.w, h), scale)
		y, room = y+h, room-h
	}
	line.axis(c, c.h-foot)
	drawFlags(c, c.h-foot+1, flags, words)
}

// twoRows is the height from which words of marks that are in each other's way
// have a row more.
const twoRows = 11

// bands are the charts of the traffic view, from the top down.
func (m *model) bands(line *timeline, marks []int, cursor int) []*chart {
	per := line.perName()
	last := len(line.cols) - 1
	if cursor >= 0 {
		last = cursor
	}
	// A column that the run ends in the middle of tells no rate.
	if wide := line.span / max(line.step, 1); m.instant()%line.span != 0 && m.about.Over && last >= 0 && last == len(line.cols)-1 {
		last = max(last-int(wide), 0)
	}
	var now col
	if last >= 0 {
		now = line.cols[last]
	}
	note := func(v float64) string { return brief(v) + per }
	up := &chart{name: "admitted", note: note(now.admitted), shape: solid, tone: admitted, marks: marks, cursor: cursor,
		values: line.values(func(c col) float64 { return c.admitted })}
	if p := m.about.Promise; rate(p) > 0 {
		keys := float64(max(m.snap.NKeys, 1))
		of := ""
		if keys > 1 {
			of = " × " + report.Count(int64(keys)) + " keys"
		}
		perStep := rate(p) * float64(line.per) / 1e9 * keys
		allows, _ := p.Allows(line.span)
		bound := allows * keys * float64(line.per) / float64(line.span)
		up.levels = []level{
			{"bound " + brief(bound) + per + of, bound, bounded, '─'},
			{"promise " + brief(perStep) + per + of, perStep, promised, '┄'},
		}
	}
	down := &chart{name: "refused", note: note(now.refused) + "   ⠒ offered " + note(now.offered), shape: dotted, tone: refused,
		marks: marks, cursor: cursor,
		values: line.values(func(c col) float64 { return c.refused }),
		curve:  line.values(func(c col) float64 { return c.offered })}
	bands := []*chart{up, down}
	if m.snap.Totals.Failed > 0 {
		bands = append(bands, &chart{name: "failed", note: note(now.failed), shape: hatch, tone: failed, marks: marks, cursor: cursor,
			values: line.values(func(c col) float64 { return c.failed })})
	}
	if line.span > 1e8 {
		up.note += fmt.Sprintf("   in steps of %s", lasting(line.span))
	}
	return bands
}

// lined is the part of the run that n columns show.
func (m *model) lined(n int) timeline {
	d, until, step := m.snap.Detail, m.snap.At, m.step(n)
	t, tape := m.src.(*Tape)
	switch {
	case tape && !t.reveals:
		last := t.frames[len(t.frames)-1]
		d, until = last.Detail, last.At
	case tape && t.at < t.length():
		until = t.at - t.at%step
	case tape:
		until = t.at
	case !m.about.Over:
		until -= until % step // the newest column is still being counted
	}
	line := timelineOf(d, until, n, step)
	if m.zoom == 0 {
		line.stretch(n, m.willBe(line.step))
	}
	if tape && !t.reveals {
		// What is wound to stays in sight.
		for end := until; t.at < line.from && end > 0; {
			end = line.from
			line = timelineOf(d, end, n, step)
		}
	}
	return line
}

// willBe is how many columns of step there will be in the end; 0 where nobody
// knows, or where not all of them will be in sight.
func (m *model) willBe(step int64) int {
	length := m.snap.At
	if t, ok := m.src.(*Tape); ok {
		length = t.length()
	} else if !m.about.Over {
		length = m.about.Length
	}
	return int(min((length+step-1)/step, 1<<20))
}

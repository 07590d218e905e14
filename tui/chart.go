package tui

import (
	"math"
	"slices"
)

// Admitted is drawn in solid blocks and refused in dots, so that the two differ
// without colour.
var (
	solid  = []rune(" ▁▂▃▄▅▆▇█")
	dotted = []rune(" ⣀⣤⣶⣿")
	hatch  = []rune(" ▒")
)

// labels is the width of what stands left of a chart.
const labels = 8

// level is a horizontal line across a chart.
type level struct {
	name  string
	value float64
	tone  tone
	r     rune
}

// chart is one band of columns over time with a scale of its own.
type chart struct {
	name   string
	note   string // beside the name
	values []float64
	shape  []rune
	tone   tone
	curve  []float64 // a line over the columns; nil for none
	levels []level
	marks  []int // columns that a mark stands in
	cursor int   // column under the cursor; -1 for none
}

// top is the scale that shows the chart whole, in round figures, so that it
// seldom changes while values do. A level far above everything is
// left out of it, and told in the title instead.
func (p *chart) top() float64 {
	var top float64
	for _, v := range p.values {
		top = max(top, v)
	}
	for _, v := range p.curve {
		top = max(top, v)
	}
	data := top
	for _, l := range p.levels {
		if l.value <= 2*data || data == 0 {
			top = max(top, l.value)
		}
	}
	return roundUp(top)
}

// draw fills the canvas: a title, then the columns.
func (p *chart) draw(c *canvas, top float64) {
	if c.h < 2 || c.w < labels+2 {
		return
	}
	x := c.text(0, 0, " "+p.name, style{tone: p.tone, bold: true})
	if p.note != "" {
		x = c.text(x+1, 0, p.note, style{tone: dim})
	}
	plot := c.sub(labels, 1, c.w-labels, c.h-1)
	if top <= 0 {
		top = 1
	}
	for _, l := range p.levels {
		if l.value > top {
			x = c.text(x+2, 0, l.name+" above", style{tone: l.tone})
		}
	}
	for y := range plot.h {
		c.set(labels-1, 1+y, '│', style{tone: dim})
	}
	for _, v := range ticks(top, plot.h) {
		y := 1 + plot.row(v, top)
		if v > 0 {
			c.set(labels-1, y, '┤', style{tone: dim})
		}
		c.right(labels-2, y, brief(v), style{tone: dim})
	}
	for _, col := range p.marks {
		for y := range plot.h {
			plot.set(col, y, '┊', style{tone: marked})
		}
	}
	p.bars(plot, top)
	if p.curve != nil {
		p.line(plot, top)
	}
	p.across(plot, top)
	if p.cursor >= 0 && p.cursor < plot.w {
		for y := range plot.h {
			switch at := plot.at(p.cursor, y); at.r {
			case ' ', '┄', '─', '┊':
				plot.set(p.cursor, y, '│', style{bold: true})
			default:
				at.s.reverse = at.r < braille || at.r >= braille+256
				plot.set(p.cursor, y, at.r, at.s)
			}
		}
	}
}

// bars draws the columns; a value above 0 always shows.
func (p *chart) bars(plot *canvas, top float64) {
	steps := len(p.shape) - 1
	for x, v := range p.values {
		n := int(v/top*float64(plot.h*steps) + 0.5)
		if v > 0 {
			n = max(n, 1)
		}
		for y := range plot.h {
			if part := min(max(n-(plot.h-1-y)*steps, 0), steps); part > 0 {
				plot.set(x, y, p.shape[part], style{tone: p.tone})
			}
		}
	}
}

// braille is the first of the 256 patterns; dots are the bits of the left and
// the right column of one, from the top down.
const braille = '⠀'

var dots = [2][4]rune{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}

// line draws the curve in dots, two across and four down in each cell.
func (p *chart) line(plot *canvas, top float64) {
	last := -1
	for x, v := range p.curve {
		y := plot.h*4 - 1 - int(math.Round(v/top*float64(plot.h*4-1)))
		y = min(max(y, 0), plot.h*4-1)
		from, to := y, y
		if last >= 0 {
			from, to = min(y, last), max(y, last)
		}
		for d := from; d <= to; d++ {
			p.dot(plot, x, d, 0)
		}
		p.dot(plot, x, y, 1)
		last = y
	}
}

func (p *chart) dot(plot *canvas, x, y, side int) {
	was := plot.at(x, y/4)
	bit := dots[side][y%4]
	switch {
	case was.r >= braille && was.r < braille+256:
		plot.set(x, y/4, was.r|bit, was.s)
	case slices.Contains(solid[1:], was.r):
	default:
		plot.set(x, y/4, braille|bit, style{tone: offered})
	}
}

// across draws the levels where nothing else is, with their names at the right;
// those of one row have one line and one name.
func (p *chart) across(plot *canvas, top float64) {
	type line struct {
		y    int
		name string
		tone tone
	}
	var lines []line
	for _, l := range p.levels {
		if l.value > top || l.value <= 0 {
			continue
		}
		y := plot.row(l.value, top)
		in := func(y int) int { return slices.IndexFunc(lines, func(o line) bool { return o.y == y }) }
		if in(y) >= 0 && y < plot.h-1 {
			y++
		}
		if i := in(y); i >= 0 {
			lines[i].name += ", " + l.name
			continue
		}
		lines = append(lines, line{y, l.name, l.tone})
		for x := range plot.w {
			if r := plot.at(x, y).r; r == ' ' || r == '┊' {
				plot.set(x, y, l.r, style{tone: l.tone})
			}
		}
	}
	for _, l := range lines {
		name := " " + l.name + " "
		x, st := plot.w-width(name)-1, style{tone: l.tone}
		if free(plot, x, l.y, width(name)) {
			plot.text(x, l.y, name, st)
		} else if l.y > 0 && free(plot, x, l.y-1, width(name)) {
			plot.text(x, l.y-1, name, st)
		}
	}
}

// free reports that no bar or line is where a name would go.
func free(c *canvas, x, y, n int) bool {
	if x < 0 {
		return false
	}
	for i := range n {
		switch c.at(x+i, y).r {
		case ' ', '┄', '─', '┊':
		default:
			return false
		}
	}
	return true
}

// bar is a horizontal bar of eighths of a cell, or of dots.
func bar(c *canvas, x, y, room int, part float64, shape []rune, t tone) {
	part = min(max(part, 0), 1)
	if shape[len(shape)-1] == '█' {
		eighths := int(part*float64(room)*8 + 0.5)
		if part > 0 {
			eighths = max(eighths, 1)
		}
		for i := 0; i < eighths/8; i++ {
			c.set(x+i, y, '█', style{tone: t})
		}
		if rest := eighths % 8; rest > 0 {
			c.set(x+eighths/8, y, []rune("▏▎▍▌▋▊▉")[rest-1], style{tone: t})
		}
		return
	}
	n := int(part*float64(room) + 0.5)
	if part > 0 {
		n = max(n, 1)
	}
	for i := range n {
		c.set(x+i, y, shape[len(shape)-1], style{tone: t})
	}
}

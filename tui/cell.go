package tui

import (
	"strings"
	"unicode"

	"github.com/mattn/go-runewidth"

	"github.com/weir-cli/weir/report"
)

// tone is what a colour means.
type tone uint8

const (
	plain tone = iota
	dim
	admitted
	refused
	failed
	offered
	promised
	bounded
	accent
	marked
	tones
)

// style is how a cell looks. Nothing is told by colour alone.
type style struct {
	tone    tone
	bold    bool
	reverse bool
}

// cell is one character on the screen; a wide one is followed by a cell whose
// rune is 0.
type cell struct {
	r rune
	s style
}

// canvas is a screen, or a rectangle of one: drawing outside has no effect.
type canvas struct {
	cells  []cell
	stride int
	x, y   int // of the rectangle on the screen
	w, h   int
}

func newCanvas(w, h int) *canvas {
	c := &canvas{cells: make([]cell, max(w, 0)*max(h, 0)), stride: w, w: max(w, 0), h: max(h, 0)}
	for i := range c.cells {
		c.cells[i].r = ' '
	}
	return c
}

// sub is a rectangle of the canvas, cut to fit.
func (c *canvas) sub(x, y, w, h int) *canvas {
	x, y = min(max(x, 0), c.w), min(max(y, 0), c.h)
	s := *c
	s.x, s.y, s.w, s.h = c.x+x, c.y+y, min(max(w, 0), c.w-x), min(max(h, 0), c.h-y)
	return &s
}

func (c *canvas) set(x, y int, r rune, s style) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	c.cells[(c.y+y)*c.stride+c.x+x] = cell{r, s}
}

func (c *canvas) at(x, y int) cell {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return cell{' ', style{}}
	}
	return c.cells[(c.y+y)*c.stride+c.x+x]
}

// text writes s from x on and returns where it ends. What does not fit is cut
// and marked by an ellipsis. Text from outside goes through tame first.
func (c *canvas) text(x, y int, s string, st style) int {
	room := c.w - x
	if width(s) > room {
		s = fit(s, room)
	}
	for _, r := range s {
		w := runeWidth(r)
		c.set(x, y, r, st)
		if w == 2 {
			c.set(x+1, y, 0, st)
		}
		x += w
	}
	return x
}

// right writes s so that it ends before x.
func (c *canvas) right(x, y int, s string, st style) { c.text(x-width(s), y, s, st) }

// wrap writes words in lines from y on and returns the line after the last.
func (c *canvas) wrap(x, y int, s string, st style) int {
	at := x
	for word := range strings.FieldsSeq(s) {
		w := width(word)
		if at > x && at+1+w > c.w {
			at, y = x, y+1
		} else if at > x {
			at++
		}
		at = c.text(at, y, word, st)
	}
	return y + 1
}

var widths = &runewidth.Condition{}

// runeWidth is 1 or 2: tame leaves nothing without a width.
func runeWidth(r rune) int {
	if r < 0x300 {
		return 1
	}
	return max(widths.RuneWidth(r), 1)
}

func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// fit cuts s to n columns.
func fit(s string, n int) string {
	if width(s) <= n {
		return s
	}
	if n < 1 {
		return ""
	}
	var b strings.Builder
	for _, r := range s {
		if n -= runeWidth(r); n < 1 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + "…"
}

// tame makes a name from outside harmless on a grid: report.Clean, and escapes
// for letters that run from right to left, which would turn the columns beside
// them round, and for marks that have no width of their own.
func tame(s string) string {
	s = report.Clean(s)
	if !strings.ContainsFunc(s, unruly) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unruly(r) {
			escape(&b, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// tameText is tame for whole sentences, which have no most length.
func tameText(s string) string {
	words := strings.Fields(s)
	for i, w := range words {
		words[i] = tame(w)
	}
	return strings.Join(words, " ")
}

var rightToLeft = []*unicode.RangeTable{unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko,
	unicode.Samaritan, unicode.Mandaic, unicode.Adlam, unicode.Mende_Kikakui, unicode.Hanifi_Rohingya, unicode.Yezidi}

func unruly(r rune) bool {
	if r < 0x300 {
		return false
	}
	return unicode.In(r, rightToLeft...) || unicode.Is(unicode.M, r) || widths.RuneWidth(r) == 0 ||
		r >= 0x10800 && r < 0x11000 // ancient scripts, all from right to left
}

const hexDigits = "0123456789abcdef"

func escape(b *strings.Builder, r rune) {
	b.WriteString(`\u`)
	shift := 12
	if r > 0xffff {
		b.WriteByte('{')
		shift = 20
	}
	for ; shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[r>>shift&15])
	}
	if r > 0xffff {
		b.WriteByte('}')
	}
}

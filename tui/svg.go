package tui

import (
	"fmt"
	"strings"
)

// Cells of the picture, in its units.
const (
	cellWide = 8.4
	cellHigh = 17
	ground   = "#16181d"
)

var xml = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// svg is the canvas as a picture. Bars and dots are shapes, so that they look
// the same in any font; text comes in pieces of one look, each stretched to the
// columns that it takes. No piece begins or ends with a space or has two in a
// row: browsers drop those, and would stretch what is left over their room.
func (c *canvas) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %d" font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14">`+"\n",
		float64(c.w)*cellWide, c.h*cellHigh+6)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", ground)
	for y := range c.h {
		for x := 0; x < c.w; {
			from, st := x, c.at(x, y).s
			var path strings.Builder
			letters := make([]rune, 0, c.w-x) // a column each; 0 goes on with the one before
			for x < c.w && c.at(x, y).s == st {
				r := c.at(x, y).r
				if shape(&path, float64(x)*cellWide, float64(y*cellHigh)+2, r) {
					r = ' '
				}
				letters = append(letters, r)
				x++
			}
			fill := st.tone.hex()
			if st.reverse {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n",
					float64(from)*cellWide, y*cellHigh+2, float64(x-from)*cellWide, cellHigh, fill)
				fill = ground
			}
			if path.Len() > 0 {
				fmt.Fprintf(&b, `<path d="%s" fill="%s"/>`+"\n", path.String(), fill)
			}
			weight := ""
			if st.bold {
				weight = ` font-weight="bold"`
			}
			for i := 0; i < len(letters); {
				if letters[i] == ' ' {
					i++
					continue
				}
				end := i + 1
				for end < len(letters) && (letters[end] != ' ' || end+1 < len(letters) && letters[end+1] != ' ') {
					end++
				}
				text := strings.ReplaceAll(string(letters[i:end]), "\x00", "")
				fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
					float64(from+i)*cellWide, y*cellHigh+15, float64(end-i)*cellWide, fill, weight, xml.Replace(text))
				i = end
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// shape adds what a bar or a dot pattern covers of its cell to a path; false
// for everything that is a letter.
func shape(path *strings.Builder, x, y float64, r rune) bool {
	box := func(x, y, w, h float64) { fmt.Fprintf(path, "M%.1f %.1fh%.1fv%.1fh%.1fz", x, y, w, h, -w) }
	switch {
	case r >= '▁' && r <= '█':
		h := float64(r-'▁'+1) / 8 * cellHigh
		box(x, y+cellHigh-h, cellWide, h)
	case r >= '▉' && r <= '▏':
		box(x, y, float64('▏'-r+1)/8*cellWide, cellHigh)
	case r == '▒':
		for i := range 8 {
			box(x+float64(i%2)*cellWide/2, y+float64(i)*cellHigh/8, cellWide/2, cellHigh/8)
		}
	case r > braille && r < braille+256:
		for side := range dots {
			for row, bit := range dots[side] {
				if (r-braille)&bit != 0 {
					box(x+1.1+float64(side)*cellWide/2, y+1+float64(row)*cellHigh/4, 2, 2)
				}
			}
		}
	default:
		return false
	}
	return true
}

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

// svg is the canvas as a picture: runs of one look in a line, each stretched to
// the columns that it takes, so that the grid holds in any font.
func (c *canvas) svg() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %d" font-family="ui-monospace,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" xml:space="preserve">`+"\n",
		float64(c.w)*cellWide, c.h*cellHigh+6)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="%s"/>`+"\n", ground)
	for y := range c.h {
		for x := 0; x < c.w; {
			from, st := x, c.at(x, y).s
			var text strings.Builder
			blank := true
			for x < c.w && c.at(x, y).s == st {
				if r := c.at(x, y).r; r != 0 {
					text.WriteRune(r)
					blank = blank && r == ' '
				}
				x++
			}
			if blank && !st.reverse {
				continue
			}
			fill := st.tone.hex()
			left, wide := float64(from)*cellWide, float64(x-from)*cellWide
			if st.reverse {
				fmt.Fprintf(&b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, y*cellHigh+2, wide, cellHigh, fill)
				fill = ground
			}
			weight := ""
			if st.bold {
				weight = ` font-weight="bold"`
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
				left, y*cellHigh+15, wide, fill, weight, xml.Replace(text.String()))
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

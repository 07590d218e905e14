package tui

import "github.com/weir-cli/weir/report"

// series is one histogram of several with the same bars.
type series struct {
	name  string
	bars  []report.Bar
	tone  tone
	shape []rune
}

// histogram draws rows of bars, one for each bar that is not beyond the ends,
// side by side for several series.
func histogram(c *canvas, title string, list []series, note string) {
	x := c.text(1, 0, title, style{bold: true})
	c.text(x+2, 0, note, style{tone: dim})
	from, to, top := -1, -1, int64(1)
	for _, s := range list {
		for i, b := range s.bars {
			if b.N > 0 {
				if from < 0 || i < from {
					from = i
				}
				to = max(to, i)
				top = max(top, b.N)
			}
		}
	}
	if from < 0 {
		c.text(1, 1, "Nothing here yet.", style{tone: dim})
		return
	}
	const name, figure = 9, 11
	each := (c.w - name - 1) / len(list)
	for i, s := range list {
		if s.name != "" {
			c.text(name+1+i*each, 0, s.name, style{tone: s.tone, bold: true})
		}
	}
	// Neighbours share a row where there are too few.
	rows := max(c.h-1, 1)
	per := (to - from + rows) / rows
	y := 1
	for i := from; i <= to; i += per {
		last := min(i+per-1, to)
		c.right(name-1, y, upTo(list[0].bars[last], list[0].bars, last), style{tone: dim})
		for k, s := range list {
			var n int64
			for _, b := range s.bars[i : last+1] {
				n += b.N
			}
			x := name + k*each
			bar(c, x, y, each-figure-1, float64(n)/float64(top*int64(per)), s.shape, s.tone)
			if n > 0 {
				c.right(x+each-1, y, report.Count(n), style{tone: s.tone})
			}
		}
		y++
	}
}

// barRows is how many rows there is something for.
func barRows(bars []report.Bar) int {
	from, to := 0, 0
	for i, b := range bars {
		if b.N > 0 {
			if to == 0 {
				from = i
			}
			to = i + 1
		}
	}
	return to - from
}

// upTo names a bar by its upper end.
func upTo(b report.Bar, bars []report.Bar, i int) string {
	switch {
	case b.Most == 0 && i == 0:
		return "none"
	case b.Most == 0:
		return "> " + lasting(bars[i-1].Most)
	}
	return "≤ " + lasting(b.Most)
}

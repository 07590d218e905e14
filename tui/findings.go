package tui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-cli/weir/report"
)

// findings lists what is wrong so far, the gravest first.
func (m *model) findings(c *canvas) {
	list := m.snap.Detail.Findings
	if len(list) == 0 {
		c.wrap(1, 1, "Nothing is wrong that the events so far could prove.", style{tone: dim})
		return
	}
	// Drawn on a page as long as it takes, of which the screen shows a part.
	page := newCanvas(c.w, 400)
	y := 0
	for _, f := range list {
		t := marked
		if f.Severity == report.High {
			t = refused
		}
		x := page.text(1, y, " "+string(f.Severity)+" ", style{tone: t, bold: true, reverse: true})
		x = page.text(x+1, y, f.ID, style{bold: true})
		if m.about.Kind != "result" {
			page.text(x+2, y, "seen since "+clock(f.Since), style{tone: dim})
		}
		y = page.sub(0, 0, c.w-1, page.h).wrap(3, y+1, tameText(f.Text), style{})
		if e := evidence(f.Evidence); e != "" {
			y = page.sub(0, 0, c.w-1, page.h).wrap(3, y, e, style{tone: dim})
		}
		y++
	}
	m.scroll = min(m.scroll, max(y-c.h, 0))
	for row := range c.h {
		for x := range c.w {
			at := page.at(x, row+m.scroll)
			c.set(x, row, at.r, at.s)
		}
	}
	if y-m.scroll > c.h {
		c.right(c.w-1, c.h-1, " ↓ more ", style{tone: dim, reverse: true})
	}
}

// evidence writes the figures behind a finding.
func evidence(e map[string]any) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(e)) {
		parts = append(parts, tame(fmt.Sprintf("%s=%v", k, e[k])))
	}
	return strings.Join(parts, "  ")
}

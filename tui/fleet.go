package tui

import (
	"fmt"

	"github.com/weir-cli/weir/report"
)

// chartLeast is how many rows each chart below the targets needs.
const chartLeast = 9

// fleet draws the targets side by side: each with what it let through, against
// what the whole fleet may; where there is room, what all of them admitted and refused over time below.
func (m *model) fleet(c *canvas) {
	rows := m.snap.Targets
	if len(rows) == 0 {
		c.text(1, 1, "No target has been asked yet.", style{tone: dim})
		return
	}
	name := 6
	var top int64
	for _, r := range rows {
		name = max(name, width(tame(r.Name)))
		top = max(top, r.Offered)
	}
	name = min(name, max(c.w/3, 12))
	figures := name + 3*10
	c.text(1, 0, "target", style{bold: true})
	for i, h := range []string{"admitted", "refused", "failed"} {
		c.right(1+name+(i+1)*10, 0, h, style{bold: true})
	}
	room := c.w - figures - 4
	var sum int64
	for _, r := range rows {
		sum += r.Admitted
	}
	if over := len(rows) + 3; c.h-over >= chartLeast && len(m.snap.Detail.Whole.Ticks) > 0 {
		m.traffic(c.sub(0, over, c.w, c.h-over), (c.h-over)/chartLeast)
		c = c.sub(0, 0, c.w, over-1)
	}
	most := c.h - 2
	for y, r := range rows[:min(len(rows), most)] {
		c.text(1, y+1, fit(tame(r.Name), name), style{})
		for i, n := range []struct {
			v int64
			t tone
		}{{r.Admitted, admitted}, {r.Refused, refused}, {r.Failed, failed}} {
			c.right(1+name+(i+1)*10, y+1, report.Count(n.v), style{tone: n.t})
		}
		if room < 8 || top == 0 {
			continue
		}
		// One bar of three parts, as long as what was offered.
		x := figures + 3
		ends := [3]int64{r.Admitted, r.Admitted + r.Refused, r.Admitted + r.Refused + r.Failed}
		was := 0
		for i, part := range []struct {
			r rune
			t tone
		}{{'█', admitted}, {'⣿', refused}, {'▒', failed}} {
			to := int(float64(ends[i])/float64(top)*float64(room) + 0.5)
			for at := was; at < to; at++ {
				c.set(x+at, y+1, part.r, style{tone: part.t})
			}
			was = max(was, to)
		}
	}
	targets := "1 target"
	if len(rows) != 1 {
		targets = fmt.Sprintf("%d targets", len(rows))
	}
	said := fmt.Sprintf("%s let %s through", targets, report.Count(sum))
	if b := m.snap.Bound; b != nil && b.KeysJudged == 1 {
		said += fmt.Sprintf("; one key may have %s in all", brief(b.Allows))
	}
	if len(rows) > most {
		said += fmt.Sprintf(" (%d more are not shown)", len(rows)-most)
	}
	c.text(1, c.h-1, said, style{tone: dim})
}

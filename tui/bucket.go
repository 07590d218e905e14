package tui

import (
	"fmt"

	"github.com/weir-cli/weir/report"
)

// bucket draws what callers were told about the limit of each key: how much is
// left of it, when it is fresh again, and how long the refused should wait.
func (m *model) bucket(c *canvas) {
	if k, ok := m.src.(Keeper); ok {
		if b := k.Buckets(); b != nil {
			m.kept(c, b)
			return
		}
	}
	var rows []report.KeyLine
	for _, k := range m.table.rows(m.snap.Detail.Keys) {
		if k.Told.At > 0 || k.Told.RefusedAt > 0 {
			rows = append(rows, k)
		}
	}
	if len(rows) == 0 {
		c.wrap(2, 1, "No answer so far has said anything about a limit, neither how much is left nor how long to wait.", style{tone: dim})
		return
	}
	name := 4
	for _, k := range rows {
		name = max(name, width(tame(k.Key)))
	}
	name = min(name, max(c.w/4, 12))
	gauge := c.w - name - 5 - toldEnds[len(toldEnds)-1]
	x := 1 + name + 2
	c.text(1, 0, "key", style{bold: true})
	for i, h := range []string{"left", "fresh in", "told to wait", "said"} {
		c.right(x+gauge+toldEnds[i], 0, h, style{bold: true})
	}
	room := c.h - 2
	from := min(m.table.from, max(len(rows)-room, 0))
	for y, k := range rows[from:min(from+room, len(rows))] {
		m.told(c, y+1, name, gauge, k)
	}
	c.text(1, c.h-1, "What stood in the answers; the limiter's own state is on its server.", style{tone: dim})
}

// toldEnds is where the columns right of the gauge end.
var toldEnds = [...]int{11, 21, 35, 46}

// told draws one row.
func (m *model) told(c *canvas, y, name, gauge int, k report.KeyLine) {
	t, x := k.Told, 1+name+2
	c.text(1, y, fit(tame(k.Key), name), style{})
	col := func(i int, text string, tone tone) { c.right(x+gauge+toldEnds[i], y, text, style{tone: tone}) }
	if t.Remaining >= 0 {
		left := brief(float64(t.Remaining))
		if t.Limit > 0 {
			left = fmt.Sprintf("%s of %s", left, brief(float64(t.Limit)))
			for i := range gauge {
				c.set(x+i, y, '·', style{tone: dim})
			}
			bar(c, x, y, gauge, share(t.Remaining, t.Limit), solid, admitted)
		}
		col(0, left, admitted)
	}
	if t.Reset >= 0 && t.At > 0 {
		col(1, seconds(t.Reset), plain)
	}
	if t.RefusedAt > 0 && t.RetryAfter >= 0 {
		col(2, seconds(t.RetryAfter), refused)
	}
	col(3, seconds(max(m.snap.At-max(t.At, t.RefusedAt), 0))+" ago", dim)
}

// seconds writes a wait in seconds.
func seconds(ns int64) string { return fmt.Sprintf("%.1f s", float64(ns)/1e9) }

package tui

import "github.com/weir-cli/weir/report"

// latency draws how long answers took, counted from when attempts were due and
// from when they left.
func (m *model) latency(c *canvas) {
	l := m.snap.Latency
	heads := []string{"p50", "p90", "p99", "p99.9", "max", "mean", "count"}
	const name, w = 16, 9
	c.text(1, 0, "latency, ms", style{bold: true})
	for i, h := range heads {
		c.right(name+(i+1)*w, 0, h, style{bold: true})
	}
	y := 1
	for _, row := range []struct {
		name string
		q    report.Quantiles
		tone tone
	}{{"from due", l.FromDue, plain}, {"from sent", l.FromSent, plain}, {"admitted", l.Admitted, admitted},
		{"refused", l.Refused, refused}, {"failed", l.Failed, failed}} {
		if row.q.Count == 0 {
			continue
		}
		c.text(1, y, row.name, style{tone: row.tone})
		for i, v := range []float64{row.q.P50, row.q.P90, row.q.P99, row.q.P999, row.q.Max, row.q.Mean} {
			c.right(name+(i+1)*w, y, millis(v), style{tone: row.tone})
		}
		c.right(name+len(heads)*w, y, brief(float64(row.q.Count)), style{tone: dim})
		y++
	}
	if y == 1 {
		c.text(1, 1, "No answer has been timed.", style{tone: dim})
		return
	}
	if q := m.snap.Sender.LateMS; q.Count > 0 {
		c.text(1, y, "sent late by", style{tone: dim})
		for i, v := range []float64{q.P50, q.P90, q.P99, q.P999, q.Max, q.Mean} {
			c.right(name+(i+1)*w, y, millis(v), style{tone: dim})
		}
		y++
	}
	d := m.snap.Detail
	if len(d.AdmittedIn) == 0 {
		c.text(1, y+1, "Only events tell how they are spread.", style{tone: dim})
		return
	}
	histogram(c.sub(0, y+1, c.w, c.h-y-1), "", []series{
		{"admitted, from due", d.AdmittedIn, admitted, solid},
		{"refused, from due", d.RefusedIn, refused, dotted}}, "")
}

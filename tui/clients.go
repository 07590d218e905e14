package tui

import (
	"fmt"
	"slices"

	"github.com/weir-cli/weir/report"
)

// clients draws who waits and sends, how long they wait, and who comes back
// when: a herd is a spike.
func (m *model) clients(c *canvas) {
	d, x := m.snap.Detail, 1
	for _, f := range []struct {
		name string
		n    int64
		tone tone
	}{{"waiting", d.Waiting, marked}, {"sending", m.about.Sending, offered}, {"given up", m.snap.Totals.Abandoned, refused}} {
		text := "unknown"
		if f.n >= 0 {
			text = report.Count(f.n)
		}
		x = c.text(x, 0, f.name, style{tone: dim})
		x = c.text(x+1, 0, text, style{tone: f.tone, bold: true}) + 3
	}
	if n := m.snap.Fairness.Clients; n > 0 {
		x = c.text(x, 0, "of", style{tone: dim})
		x = c.text(x+1, 0, report.Count(n)+" clients", style{}) + 3
	}
	if f := m.snap.Fairness; f.Clients > 1 {
		c.text(x, 0, fmt.Sprintf("Jain %.3f", f.Jain), style{tone: dim})
	}
	if b, ok := m.src.(Behaver); ok {
		x = c.text(1, 1, "after a refusal", style{tone: dim})
		x = c.text(x+1, 1, tame(b.Behaviour()), style{tone: accent, bold: true})
		m.change.draw(c, x+3, 1)
	}
	spikes := max((c.h-2)*3/5, c.h-4-barRows(d.Waits), 6)
	m.returns(c.sub(0, 2, c.w, spikes))
	if len(d.Waits) == 0 {
		c.text(1, 3+spikes, "Only events tell how long they waited.", style{tone: dim})
		return
	}
	histogram(c.sub(0, 2+spikes, c.w, c.h-2-spikes), "waits before a retry",
		[]series{{"", d.Waits, marked, solid}}, report.Count(total(d.Waits))+" retries")
}

func total(bars []report.Bar) (n int64) {
	for _, b := range bars {
		n += b.N
	}
	return n
}

// binWidths are what a column of returns may stand for, in bins of 10 ms.
var binWidths = []int64{1, 2, 5, 10}

// wider puts n bins into one, counting from the run's start, so that a bin does
// not change its column as time goes by. In the first and the last of them may
// be less.
func wider(b report.Bins, n int64) report.Bins {
	if n <= 1 || len(b.Counts) == 0 {
		return b
	}
	first := b.From / report.BinNS
	out := report.Bins{From: first / n * n * report.BinNS, Counts: make([]uint32, (first+int64(len(b.Counts))-1)/n-first/n+1)}
	for i, v := range b.Counts {
		out.Counts[(first+int64(i))/n-first/n] += v
	}
	return out
}

// returns draws retries per 10 ms, or what it is zoomed to: those that came, and
// dotted, right of now, those that are announced.
func (m *model) returns(c *canvas) {
	d := m.snap.Detail
	n := c.w - labels
	bins := binWidths[m.bins]
	if m.about.Kind == "result" {
		bins = 1
	}
	bin := bins * report.BinNS
	past, ahead := wider(d.Returns, bins), wider(d.Ahead, bins)
	if len(past.Counts) == 0 && len(ahead.Counts) == 0 {
		c.text(1, 0, "returns", style{bold: true})
		c.text(1, 1, "Nobody has come back yet.", style{tone: dim})
		return
	}
	room := n * 3 / 4
	if total := len(ahead.Counts); total == 0 {
		room = n
	}
	shown := past.Counts[max(len(past.Counts)-room, 0):]
	if m.about.Kind == "result" {
		shown = around(past.Counts, n)
	}
	values := make([]float64, 0, n)
	for _, v := range shown {
		values = append(values, float64(v))
	}
	now := len(values)
	next := ahead.Counts
	if skip := (past.From + int64(len(past.Counts))*bin - ahead.From) / bin; skip > 0 {
		next = next[min(skip, int64(len(next))):]
	}
	for _, v := range next[:min(len(next), n-now)] {
		values = append(values, float64(v))
	}
	// The scale is that of all that is kept, not of what is in sight: a herd that
	// has just dissolved is to look lower than it was.
	h, of := m.snap.Herd, ""
	top := 1.0
	for _, v := range append(past.Counts[:len(past.Counts):len(past.Counts)], next...) {
		top = max(top, float64(v))
	}
	top = roundUp(top)
	if bins > 1 {
		of = " in 10 ms"
	}
	later := chart{shape: dotted, tone: dim, values: slices.Clone(values)}
	clear(later.values[:now])
	plot := c.sub(labels, 1, n, c.h-2)
	later.bars(plot, top)
	p := &chart{name: fmt.Sprintf("returns per %d ms", bin/1e6), shape: solid, tone: marked, cursor: -1, values: values[:now]}
	if h.OverMean > 0 { // an act of a tour begins to count anew, and later
		p.note = fmt.Sprintf("most%s %s at %s, %s times the mean", of, report.Count(h.Peak10ms), clock(int64(h.AtS*1e9)), brief(h.OverMean))
		if mean := float64(h.Peak10ms) / h.OverMean * float64(bins); plot.row(mean, top) < plot.h-1 {
			p.levels = []level{{"mean", mean, promised, '┄'}}
		}
	}
	p.draw(c.sub(0, 0, c.w, c.h-1), top)
	y := c.h - 1
	for x := labels - 1; x < c.w; x++ {
		c.set(x, y, '─', style{tone: dim})
	}
	edge := past.From + int64(len(past.Counts))*bin
	if m.about.Kind == "result" {
		c.text(labels, y, " around the highest ", style{tone: dim})
		return
	}
	c.text(labels, y, " "+clock(edge-int64(now)*bin)+" ", style{tone: dim})
	if now < n {
		for i := range plot.h {
			if plot.at(now, i).r == ' ' {
				plot.set(now, i, '┊', style{tone: dim})
			}
		}
		c.text(labels+now, y, "┴ now "+clock(edge), style{tone: dim})
	}
}

// around is the part of n bins with the highest in its middle.
func around(bins []uint32, n int) []uint32 {
	if len(bins) <= n {
		return bins
	}
	peak := slices.Index(bins, slices.Max(bins))
	from := min(max(peak-n/2, 0), len(bins)-n)
	return bins[from : from+n]
}

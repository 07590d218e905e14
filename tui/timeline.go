package tui

import (
	"sort"

	"github.com/weir-cli/weir/report"
)

// steps are what a column may stand for, in nanoseconds.
var steps = []int64{1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 15e9, 60e9, 300e9, 900e9, 3600e9, 3 * 3600e9, 24 * 3600e9}

// timeline is the part of a run that columns show.
type timeline struct {
	from, step int64
	cols       []col
	per        int64 // what the values are counted per: 100 ms or a second
	span       int64 // what was counted together; step is a part of it when columns are stretched
}

// col holds the counts of one column, normed to the timeline's per.
type col struct{ offered, admitted, refused, failed float64 }

// stepFor is the first step from least on in which a run of that length fits
// into n columns.
func stepFor(length int64, n int, least int64) int64 {
	i := sort.Search(len(steps), func(i int) bool {
		return steps[i] >= least && (length+steps[i]-1)/steps[i] <= int64(max(n, 1))
	})
	return steps[min(i, len(steps)-1)]
}

// timelineOf lays the run before until out over n columns of step; the newest
// is at the right once they no longer all fit.
func timelineOf(d *report.Detail, until int64, n int, step int64) timeline {
	t := timeline{step: step, span: step, per: 1e9}
	if n < 1 {
		return t
	}
	end := (until + step - 1) / step
	t.from = max(end-int64(n), 0) * step
	trail := d.Fine
	// The fine one is exact, but may not reach back far enough.
	if trail.Step == 0 || trail.Step > step || t.from < trail.From || len(trail.Ticks) == 0 {
		trail = d.Whole
	}
	if wider := stepFor(trail.Step, 1, trail.Step); trail.Step > step && wider > step {
		return timelineOf(d, until, n, wider)
	}
	if step == 1e8 {
		t.per = 1e8
	}
	t.cols = make([]col, min(max(end-t.from/step, 0), int64(n)))
	if trail.Step == 0 {
		return t
	}
	norm := float64(t.per) / float64(step)
	for i, tick := range trail.Ticks {
		at := trail.From + int64(i)*trail.Step
		t.spread(at, at+trail.Step, tick, norm)
	}
	return t
}

// stretch makes the columns wider so that as many of them as there will be fill
// n; all come in equal widths where that leaves little room over. Where it is not
// known how many there will be, 0, they stay.
func (t *timeline) stretch(n, willBe int) {
	if willBe < 1 || len(t.cols) == 0 {
		return
	}
	if willBe = max(willBe, len(t.cols)); willBe >= n {
		return
	}
	wide := n
	if even := n / willBe * willBe; even*5 >= n*4 {
		wide = even
	}
	cols := make([]col, 0, wide)
	for x := range wide {
		if i := x * willBe / wide; i < len(t.cols) {
			cols = append(cols, t.cols[i])
		}
	}
	t.cols, t.step = cols, max(t.step*int64(willBe)/int64(wide), 1)
}

// spread shares a tick out over the columns that it touches.
func (t *timeline) spread(from, to int64, tick report.Tick, norm float64) {
	if to <= t.from {
		return
	}
	for i := max((from-t.from)/t.step, 0); i < int64(len(t.cols)); i++ {
		left := t.from + i*t.step
		over := min(to, left+t.step) - max(from, left)
		if over <= 0 {
			break
		}
		part := norm * float64(over) / float64(to-from)
		c := &t.cols[i]
		c.offered += part * float64(tick.Offered)
		c.admitted += part * float64(tick.Admitted)
		c.refused += part * float64(tick.Refused)
		c.failed += part * float64(tick.Failed)
	}
}

// column is where an instant is, and whether it is in sight.
func (t *timeline) column(at int64) (int, bool) {
	i := (at - t.from) / t.step
	return int(i), at >= t.from && i < int64(len(t.cols))
}

func (t *timeline) values(f func(col) float64) []float64 {
	out := make([]float64, len(t.cols))
	for i, c := range t.cols {
		out[i] = f(c)
	}
	return out
}

// perName is the unit of the values.
func (t *timeline) perName() string {
	if t.per == 1e9 {
		return "/s"
	}
	return "/100ms"
}

// axis writes the times below the columns.
func (t *timeline) axis(c *canvas, y int) {
	if len(t.cols) == 0 {
		return
	}
	c.set(labels-1, y, '└', style{tone: dim})
	for x := labels; x < c.w; x++ {
		c.set(x, y, '─', style{tone: dim})
	}
	const gap = 12
	major := round(t.step * gap)
	last := -gap
	for x := 0; x < c.w-labels; x++ {
		at := t.from + int64(x)*t.step
		if x-last < gap || at/major == (at-t.step)/major && at > 0 {
			continue
		}
		name := clock(at / major * major)
		if labels+x+1+len(name) > c.w {
			break
		}
		c.set(labels+x, y, '┴', style{tone: dim})
		c.text(labels+x+1, y, name, style{tone: dim})
		last = x
	}
}

// round is the next longer time worth a label.
func round(ns int64) int64 {
	for _, r := range []int64{1e9, 2e9, 5e9, 10e9, 20e9, 60e9, 120e9, 300e9, 600e9, 1800e9, 3600e9, 3 * 3600e9, 6 * 3600e9, 24 * 3600e9} {
		if r >= ns {
			return r
		}
	}
	return ns
}

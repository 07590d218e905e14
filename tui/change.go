package tui

import (
	"slices"

	"github.com/weir-cli/weir/report"
)

// change is the last one of what the clients of a live run do, and how high
// returns were before it and are since. The zero value is no change yet.
type change struct {
	behaviour string // the present one; "" before the first look
	changed   bool
	before    uint32 // returns in the busiest 10 ms that were kept then, or since the change before
	// settled is when the last wait is over that had begun before; what comes
	// back until then still goes by the old behaviour.
	settled int64
	since   uint32 // returns in the busiest 10 ms that began after it
	counted int64  // bins before this one are in since
	ended   bool   // some bins are
}

// seen takes a newer look at a source.
func (g change) seen(src Source, s *report.Snapshot) change {
	b, ok := src.(Behaver)
	if !ok {
		return g
	}
	d := s.Detail
	if now := b.Behaviour(); now != g.behaviour {
		was := g
		g = change{behaviour: now}
		if was.behaviour == "" {
			return g
		}
		g.changed, g.before = true, highest(d.Returns.Counts)
		if was.ended { // what is in sight may be older than the change before this one
			g.before = was.since
		}
		g.settled = s.At
		for i, n := range d.Ahead.Counts {
			if n > 0 {
				g.settled = max(g.settled, d.Ahead.From+int64(i+1)*report.BinNS)
			}
		}
		g.counted = g.settled
		return g
	}
	if g.changed {
		// The newest bin may still be filling; it is looked at again.
		first := (max(g.counted, g.settled) - d.Returns.From + report.BinNS - 1) / report.BinNS
		if fresh := d.Returns.Counts[min(max(first, 0), int64(len(d.Returns.Counts))):]; len(fresh) > 0 {
			g.since, g.ended = max(g.since, highest(fresh)), true
			g.counted = d.Returns.From + int64(len(d.Returns.Counts)-1)*report.BinNS
		}
	}
	return g
}

func highest(bins []uint32) uint32 {
	if len(bins) == 0 {
		return 0
	}
	return slices.Max(bins)
}

// draw says what the change came to, in the longest form that there is room for.
func (g *change) draw(c *canvas, x, y int) {
	if !g.changed || g.before == 0 {
		return
	}
	said, end := report.Count(int64(g.before))+" before", ", waits end "+clock(g.settled)
	if g.ended {
		said, end = said+", "+report.Count(int64(g.since))+" since", ""
		if g.since > 0 && g.before > g.since {
			end = " ÷ " + brief(float64(g.before)/float64(g.since))
		}
	}
	for _, text := range []string{"busiest 10 ms " + said + end, "busiest 10 ms " + said, "in 10 ms " + said} {
		if x+width(text) < c.w {
			c.text(x, y, text, style{bold: g.ended})
			return
		}
	}
}

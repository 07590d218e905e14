package main

import (
	"fmt"
	"strings"

	"github.com/weir-cli/weir/report"
)

// playedAct is one act of a tour: what was sent from its beginning to the next
// one's, measured and judged by itself.
type playedAct struct {
	scene  *scene
	number int   // from 1, in the tour
	begin  int64 // ns of the run
	from   int64 // where its figures begin
	to     int64 // where it ends; 0 while it goes on

	collector *report.Collector
	shard     *report.Shard
	done      bool     // no event counts any more
	said      string   // what it came to, once done
	touched   []string // what a person changed
}

// actSettles is how long after its end an act's last answers are waited for.
const actSettles = int64(400e6)

// take counts an event that was sent in the act, by the act's own time.
func (p *playedAct) take(e report.Event) {
	if p.done {
		return
	}
	e.Due = max(e.Due-p.from, 0)
	for _, t := range []*int64{&e.Sent, &e.First, &e.Done} {
		if *t != 0 {
			*t = max(*t-p.from, 1)
		}
	}
	p.shard.Record(&e)
}

// finish makes its figures final and puts them into sentences. before are
// those of the acts before it in its run.
func (p *playedAct) finish(end int64, before []figures) {
	p.done = true
	if p.to == 0 {
		p.to = end
	}
	p.collector.Finish(report.Meta{Source: "load", Duration: p.to - p.from})
	p.said = p.tells(before)
}

// figures are the act's so far.
func (p *playedAct) figures() figures {
	return figures{Snapshot: p.collector.Latest(), seconds: float64(p.to-p.from) / 1e9}
}

// tells is what the act came to, in sentences.
func (p *playedAct) tells(before []figures) string {
	f := p.figures()
	if f.Totals.Offered == 0 {
		return fmt.Sprintf("Act %d was skipped before anything was measured.", p.number)
	}
	text := p.scene.tell(&f, before)
	if len(p.touched) > 0 {
		text += " (Changed by hand meanwhile: " + strings.Join(p.touched, ", ") + ".)"
	}
	if f.Sender.Trust != report.Good {
		text += " (The sender ran late.)"
	}
	return text
}

// figures are an act's.
type figures struct {
	*report.Snapshot
	seconds float64
}

// result is the act as a tour's result has it.
func (p *playedAct) result() report.Act {
	f := p.figures()
	return report.Act{Title: p.scene.title, FromS: float64(p.from/1e6) / 1e3, ToS: float64(p.to/1e6) / 1e3,
		Verdict: f.Verdict, Bound: f.Bound, Totals: f.Totals, Herd: f.Herd, Measured: p.said}
}

// perSecond is a count as a rate.
func (f *figures) perSecond(n int64) string {
	return report.Count(int64(float64(n)/max(f.seconds, 0.001) + 0.5))
}

// ofPromise is what was admitted on the worst key of what its promise allows.
func (f *figures) ofPromise() float64 {
	if f.Bound == nil || f.Bound.Allows == 0 {
		return 0
	}
	return float64(f.Bound.Admitted) / f.Bound.Allows
}

// promise says what passed and whether that was what was promised.
func (f *figures) promise() string {
	b := f.Bound
	if b == nil {
		return "nothing was judged"
	}
	text := fmt.Sprintf("%s passed where %s may", report.Count(b.Admitted), report.Count(int64(b.Allows)))
	if f.Verdict == report.Broken {
		return text + ": the promise is broken, " + brokenBy(b)
	}
	return text + ": the promise held"
}

// brokenBy says how far a promise was broken: in times where it is a multiple.
func brokenBy(b *report.Bound) string {
	if b.Ratio < 1.1 {
		return fmt.Sprintf("by %.1f", b.WorstExcess)
	}
	return fmt.Sprintf("%.1f times over", b.Ratio)
}

// refusalsEach is how many were refused for each that was admitted.
func (f *figures) refusalsEach() float64 {
	return float64(f.Totals.Refused) / float64(max(f.Totals.Admitted, 1))
}

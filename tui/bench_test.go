package tui

import (
	"fmt"
	"testing"

	"github.com/weir-cli/weir/report"
)

// perSecond is the pace that the dashboard must keep up with.
const perSecond = 100_000

// feed records events at that pace into a shard, n of them from at on.
func feed(s *report.Shard, at int64, n int) int64 {
	for i := range n {
		e := report.Event{Due: at, Sent: at + 1000, First: at + 2e6, Done: at + 2e6, Wait: -1, Key: uint32(i % 200),
			Client: uint32(i % 5000), Attempt: 1, Cost: 1, Verdict: report.Admitted, Status: 200, Has: report.HasFirst}
		if i%3 != 0 {
			e.Verdict, e.Status, e.Wait, e.Attempt = report.Refused, 429, 1e9, 2
		}
		s.Record(&e)
		at += 1e9 / perSecond
	}
	s.Advance(at)
	return at
}

// BenchmarkTenth is a tenth of a second of a run at 100,000 events a second:
// what merging costs, without a dashboard and with what it needs, and drawing.
// A tenth of 8% of a core is 8 ms.
func BenchmarkTenth(b *testing.B) {
	promise := &report.Promise{Text: "100/s,burst=100", Units: 100, Per: 1e9, Burst: 100}
	merge := func(detail bool) func(*testing.B) {
		return func(b *testing.B) {
			c := report.NewCollector(report.Setup{Promise: promise, Detail: detail})
			s, at := c.Shard(), int64(0)
			for b.Loop() {
				b.StopTimer()
				at = feed(s, at, perSecond/10)
				b.StartTimer()
				c.Merge(at)
			}
		}
	}
	b.Run("merge", merge(false))
	b.Run("merge with detail", merge(true))
	for _, size := range [][2]int{{80, 24}, {160, 45}, {400, 100}} {
		for _, v := range []View{Traffic, Keys, Clients} {
			b.Run(fmt.Sprintf("draw %s %dx%d", v, size[0], size[1]), func(b *testing.B) {
				c := report.NewCollector(report.Setup{Promise: promise, Detail: true})
				s := c.Shard()
				for i := range 300 {
					c.Merge(feed(s, int64(i)*1e8, perSecond/10))
				}
				st := newStub()
				st.snap, st.about.Promise = c.Latest(), promise
				m := newModel(st, Options{View: v, Colors: TrueColor})
				m.w, m.h = size[0], size[1]
				for b.Loop() {
					m = m.look()
					_ = m.View()
				}
			})
		}
	}
}

package replay

import (
	"context"
	"io"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
)

// Generated is how a trace is made of a plan: its clients run in virtual time
// against a limiter that keeps Limit, and what they send is the trace, retries
// included. What was admitted is not in it.
type Generated struct {
	Plan   *load.Plan
	Limit  limit.Spec
	Answer time.Duration // how long an answer takes; above 0
}

// generated reads the events of a simulated run as they come. The run goes on
// in a goroutine of its own, a few batches ahead.
type generated struct {
	batches chan []report.Event
	failed  error // once batches is closed
	now     []report.Event
	s       saved
}

// batchEvents is how many events come at a time.
const batchEvents = 1024

// Generate starts such a trace. Its times are those of the plan, from its
// start on. Close it when it is not read to its end.
func Generate(ctx context.Context, g Generated) *Source {
	ctx, cancel := context.WithCancel(ctx)
	f := &generated{batches: make(chan []report.Event, 4), s: saved{start: g.Plan.Start, names: report.Names{Key: g.Plan.KeyLabel}}}
	go f.run(ctx, g)
	s := &Source{f: f, in: &instants{known: true, relative: g.Plan.Start == 0}, close: func() {
		cancel()
		for range f.batches { // until the run has ended
		}
	}}
	s.seen.Format = "profile"
	return s
}

func (f *generated) run(ctx context.Context, g Generated) {
	defer close(f.batches)
	var batch []report.Event
	hand := func() {
		select {
		case f.batches <- batch:
		case <-ctx.Done():
		}
		batch = make([]report.Event, 0, batchEvents)
	}
	_, f.failed = sim.Predict(ctx, sim.Prediction{Plan: g.Plan, Limit: g.Limit, Answer: g.Answer, Tap: func(e *report.Event) {
		if batch = append(batch, *e); len(batch) >= batchEvents {
			hand()
		}
	}})
	hand()
}

func (f *generated) next(c *Call) error {
	for len(f.now) == 0 {
		batch, more := <-f.batches
		switch {
		case !more && f.failed != nil:
			return &readError{f.failed}
		case !more:
			return io.EOF
		}
		f.now = batch
	}
	err := f.s.fill(c, &f.now[0])
	f.now = f.now[1:]
	c.Recorded = report.InFlight
	return err
}

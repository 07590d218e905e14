package replay

import (
	"context"
	"io"
	"iter"
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

// generated reads the events of a simulated run as they come.
type generated struct {
	pull func() (report.Event, error, bool)
	s    saved
}

// Generate starts such a trace. Its times are those of the plan, from its
// start on. Close it when it is not read to its end.
func Generate(ctx context.Context, g Generated) *Source {
	ctx, cancel := context.WithCancel(ctx)
	run := func(yield func(report.Event, error) bool) {
		going := true
		_, err := sim.Predict(ctx, sim.Prediction{Plan: g.Plan, Limit: g.Limit, Answer: g.Answer,
			Tap: func(e *report.Event) {
				if going = going && yield(*e, nil); !going {
					cancel()
				}
			}})
		if err != nil && going {
			yield(report.Event{}, err)
		}
	}
	pull, stop := iter.Pull2(iter.Seq2[report.Event, error](run))
	f := &generated{pull: pull, s: saved{start: g.Plan.Start, names: report.Names{Key: g.Plan.KeyLabel}}}
	s := &Source{f: f, in: &instants{known: true, relative: g.Plan.Start == 0},
		close: func() { cancel(); stop() }}
	s.seen.Format = "profile"
	return s
}

func (g *generated) next(c *Call) error {
	e, err, ok := g.pull()
	switch {
	case !ok:
		return io.EOF
	case err != nil:
		return &readError{err}
	}
	err = g.s.fill(c, &e)
	c.Recorded = report.InFlight
	return err
}

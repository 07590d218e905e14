package load

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/report"
)

// Clock is the run's clock: nanoseconds since its start, never stepping back.
type Clock func() int64

// StartClock returns a clock that reads 0 at start.
func StartClock(start time.Time) Clock {
	return func() int64 { return int64(time.Since(start)) }
}

// Config is what an engine needs beside its plan.
type Config struct {
	Plan *Plan
	Seed int64
	// Senders and Shards have one entry per loop; client i belongs to loop
	// i mod len(Senders).
	Senders []Sender
	Shards  []*report.Shard
	Clock   Clock
	Targets int
	Spread  Spread
	Limits  Limits
	// MaxAttempts bounds the attempts of the whole run; 0 is no bound.
	MaxAttempts int64
	// DropAfter is how late an open-loop attempt may leave before it counts
	// as dropped.
	DropAfter time.Duration
	// Grace is how long answers are waited for after the last send.
	Grace time.Duration
}

// Engine runs a plan on the real clock. Stop and Cut may be called from any
// goroutine.
type Engine struct {
	cfg     Config
	stopped atomic.Bool // no new attempts
	cut     atomic.Bool // leave at once
	offered atomic.Int64
	loops   []*loop
	behave  []Behaviour // per population
	limits  []Limits
	steer   steer
}

// New checks a configuration.
func New(cfg Config) (*Engine, error) {
	switch {
	case len(cfg.Senders) == 0 || len(cfg.Senders) != len(cfg.Shards):
		return nil, fmt.Errorf("%d senders and %d shards", len(cfg.Senders), len(cfg.Shards))
	case cfg.Targets < 1:
		return nil, fmt.Errorf("no target")
	case cfg.Clock == nil:
		return nil, fmt.Errorf("no clock")
	}
	e := &Engine{cfg: cfg}
	for i := range cfg.Plan.Populations {
		p := &cfg.Plan.Populations[i]
		b, err := ParseBehaviour(p.Behaviour)
		if err != nil {
			return nil, fmt.Errorf("population %q: %w", p.Name, err)
		}
		lim := cfg.Limits
		if p.MaxAttempts > 0 {
			lim.MaxAttempts = p.MaxAttempts
		}
		e.behave, e.limits = append(e.behave, b), append(e.limits, lim)
	}
	for i := range cfg.Senders {
		e.loops = append(e.loops, newLoop(e, i))
	}
	return e, nil
}

// Stop ends sending; what is in flight is still waited for.
func (e *Engine) Stop() { e.stopped.Store(true) }

// Cut ends the run at once; what is in flight is recorded as such.
func (e *Engine) Cut() {
	e.stopped.Store(true)
	e.cut.Store(true)
}

// Run drives every loop to its end. A panic in a loop becomes its error, and
// stops the others.
func (e *Engine) Run() error {
	var wg sync.WaitGroup
	errs := make([]error, len(e.loops))
	for i, l := range e.loops {
		wg.Go(func() {
			defer func() {
				if p := recover(); p != nil {
					errs[i] = fmt.Errorf("engine loop %d: %v\n%s", i, p, debug.Stack())
					e.Cut()
				}
			}()
			l.run()
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// claim takes one attempt from the run's budget.
func (e *Engine) claim() bool {
	if e.cfg.MaxAttempts <= 0 {
		return true
	}
	if e.offered.Add(1) <= e.cfg.MaxAttempts {
		return true
	}
	e.stopped.Store(true)
	return false
}

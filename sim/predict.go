package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// Prediction is what a run is simulated against: a limiter that keeps the
// limit for every key, wherever a request arrives, and answers after a time.
type Prediction struct {
	Plan   *load.Plan
	Limit  limit.Spec
	Limits load.Limits
	// Answer is how long an answer takes.
	Answer time.Duration
	// Connections and MaxAttempts bound the run as they bound the real one;
	// 0 is no bound.
	Connections int
	MaxAttempts int64
	DropAfter   time.Duration
	// Tap, when set, sees every event in order. It must not keep the pointer.
	Tap func(*report.Event)
}

// Predict runs the plan through the engine that ships, in virtual time. The
// result's source is "sim". It ends early, with what there is, when ctx does.
func Predict(ctx context.Context, p Prediction) (*report.Result, error) {
	limiter, err := p.Limit.New()
	if err != nil {
		return nil, err
	}
	w := &wire{start: p.Plan.Start, answerIn: int64(p.Answer), room: p.Connections, store: limit.NewStore(limiter, limit.StoreOptions{})}
	c := report.NewCollector(report.Setup{Tap: p.Tap, Names: report.Names{Key: p.Plan.KeyLabel,
		Population: func(i uint16) string { return p.Plan.Populations[i].Name }}})
	e, err := load.New(load.Config{Plan: p.Plan, Seed: p.Plan.Seed, Senders: []load.Sender{w}, Shards: []*report.Shard{c.Shard()},
		Clock: w.clock, Targets: 1, Limits: p.Limits, MaxAttempts: p.MaxAttempts, DropAfter: p.DropAfter,
		Grace: p.Answer + time.Minute})
	if err != nil {
		return nil, err
	}
	w.tick = func() {
		c.Merge(w.now)
		if ctx.Err() != nil {
			e.Cut()
		}
	}
	if err := e.Run(); err != nil {
		return nil, fmt.Errorf("simulated engine: %w", err)
	}
	return c.Finish(report.Meta{Source: "sim", Name: p.Plan.Name, Seed: p.Plan.Seed,
		Duration: int64(p.Plan.Duration), Interrupted: ctx.Err() != nil}), nil
}

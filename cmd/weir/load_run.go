package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime/debug"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// mergeEvery is how often what was recorded is merged and shown.
const mergeEvery = 100 * time.Millisecond

// drainMargin is how much longer than the timeout the last answers are waited
// for, so that what times out is counted as that and not as in flight.
const drainMargin = 200 * time.Millisecond

// loadRun is one run of the engine against HTTP targets.
type loadRun struct {
	app       *app
	name      string
	profile   *profiles.Profile
	plan      *load.Plan
	promise   *report.Promise
	spec      limit.Spec // what promise was made from
	http      httpdo.Config
	seed      int64
	threads   int
	spread    load.Spread
	limits    load.Limits
	attempts  int64
	dropAfter time.Duration
	checks    []report.CheckExpr
	repeat    string
	names     []string // of the targets, when they are not their hosts
	start     time.Time
	texts     report.Texts
	events    io.Writer // --events, or nil
	progress  *progress // nil shows none
	tui       bool
	stage     *stage       // of a tour; nil for a run by itself
	kept      *watchedKeys // of --redis, or nil
	console   *console
	alone     alone // whether anybody listens
}

// compile fixes the plan, for a run that starts a moment after now.
func (r *loadRun) compile(now time.Time) error {
	began := time.Now()
	opt := load.Options{Seed: r.seed, ReadFile: readInput}
	plan, err := load.Compile(r.profile, opt)
	if err != nil {
		return inputError(err)
	}
	// What follows takes about as long again for a plan that is long in the
	// making, such as one with millions of keys from a file.
	r.start = now.Add(startDelay(plan) + 3*time.Since(began))
	opt.Start = r.start.UnixNano()
	if r.plan, err = load.Compile(r.profile, opt); err != nil {
		return inputError(err)
	}
	return nil
}

// eventNames resolves the numbers in this run's events.
func (r *loadRun) eventNames() report.Names {
	return report.Names{
		Key: r.plan.KeyLabel,
		Target: func(i uint16) string {
			if int(i) < len(r.names) {
				return r.names[i]
			}
			return r.http.Targets[i].Host
		},
		Population: func(i uint16) string { return r.plan.Populations[i].Name },
		Text:       r.texts.Text,
		Source:     func(i uint8) string { return dialect.Source(i).String() },
		Unit:       func(i uint8) string { return dialect.Unit(i).String() },
	}
}

// do runs to the end, or until ctx ends (drain) or the app's cut does. The
// result is there even when the run was interrupted or broke.
func (r *loadRun) do(ctx context.Context) (*report.Result, error) {
	if late := r.app.now(); late.After(r.start) {
		// Setting up took longer than was allowed for.
		if err := r.compile(late); err != nil {
			return nil, err
		}
	}
	cfg := r.http
	cfg.Clock, cfg.Wall, cfg.Texts, cfg.AppendKey = load.StartClock(r.start), r.start, &r.texts, r.plan.AppendKey
	for _, route := range r.plan.Routes {
		cfg.Routes = append(cfg.Routes, httpdo.Route(route))
	}
	senders, err := httpdo.New(ctx, cfg, r.threads)
	if err != nil {
		var unreachable *httpdo.UnreachableError
		if errors.As(err, &unreachable) {
			return nil, targetError(err)
		}
		return nil, usageError(err, "weir load --help")
	}
	meta := report.Meta{Source: "load", Name: r.name, Seed: r.seed, Repeat: r.repeat}
	setup := report.Setup{Names: r.eventNames(), Promise: r.promise, Start: r.start, Detail: r.tui}
	var saved *report.EventWriter
	if r.events != nil {
		saved = report.NewEventWriter(r.events, setup.Names, meta, r.start, r.promise)
		setup.Tap = saved.Write
	}
	if r.stage != nil {
		setup.Tap, setup.Detail = r.stage.see, true
	}
	collector := report.NewCollector(setup)
	engineConfig := load.Config{Plan: r.plan, Seed: r.seed, Clock: cfg.Clock, Targets: len(cfg.Targets), Spread: r.spread,
		Limits: r.limits, MaxAttempts: r.attempts, DropAfter: r.dropAfter, Grace: cfg.Timeout + drainMargin}
	for _, s := range senders {
		defer s.Close()
		engineConfig.Senders = append(engineConfig.Senders, s)
		engineConfig.Shards = append(engineConfig.Shards, collector.Shard())
	}
	engine, err := load.New(engineConfig)
	if err != nil {
		return nil, inputError(err)
	}
	var live *liveRun
	switch {
	case r.stage != nil:
		live = r.stage.begin(ctx, engine, collector, cfg.Clock)
		defer r.stage.close()
	case r.tui:
		live = r.show(ctx, engine, collector)
	}
	defer live.close()
	debug.FreeOSMemory() // what compiling left behind is not the run's
	before, _ := processUsage()
	finished := make(chan error, 1)
	go func() {
		time.Sleep(time.Until(r.start))
		finished <- engine.Run()
	}()
	stopped, err := r.watch(live.context(ctx), engine, collector, cfg.Clock, finished)
	cpu, rss := processUsage()
	// Waiting for the last answers is no part of the run's length.
	meta.Duration, meta.Interrupted = max(0, min(stopped, int64(r.plan.Duration))), live.context(ctx).Err() != nil
	meta.Marks, meta.Notes = live.said()
	if r.alone.ended {
		meta.Notes = append(meta.Notes, fmt.Sprintf("nothing listened for %d seconds, so the run ended there", aloneAfter/time.Second))
	}
	meta.CPUSeconds, meta.RSSMB = cpu-before, rss
	result := collector.Finish(meta)
	result.AddChecks(r.checks)
	if saved != nil {
		if serr := saved.End(meta); serr != nil && err == nil {
			err = reachError(fmt.Errorf("the events file is cut short: %w", serr), "free some space, or give --events on another disk")
		}
	}
	if lerr := live.over(result); lerr != nil && err == nil {
		err = lerr
	}
	return result, err
}

// watch merges and shows while the engine runs, and passes interrupts on. It
// returns when the sending stopped: at the first interrupt or with the run.
func (r *loadRun) watch(ctx context.Context, engine *load.Engine, c *report.Collector, clock load.Clock, finished <-chan error) (stopped int64, err error) {
	ticker := time.NewTicker(mergeEvery)
	defer ticker.Stop()
	r.progress.begin(r.name, time.Duration(r.plan.Duration))
	defer r.progress.end()
	drain, cut := ctx.Done(), r.app.cut.Done()
	stopped = math.MaxInt64
	for {
		select {
		case err := <-finished:
			if err != nil {
				err = internalError(err)
			}
			return min(stopped, clock()), err
		case <-drain:
			engine.Stop()
			stopped = clock()
			r.progress.interrupted()
			drain = nil
		case <-cut:
			engine.Cut()
			cut = nil
		case <-ticker.C:
			now := clock()
			c.Merge(now)
			r.progress.show(c.Latest(), now)
			if drain != nil && r.stage == nil && !r.tui && r.alone.see(c.Latest(), len(r.http.Targets), now) {
				engine.Stop()
				stopped, drain = now, nil
			}
		}
	}
}

// dryRunCalls is how many first calls a dry run lists in JSON.
const dryRunCalls = 20

// describe writes the plan in a form.
func (r *loadRun) describe(format string) func(io.Writer) error {
	return func(w io.Writer) error {
		if format == "json" {
			return writeJSON(w, r.plan.Outline(dryRunCalls))
		}
		return r.plan.Describe(w)
	}
}

// targetNames are the targets as they may be shown.
func (r *loadRun) targetNames() []string {
	var names []string
	for _, t := range r.http.Targets {
		names = append(names, redactURL(t))
	}
	return names
}

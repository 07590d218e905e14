package gateway

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/gateway/journal"
)

// observer sees what a fleet decides and what happens to it, and passes it on
// to whatever is kept: metrics, a decision log, meters, and what health is
// told from. No method waits for anybody. A nil observer sees nothing. Safe
// for concurrent use.
type observer struct {
	clock   func() int64
	metrics *metrics         // nil keeps none
	log     *journal.Journal // nil keeps none
	meters  *meters          // nil keeps none
	alarm   *alarm           // nil tells nobody
	watch   watch
	closed  atomic.Bool
}

// newObserver makes what o asks for; start has meters begin, and close ends
// everything. read gives the figures
// that the fleet's parts keep, and may leave out those of the observer's own.
func newObserver(o Observe, gateways, maxKeys int, hash bool, clock func() int64, read func() internals) (*observer, error) {
	w := &observer{clock: clock, watch: watch{gateways: make([]watched, gateways)}}
	n := names{hash}
	if o.Metrics {
		w.metrics = newMetrics(func() internals { return w.internals(read()) })
	}
	if o.Log != nil {
		var err error
		if w.log, err = journal.New(o.Log, journal.Options{Sample: o.LogSample, Seed: o.Seed, Now: clock, Show: n.caller}); err != nil {
			return nil, err
		}
	}
	if o.Meter != nil {
		w.meters = newMeters(o.Meter, gateways, maxKeys, clock, n.metered)
	}
	return w, nil
}

// start is called when the fleet serves: a meter that began has to end.
func (w *observer) start(meterEvery time.Duration) {
	if w.meters != nil {
		w.meters.start(meterEvery)
	}
}

// internals adds what the observer itself knows.
func (w *observer) internals(i internals) internals {
	i.RulesVersion, i.RulesAgeS = w.watch.rules(w.clock())
	if w.log != nil {
		i.LogLines, i.LogDropped = w.log.Stats()
	}
	if w.meters != nil {
		i.MeterUnsent = w.meters.unsent.Load()
	}
	return i
}

// decided is called once for each request that was decided, by gateway gw at
// now. c's texts are copied where they are kept.
func (w *observer) decided(gw int, now int64, v *verdict, c *caller, cost int64, took time.Duration) {
	if w == nil {
		return
	}
	if w.metrics != nil {
		w.metrics.decided(v, took)
	}
	if w.meters != nil && v.OK {
		w.meters.add(gw, c.Key, now, cost)
	}
	if w.log != nil {
		s := journal.Seen{Gateway: gw + 1, Caller: journal.Caller{Key: c.Key, Plan: c.Plan, Address: c.Address}, Rule: noRule,
			Source: v.Source.String(), Admitted: v.OK, Cost: cost, Remaining: v.Remaining, RetryAfter: v.RetryAfter}
		if v.By != nil {
			s.Rule = v.By.Name
		}
		if v.Limit != nil {
			s.Limit, s.From = &v.Limit.Spec, v.Limit.From
		}
		w.log.Decided(now, &s)
	}
}

// timed reports whether decided wants to know how long a decision took.
func (w *observer) timed() bool { return w != nil && w.metrics != nil }

// arrived and answered surround each request but the fleet's own.
func (w *observer) arrived() {
	if w != nil && w.metrics != nil {
		w.metrics.inFlight.Inc()
	}
}

func (w *observer) answered() {
	if w != nil && w.metrics != nil {
		w.metrics.inFlight.Dec()
	}
}

// stored is called after each check of the store; kind is what went wrong, ""
// for an answer.
func (w *observer) stored(gw int, node string, took time.Duration, kind string) {
	if w == nil {
		return
	}
	w.watch.stored(gw, w.clock(), kind)
	if kind != "" {
		w.alarm.failed(node, kind)
	}
	if w.metrics != nil {
		w.metrics.stored(node, took, kind)
	}
}

// breaker is called when gateway gw's breaker for a node opens or closes.
func (w *observer) breaker(gw int, node string, open bool) {
	if w == nil || !w.watch.breaker(gw, node, open) {
		return
	}
	w.alarm.breaker(gw, node, w.watch.failed(gw), open)
	if w.metrics != nil {
		w.metrics.breaker(node, open)
	}
	if w.log != nil {
		w.log.Breaker(w.clock(), gw+1, node, open)
	}
}

// rulesLoaded is called after each attempt to find out the newest rules: also
// when they are the ones in force. err says why the rules stay as they are.
func (w *observer) rulesLoaded(version int64, err error) {
	if w == nil {
		return
	}
	now := w.clock()
	w.watch.loaded(version, now, err)
	switch {
	case err != nil && w.metrics != nil:
		w.metrics.reloads.Inc()
	case err == nil && w.log != nil:
		w.log.Rules(now, version)
	}
}

// close writes out what is left. What is decided afterwards is in the metrics
// alone.
func (w *observer) close() error {
	if w == nil || w.closed.Swap(true) {
		return nil
	}
	w.alarm.stop()
	var errs [2]error
	if w.meters != nil {
		if err := w.meters.close(); err != nil {
			errs[0] = &OutputError{"the meter", err}
		}
	}
	if w.log != nil {
		if err := w.log.Close(); err != nil {
			errs[1] = &OutputError{"the decision log", err}
		}
	}
	return errors.Join(errs[:]...)
}

// OutputError says that something which the fleet writes about itself could
// not be written.
type OutputError struct {
	What string
	Err  error
}

func (e *OutputError) Error() string { return e.What + ": " + e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

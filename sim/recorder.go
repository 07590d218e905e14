package sim

import (
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// mergeEvery is how many events go by between two merges.
const mergeEvery = 8192

// recorder hands decided attempts to the collector. A nil recorder does
// nothing, so that a run without a document pays nothing for it.
type recorder struct {
	c *report.Collector
	s *report.Shard
	n int
}

// recorder is the way to the collector, if there is one.
func (o *Outcome) recorder() *recorder {
	if o.Collector == nil {
		return nil
	}
	return &recorder{c: o.Collector, s: o.Collector.Shard()}
}

// attempt is one decided attempt.
type attempt struct {
	sent, decided, done Micros
	key, client         uint32
	gateway             int32
	group               uint16 // population
	try                 uint16 // from 1; 0 is 1
	cost                int64
	d                   limit.Decision
	failed              bool
}

// record adds an attempt. Calls must come in order of done, as far as the
// scenario has one.
func (r *recorder) record(a *attempt) {
	if r == nil {
		return
	}
	e := report.Event{Due: int64(a.sent) * 1000, Sent: int64(a.sent) * 1000, First: int64(a.decided) * 1000, Done: int64(a.done) * 1000,
		Wait: -1, Key: a.key, Client: a.client, Target: uint16(min(a.gateway, 1<<16-1)), Population: a.group,
		Cost: uint32(max(a.cost, 1)), Attempt: max(a.try, 1), Has: report.HasFirst}
	switch {
	case a.failed:
		e.Verdict, e.Class = report.Failed, report.OtherError
	case a.d.OK:
		e.Verdict, e.Status = report.Admitted, 200
	default:
		e.Verdict, e.Status = report.Refused, 429
		if a.d.RetryAfter > 0 {
			e.Has |= report.HasRetryAfter
			e.RetryAfter = retryAfter(a.d.RetryAfter) * int64(time.Second)
		}
	}
	if a.d.Limit > 0 {
		e.Has |= report.HasLimit | report.HasRemaining
		e.Limit, e.Remaining = a.d.Limit, a.d.Remaining
	}
	r.s.Record(&e)
	if r.n++; r.n%mergeEvery == 0 {
		r.c.Merge(e.Done)
	}
}

// retryAfter is a wait in whole seconds, rounded up, as the header says it.
func retryAfter(wait time.Duration) int64 {
	return int64((wait + time.Second - 1) / time.Second)
}

package gateway

import (
	"math"
	"sync"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// mergeEvery is how often what the gateways recorded is merged.
const mergeEvery = 100 * time.Millisecond

// recorder judges the fleet's own decisions with the code that judges a load
// run. Its instants surround the decision itself, so no network lies between.
type recorder struct {
	collector *report.Collector
	lanes     []lane // one per gateway

	mu    sync.Mutex
	names []string // by key number
}

// lane is one gateway's log. The lock stands in for the one goroutine that a
// report.Shard wants, and is held for a copy.
type lane struct {
	mu     sync.Mutex
	shard  *report.Shard
	closed bool
	_      [64]byte
}

// unnamedKey counts in the report's shared row: beyond every table of keys.
const unnamedKey = math.MaxUint32

func newRecorder(gateways int, start time.Time, promise *report.Promise, shown func(string) string, urls []string) *recorder {
	r := &recorder{lanes: make([]lane, gateways)}
	r.collector = report.NewCollector(report.Setup{
		Start:   start,
		Promise: promise,
		Names: report.Names{
			Key: func(i uint32) string {
				r.mu.Lock()
				defer r.mu.Unlock()
				return shown(r.names[i])
			},
			Target: func(i uint16) string { return urls[i] },
		},
	})
	for i := range r.lanes {
		r.lanes[i].shard = r.collector.Shard()
	}
	return r
}

// number gives a key that has a row of its own its number. Called once per
// key, with the tally's shard locked.
func (r *recorder) number(key string) uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, key)
	return uint32(len(r.names) - 1)
}

// record takes one decision made between two instants of the run.
func (r *recorder) record(gw int, key uint32, from, to, cost int64, d *limit.Decision, status uint16, said time.Duration, told bool) {
	e := report.Event{
		Due: from, Sent: from, First: to, Done: to, Wait: -1,
		Limit: d.Limit, Remaining: d.Remaining,
		Key: key, Cost: uint32(cost), Target: uint16(gw), Attempt: 1, Status: status,
		Has:     report.HasFirst | report.HasLimit | report.HasRemaining,
		Verdict: report.Admitted,
	}
	if !d.OK {
		e.Verdict = report.Refused
		if told {
			e.Has |= report.HasRetryAfter
			e.RetryAfter = int64(said)
		}
	}
	l := &r.lanes[gw]
	l.mu.Lock()
	if !l.closed {
		l.shard.Record(&e)
	}
	l.mu.Unlock()
}

// merge takes in what was recorded. Gateways that nobody asks must not hold
// the others up, so each is said to have come as far as it surely has.
func (r *recorder) merge(now int64) {
	settled := now - int64(mergeEvery)
	for i := range r.lanes {
		r.lanes[i].shard.Advance(settled)
	}
	r.collector.Merge(now)
}

// finish ends the recording and returns the result. Decisions made from now on
// are in the counts but in no result.
func (r *recorder) finish(m report.Meta) *report.Result {
	for i := range r.lanes {
		l := &r.lanes[i]
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
	}
	return r.collector.Finish(m)
}

package gateway

import (
	"math"
	"sync"
	"time"

	"github.com/weir-cli/weir/limit"
)

// store is a limiter with its keys: a limit.Store, or one made wrong.
// Safe for concurrent use.
type store interface {
	Take(key string, now, cost int64) limit.Decision
	Release(key string, now, cost int64)
}

// racy checks, waits, and then acts on what it saw, as a limiter does that
// reads a counter and writes it back in two calls.
type racy struct {
	store
	gap time.Duration
}

func (r racy) Take(key string, now, cost int64) limit.Decision {
	seen := r.store.Take(key, now, 0)
	if seen.Remaining < cost {
		return r.store.Take(key, now, cost)
	}
	time.Sleep(r.gap)
	d := r.store.Take(key, now, cost)
	if !d.OK {
		// The reading is out of date; it is believed all the same.
		d = seen
		d.OK, d.RetryAfter, d.Remaining = true, 0, seen.Remaining-cost
	}
	return d
}

// counting charges refusals. On top of a right store it keeps, per key, the
// instant until which everything is refused; each refusal moves it by what an
// admission of its cost would have taken to come back.
type counting struct {
	store
	step int64 // nanoseconds that one unit takes to come back
	most int64 // the debt stops growing here, as a full counter does

	mu    sync.Mutex
	until map[string]int64
	sweep int // the table is swept when it has grown to this
}

const firstSweep = 1024

func newCounting(s store, spec limit.Spec) *counting {
	per, units, full := int64(spec.Rate.Per), spec.Rate.Units, spec.Burst+spec.Queue
	if spec.Window > 0 {
		per, units, full = int64(spec.Window), spec.Limit, spec.Limit
	}
	step := max(1, per/max(1, units))
	return &counting{store: s, step: step, most: times(max(1, full), step),
		until: map[string]int64{}, sweep: firstSweep}
}

func (c *counting) Take(key string, now, cost int64) limit.Decision {
	c.mu.Lock()
	defer c.mu.Unlock()
	until := c.until[key]
	var d limit.Decision
	if until > now {
		d = c.store.Take(key, now, 0)
		d.OK, d.Remaining = false, 0
	} else {
		d = c.store.Take(key, now, cost)
		if d.OK || d.RetryAfter < 0 {
			return d
		}
		until = now + int64(d.RetryAfter)
	}
	until = max(until, min(plus(until, times(c.step, cost)), plus(now, c.most)))
	d.RetryAfter = time.Duration(until - now)
	d.ResetAfter = max(d.ResetAfter, d.RetryAfter)
	if len(c.until) >= c.sweep {
		for k, t := range c.until {
			if t <= now {
				delete(c.until, k)
			}
		}
		c.sweep = max(firstSweep, 2*len(c.until))
	}
	c.until[key] = until
	return d
}

// times and plus stop at the largest instant instead of wrapping. Their
// arguments are not negative.
func times(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

func plus(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

package gateway

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weir-cli/weir/limit"
)

// racy checks, waits, and then acts on what it saw, as a limiter does that
// reads a counter and writes it back in two calls.
type racy struct {
	backend
	gap time.Duration
}

func (r racy) take(ctx context.Context, parts []hitState, now int64) error {
	seen := slices.Clone(parts)
	for i := range seen {
		p := &seen[i]
		p.Cost = 0
		if err := r.backend.take(ctx, seen[i:i+1], now); err != nil {
			return err
		}
		if p.ready.spec.Algorithm == limit.Concurrency || p.Decision.Remaining < parts[i].Cost {
			return r.backend.take(ctx, parts, now)
		}
	}
	time.Sleep(r.gap)
	if err := r.backend.take(ctx, parts, now); err != nil {
		return err
	}
	if !short(parts) {
		return nil
	}
	for i := range parts {
		// The reading is out of date; it is believed all the same.
		p := &parts[i]
		p.Decision = seen[i].Decision
		p.Decision.OK, p.Decision.RetryAfter, p.Decision.Remaining = true, 0, seen[i].Decision.Remaining-p.Cost
	}
	return nil
}

// apart asks about each of a request's limits in a call of its own: what an
// earlier one took is gone when a later one refuses.
type apart struct{ backend }

func (a apart) take(ctx context.Context, parts []hitState, now int64) error {
	for i := range parts {
		if err := a.backend.take(ctx, parts[i:i+1], now); err != nil {
			return err
		}
		if !parts[i].Decision.OK {
			unasked(parts[i+1:])
			return nil
		}
	}
	return nil
}

// counting charges refusals. On top of a right store it keeps, per key, the
// instant until which everything is refused; each refusal moves it by what an
// admission of its cost would have taken to come back.
// It takes requests that are under one limit.
type counting struct {
	backend
	mu    sync.Mutex
	until map[string]int64
	sweep int // the table is swept when it has grown to this
}

func newCounting(b backend) *counting {
	return &counting{backend: b, until: map[string]int64{}, sweep: firstSweep}
}

// debt is what a refusal costs under a limit: the time that one unit takes to
// come back, and where the debt stops growing, as a full counter does.
func debt(s limit.Spec) (step, most int64) {
	per, units := int64(s.Rate.Per), s.Rate.Units
	if s.Window > 0 {
		per, units = int64(s.Window), s.Limit
	}
	step = max(1, per/max(1, units))
	full := s.Burst + s.Queue
	if s.Window > 0 {
		full = s.Limit
	}
	return step, times(max(1, full), step)
}

func (c *counting) take(ctx context.Context, parts []hitState, now int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, key := &parts[0], parts[0].Subject
	until, cost := c.until[key], p.Cost
	if until > now {
		p.Cost = 0
		c.backend.take(ctx, parts, now)
		p.Cost, p.Decision.OK, p.Decision.Remaining = cost, false, 0
	} else {
		c.backend.take(ctx, parts, now)
		if p.Decision.OK || p.Decision.RetryAfter < 0 {
			return nil
		}
		until = now + int64(p.Decision.RetryAfter)
	}
	step, most := debt(p.ready.spec)
	until = max(until, min(plus(until, times(step, cost)), plus(now, most)))
	p.Decision.RetryAfter = time.Duration(until - now)
	p.Decision.ResetAfter = max(p.Decision.ResetAfter, p.Decision.RetryAfter)
	if len(c.until) >= c.sweep {
		for k, t := range c.until {
			if t <= now {
				delete(c.until, k)
			}
		}
		c.sweep = max(firstSweep, 2*len(c.until))
	}
	c.until[strings.Clone(key)] = until
	return nil
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

package limit

import (
	"math/bits"
	"time"
)

// maxLevel bounds levels and drain rates, in units, so that the sum of two
// still fits in an int64.
const maxLevel = 1 << 61

// pace is exact arithmetic on a level that grows by whole tokens and drains at
// a rate. With the rate reduced to units/token tokens per nanosecond, a token
// is `token` units and every nanosecond drains `units` of them.
//
// The level is what is missing from a token bucket, what is in a leaky bucket,
// or what is queued before a release: one rule, three ways to tell it.
type pace struct {
	units int64 // drained per ns
	token int64 // units in one token
	most  int64 // highest level, units
	whole int64 // highest level, tokens
	full  int64 // ns to drain the highest level, rounded up
}

// newPace fails with the name of what does not fit.
func newPace(r Rate, tokens int64) (pace, error) {
	g := gcd(r.Units, int64(r.Per))
	p := pace{units: r.Units / g, token: int64(r.Per) / g, whole: tokens}
	hi, lo := bits.Mul64(uint64(p.token), uint64(tokens))
	if hi != 0 || lo > maxLevel || p.units > maxLevel {
		return pace{}, errTooFine
	}
	p.most = int64(lo)
	p.full = p.wait(p.most)
	return p, nil
}

// drain is the level after elapsed ns. Elapsed is cut to the time that empties
// the highest level before anything is multiplied.
func (p *pace) drain(level, elapsed int64) int64 {
	if elapsed >= p.full {
		return 0
	}
	return max(0, level-elapsed*p.units)
}

// wait is how long excess takes to drain, rounded up.
func (p *pace) wait(excess int64) int64 {
	if p.units == 1 {
		return excess
	}
	return (excess + p.units - 1) / p.units
}

// take adds cost to the level in s, which is s.a units as of the instant s.b,
// unless that would pass the highest. It decides as of at, while the caller's
// own clock says t. It returns the decision and the level before it.
func (p *pace) take(s *State, t, at, cost int64) (Decision, int64) {
	lag := at - t
	level := p.drain(s.a, max(0, at-s.b))
	before := level
	d := Decision{Limit: p.whole}
	ask := max(cost, 1)
	if ask > p.whole || cost < 0 {
		d.RetryAfter = Never
	} else if after := level + ask*p.token; after > p.most {
		d.RetryAfter = time.Duration(lag + p.wait(after-p.most))
	} else {
		d.OK = true
		if cost > 0 {
			level = after
		}
	}
	if cost > 0 {
		s.a, s.b = level, at
	}
	d.Remaining = (p.most - level) / p.token
	d.ResetAfter = time.Duration(lag + p.wait(level))
	return d, before
}

// fresh reports whether the level in s is zero at t and no time beyond t has
// been seen.
func (p *pace) fresh(s *State, t int64) bool {
	return t >= s.b && p.drain(s.a, t-s.b) == 0
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

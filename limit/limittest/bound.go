package limittest

import (
	"testing"

	"github.com/weir-cli/weir/limit"
)

// bound: over every interval of random traffic no more passes than the
// algorithm allows.
func (s Suite) bound(t *testing.T, spec limit.Spec) {
	for seed := range uint64(3) {
		m := s.make(t, spec)
		var passed []call
		held := int64(0)
		for _, c := range s.traffic(spec, 300+seed, 500, false) {
			if c.release {
				give := min(max(c.cost, 0), held)
				m.release("k", c.at, give)
				held -= give
				continue
			}
			d := m.take("k", c.at, c.cost)
			if !d.OK || c.cost == 0 {
				continue
			}
			if spec.Algorithm == limit.Concurrency {
				if held += c.cost; held > spec.Limit {
					t.Fatalf("%d held of %d", held, spec.Limit)
				}
			}
			passed = append(passed, call{at: c.at + int64(d.Delay), cost: c.cost})
		}
		if len(passed) < 20 {
			t.Fatalf("only %d calls passed: the limiter refuses what it should not", len(passed))
		}
		switch spec.Algorithm {
		case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
			checkBucket(t, passed, spec.Rate, spec.Burst)
		case limit.LeakyQueue:
			checkQueue(t, passed, spec.Rate, s.grain())
		case limit.FixedWindow:
			checkAligned(t, passed, spec)
		case limit.SlidingLog:
			checkSliding(t, passed, int64(spec.Window), spec.Limit)
		case limit.SlidingCounter:
			checkAligned(t, passed, spec)
			// Two windows' worth less one is the most that any guess at the
			// previous window can let into one window's length.
			checkSliding(t, passed, int64(spec.Window), max(spec.Limit, 2*spec.Limit-1))
		}
	}
}

// checkBucket: in every closed interval at most burst + rate * length, in one
// pass.
func checkBucket(t *testing.T, passed []call, r limit.Rate, burst int64) {
	t.Helper()
	// Amounts times Per: what passed less what the rate paid for since the
	// first call, and the lowest it has been before any call.
	level, lowest, last := int64(0), int64(0), passed[0].at
	for _, c := range passed {
		level -= r.Units * (c.at - last)
		last = c.at
		lowest = min(lowest, level)
		level += c.cost * int64(r.Per)
		if over := level - lowest - burst*int64(r.Per); over > 0 {
			t.Fatalf("by %d, %d/%d of a token more passed than burst and rate allow", c.at, over, int64(r.Per))
		}
	}
}

// checkQueue: calls leave at least 1/rate apart, a call of cost n by n times
// that after the one before it.
func checkQueue(t *testing.T, passed []call, r limit.Rate, grain int64) {
	t.Helper()
	for i := 1; i < len(passed); i++ {
		a, b := passed[i-1], passed[i]
		// Both instants are rounded up to a grain.
		if gap := b.at - a.at + grain; r.Units*gap < b.cost*int64(r.Per) {
			t.Fatalf("a call of cost %d leaves %d ns after the one before it", b.cost, gap)
		}
	}
}

// checkAligned: at most the limit in every aligned window.
func checkAligned(t *testing.T, passed []call, spec limit.Spec) {
	t.Helper()
	count := map[int64]int64{}
	for _, c := range passed {
		n := c.at / int64(spec.Window)
		if count[n] += c.cost; count[n] > spec.Limit {
			t.Fatalf("%d in window %d", count[n], n)
		}
	}
}

// checkSliding: at most n in every half-open interval of length w.
func checkSliding(t *testing.T, passed []call, w, n int64) {
	t.Helper()
	first, sum := 0, int64(0)
	for _, c := range passed {
		sum += c.cost
		for passed[first].at <= c.at-w {
			sum -= passed[first].cost
			first++
		}
		if sum > n {
			t.Fatalf("%d in the window that ends at %d, at most %d may", sum, c.at, n)
		}
	}
}

package load

import (
	"time"

	"github.com/weir-cli/weir/report"
)

// Floor is the shortest wait after a failure, and after a hint of zero: a
// refused connection comes back in microseconds, and without it a storm would
// measure nothing but its own loop.
const Floor = 10 * time.Millisecond

// giveUp never tries again.
type giveUp struct{}

func (giveUp) next(Outcome, *Memory, *Rand) step { return step{} }

// storm tries again at once; after a failure, at Floor.
type storm struct{}

func (storm) next(o Outcome, _ *Memory, _ *Rand) step {
	if !broken(o) {
		return step{}
	}
	if o.Verdict == report.Failed {
		return again(Floor)
	}
	return again(0)
}

type shape uint8

const (
	fixedWait shape = iota
	linearWait
	noJitter
	equalJitter
	fullJitter
	decorrelatedJitter
)

// backoff is the family of waits that look at nothing but the attempt's
// number. The jitters are those of the AWS architecture blog, "Exponential
// Backoff and Jitter"; every wait is at least 1 ns.
type backoff struct {
	shape     shape
	base, cap time.Duration
}

func (b backoff) next(o Outcome, m *Memory, r *Rand) step {
	if !broken(o) {
		return step{}
	}
	return again(b.wait(o.Attempt, m.Prev, r))
}

// wait is the delay before retry n (from 1); prev is the delay before.
func (b backoff) wait(n int, prev time.Duration, r *Rand) time.Duration {
	switch b.shape {
	case fixedWait:
		return b.base
	case linearWait:
		return min(b.cap, times(b.base, int64(max(n, 1))))
	case equalJitter:
		d := doubled(b.base, n, b.cap)
		return d/2 + upTo(r, d-d/2)
	case fullJitter:
		return upTo(r, doubled(b.base, n, b.cap))
	case decorrelatedJitter:
		if prev < b.base {
			prev = b.base
		}
		return min(b.cap, between(r, b.base, times(prev, 3)))
	}
	return doubled(b.base, n, b.cap)
}

// doubled is min(cap, base * 2^(n-1)), checked before it is multiplied.
func doubled(base time.Duration, n int, cap time.Duration) time.Duration {
	n = max(n, 1)
	if n > 63 || base > cap>>(n-1) {
		return cap
	}
	return base << (n - 1)
}

// times is d * k for d >= 0 and k >= 0, at most longestWait.
func times(d time.Duration, k int64) time.Duration {
	if d > 0 && k > int64(longestWait/d) {
		return longestWait
	}
	return d * time.Duration(k)
}

// plus is a + b for both >= 0, at most longestWait.
func plus(a, b time.Duration) time.Duration {
	if a >= longestWait-min(b, longestWait) {
		return longestWait
	}
	return a + b
}

// share is d * millionths / 1e6, rounded down, at most longestWait.
func share(d time.Duration, millionths int64) time.Duration {
	const one = 1_000_000
	whole := times(d/one, millionths)
	return plus(whole, d%one*time.Duration(millionths)/one)
}

// upTo is uniform in 1..d nanoseconds; 0 when d is.
func upTo(r *Rand, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return 1 + time.Duration(r.Int64n(int64(d)))
}

// between is uniform in lo..hi nanoseconds.
func between(r *Rand, lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + time.Duration(r.Int64n(int64(hi-lo)+1))
}

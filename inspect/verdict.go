package inspect

import (
	"math"
	"sort"
	"time"

	"github.com/weir-cli/weir/limit"
)

// verdict is what a limiter would answer, as the writer computes it.
type verdict struct {
	most int64 // the highest cost that can ever pass
	// passes reports whether a call of cost, above zero, would pass at a time
	// in unix ns if nobody asked before. What passes once passes later, too.
	passes func(at, cost int64) bool
	// gone is when the state expires and the key is as if never used; 0 for
	// never, or when passes knows it.
	gone int64
	// slots come free when they are given back, not by time.
	slots bool
	// any is true when what a call costs makes no difference, so that when the
	// dearest passes does not tell when everything is there again.
	any bool
}

// ok is passes that knows when the state is gone.
func (v *verdict) ok(at, cost int64) bool {
	return v.gone != 0 && at >= v.gone || v.passes(at, cost)
}

// maxWait is as far ahead as a wait is looked for.
const maxWait = 200 * 365 * 24 * time.Hour

// wait is Reading.Wait.
func (v *verdict) wait(now, cost int64) time.Duration {
	cost = max(cost, 1)
	switch {
	case cost > v.most:
		return limit.Never
	case v.ok(now, cost):
		return 0
	case v.slots:
		return limit.Unknown
	}
	// Twice as far each time, then halved: passes changes once.
	low, high := int64(0), int64(time.Microsecond)
	for !v.ok(now+high, cost) {
		if high >= min(int64(maxWait), math.MaxInt64-now) {
			return limit.Never
		}
		low, high = high, min(high*2, int64(maxWait), math.MaxInt64-now)
	}
	for high-low > 1 {
		if middle := low + (high-low)/2; v.ok(now+middle, cost) {
			high = middle
		} else {
			low = middle
		}
	}
	return time.Duration(high)
}

// remaining is the highest cost that passes at now.
func (v *verdict) remaining(now int64) int64 {
	if v.most <= 0 || !v.ok(now, 1) {
		return 0
	}
	if v.ok(now, v.most) {
		return v.most
	}
	most := int(min(v.most, math.MaxInt-1))
	return int64(sort.Search(most, func(n int) bool { return n > 0 && !v.ok(now, int64(n)) }) - 1)
}

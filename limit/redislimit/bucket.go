package redislimit

import (
	"math/bits"
	"strconv"

	"github.com/weir-cli/weir/limit"
)

const (
	// commonGrain divides the grain of every bucket whose numbers allow it. In
	// it a rate of whole tokens a second gains whole units a microsecond, so
	// that a changed rule mostly finds a fraction of a token that it can keep.
	commonGrain = 1_000_000
	// maxGrain is the finest division of a token that converts into another
	// with an error of at most one unit.
	maxGrain = 1 << 50
)

// numberBucket fills in a bucket's numbers: units gained per µs, units in a
// token, units at most, tokens at most, and 1 for Follow.
func numberBucket(r *Rule) error {
	s := r.spec
	tokens, field, value := s.Burst, "burst", s.Burst
	top := int64(maxExact)
	if s.Algorithm == limit.LeakyQueue {
		tokens, field, value = s.Queue+1, "queue", s.Queue
		// A queue's backlog may be above the most after a change of rule.
		top = (maxExact + 1) / 2
	}
	if s.Millis {
		return fail("millis", "true", "cannot be kept in Redis, where time is in microseconds")
	}
	gain, grain, ok := perMicrosecond(s.Rate)
	if !ok {
		return fail("rate", s.Rate.String(), "cannot be counted exactly in whole numbers below 2^53")
	}
	most, ok := times(grain, tokens, top)
	if !ok {
		return fail(field, strconv.FormatInt(value, 10), "is too many at %s to count exactly in whole numbers below 2^53", s.Rate)
	}
	scale := commonGrain / gcd(commonGrain, grain)
	fine, ok1 := times(grain, scale, maxGrain)
	faster, ok2 := times(gain, scale, maxExact)
	if finer, ok3 := times(most, scale, top); ok1 && ok2 && ok3 {
		gain, grain, most = faster, fine, finer
	}
	r.most = tokens
	follow := int64(0)
	if s.Follow {
		follow = 1
	}
	for i, n := range [ruleNumbers]int64{gain, grain, most, tokens, follow} {
		r.numbers[i] = strconv.FormatInt(n, 10)
	}
	return nil
}

// perMicrosecond is a rate as gain/grain tokens a microsecond, in lowest terms,
// and whether that fits.
func perMicrosecond(r limit.Rate) (gain, grain int64, ok bool) {
	g := gcd(r.Units, int64(r.Per))
	gain, grain = r.Units/g, int64(r.Per)/g
	g = gcd(1000, grain)
	gain, ok = times(gain, 1000/g, maxExact)
	return gain, grain / g, ok && grain/g <= maxGrain
}

// times is a*b for numbers above zero, and whether that is at most top.
func times(a, b, top int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo <= uint64(top)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

package inspect

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// maxBandwidths bounds the limits of one Bucket4j bucket.
const maxBandwidths = 64

// bucket4j is a bucket of Bucket4j with its whole configuration.
type bucket4j struct {
	limits   []bucket4jLimit
	consumed int64
	version  *int64 // of the configuration
}

// bucket4jLimit is one of a bucket's limits, which must all have tokens.
type bucket4jLimit struct {
	id                                string
	capacity, initial, period, refill int64 // period in ns
	intervally                        bool
	last, size, rounding              int64 // last in unix ns
}

// readBucket4j reads the big-endian value that Bucket4j writes.
func readBucket4j(value []byte) (*bucket4j, error) {
	r := &byteReader{rest: value}
	format, config, n := r.int32(), r.int32(), r.int32()
	switch {
	case r.err != nil:
		return nil, r.err
	case format != 1 && format != 2 || config != 1:
		return nil, fmt.Errorf("its format is %d.%d, not 1.1 or 2.1", format, config)
	case n < 1 || n > maxBandwidths:
		return nil, fmt.Errorf("it has %d limits", n)
	}
	b := &bucket4j{limits: make([]bucket4jLimit, n)}
	for i := range b.limits {
		l := &b.limits[i]
		if r.int32() != 1 {
			r.fail(errors.New("a limit's format is not 1"))
		}
		l.capacity, l.initial, l.period, l.refill = r.int64(), r.int64(), r.int64(), r.int64()
		l.intervally = r.flag()
		_ = r.int64() // when the first refill was to be
		_ = r.flag()
		if r.flag() {
			l.id = string(r.take(int(r.big(2))))
		}
		if r.err == nil && (l.capacity <= 0 || l.period <= 0 || l.refill <= 0) {
			r.fail(errors.New("a limit has a capacity, a period or a refill that is not above zero"))
		}
	}
	if r.int32() != 3 || r.int32() != 1 || r.int32() != 3*n {
		r.fail(errors.New("its state is not three whole numbers for each limit"))
	}
	for i := range b.limits {
		l := &b.limits[i]
		l.last, l.size, l.rounding = r.int64(), r.int64(), r.int64()
	}
	if r.int32() != 1 {
		r.fail(errors.New("its statistics have another format"))
	}
	b.consumed = r.int64()
	if format == 2 && r.flag() {
		v := r.int64()
		b.version = &v
	}
	if len(r.rest) > 0 {
		r.fail(errors.New("more follows than should"))
	}
	return b, r.err
}

// flag is a byte that is 0 or 1.
func (r *byteReader) flag() bool {
	v := r.byte()
	if v > 1 {
		r.fail(errors.New("a flag is neither 0 nor 1"))
	}
	return v == 1
}

// at is how many tokens the limit has at a time in unix ns.
func (l *bucket4jLimit) at(now int64) int64 {
	now -= now % 1e6 // its clock has ms
	if now <= l.last {
		return l.size
	}
	elapsed := new(big.Int).Sub(big.NewInt(now), big.NewInt(l.last))
	period := big.NewInt(l.period)
	if l.intervally {
		elapsed.Sub(elapsed, new(big.Int).Rem(elapsed, period))
	}
	elapsed.Mul(elapsed, big.NewInt(l.refill))
	elapsed.Add(elapsed, big.NewInt(l.rounding))
	elapsed.Quo(elapsed, period)
	elapsed.Add(elapsed, big.NewInt(l.size))
	if elapsed.Cmp(big.NewInt(l.capacity)) >= 0 {
		return max(l.capacity, min(l.size, l.capacity))
	}
	if !elapsed.IsInt64() {
		return math.MinInt64
	}
	return elapsed.Int64()
}

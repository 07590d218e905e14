package report

import (
	"math"
	"math/bits"
)

// wide is a signed 128-bit integer. The bound compares cost*Per with
// Units*nanoseconds, and both products can pass 64 bits.
type wide struct {
	hi int64
	lo uint64
}

var leastWide = wide{math.MinInt64, 0}

func wideOf(v int64) wide { return wide{v >> 63, uint64(v)} }

// wideMul is the exact product.
func wideMul(a, b int64) wide {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	// From unsigned to signed (Hacker's Delight, 8-3).
	if a < 0 {
		hi -= uint64(b)
	}
	if b < 0 {
		hi -= uint64(a)
	}
	return wide{int64(hi), lo}
}

func (w wide) sub(o wide) wide {
	lo, borrow := bits.Sub64(w.lo, o.lo, 0)
	hi, _ := bits.Sub64(uint64(w.hi), uint64(o.hi), borrow)
	return wide{int64(hi), lo}
}

func (w wide) less(o wide) bool {
	return w.hi < o.hi || w.hi == o.hi && w.lo < o.lo
}

func (w wide) positive() bool { return w.hi > 0 || w.hi == 0 && w.lo > 0 }

// float is for show only; every decision is made on the integer.
func (w wide) float() float64 {
	return float64(w.hi)*(1<<64) + float64(w.lo)
}

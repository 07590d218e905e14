package limit

import (
	"math/bits"
	"strconv"
)

// Fraction is Num/Den, an exact amount of tokens or part of a whole. The zero
// value is no valid fraction; valid ones are above zero.
type Fraction struct{ Num, Den int64 }

// Whole is n/1.
func Whole(n int64) Fraction { return Fraction{n, 1} }

// String is "20" or "3/2".
func (f Fraction) String() string {
	s := strconv.FormatInt(f.Num, 10)
	if f.Den != 1 {
		s += "/" + strconv.FormatInt(f.Den, 10)
	}
	return s
}

func (f Fraction) valid() bool { return f.Num > 0 && f.Den > 0 }

// times is f*g in lowest terms, and whether its parts fit.
func (f Fraction) times(g Fraction) (Fraction, bool) {
	// Both ways across, so that what is left has no common factor.
	a, b := gcd(f.Num, g.Den), gcd(g.Num, f.Den)
	c, d := gcd(f.Num/a, f.Den/b), gcd(g.Num/b, g.Den/a)
	num, ok1 := times(f.Num/a/c, g.Num/b/d)
	den, ok2 := times(f.Den/b/c, g.Den/a/d)
	return Fraction{num, den}, ok1 && ok2
}

// times is a*b for numbers above zero, and whether that fits in maxLevel.
func times(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	return int64(lo), hi == 0 && lo <= maxLevel
}

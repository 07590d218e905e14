package rules

import (
	"math/bits"
	"strconv"

	"github.com/weir-cli/weir/limit"
)

// cross compares two rates: below zero when a is the lower one.
func cross(a, b limit.Rate) int {
	hi1, lo1 := bits.Mul64(uint64(a.Units), uint64(b.Per))
	hi2, lo2 := bits.Mul64(uint64(b.Units), uint64(a.Per))
	switch {
	case hi1 < hi2 || hi1 == hi2 && lo1 < lo2:
		return -1
	case hi1 == hi2 && lo1 == lo2:
		return 0
	}
	return 1
}

// times says a factor in words: "twice", "half", "1.5 times", "the same".
func times(f float64) string {
	switch f {
	case 1:
		return "the same"
	case 2:
		return "twice"
	case 0.5:
		return "half"
	}
	return strconv.FormatFloat(f, 'g', 3, 64) + " times"
}

// perSecond is only for people to read.
func perSecond(r limit.Rate) float64 { return float64(r.Units) / r.Per.Seconds() }

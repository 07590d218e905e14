package sim

import "math"

// alias draws whole numbers in [0, n) with given weights in constant time from
// one random word: the alias method (Walker, 1977; Vose's construction, 1991).
// 8 bytes a number. Weights are floating point; a draw is exact in its 32-bit
// thresholds. Immutable, safe for concurrent use.
type alias struct{ cells []aliasCell }

// aliasCell keeps its own number with probability below/2^32.
type aliasCell struct{ below, other uint32 }

// newZipf draws rank k-1 with a probability in proportion to 1/k^s.
func newZipf(n int64, s float64) alias {
	w := make([]float64, n)
	sum := 0.0
	for i := range w {
		w[i] = math.Pow(float64(i+1), -s)
		sum += w[i]
	}
	cells := make([]aliasCell, n)
	small, large := make([]uint32, 0, n), make([]uint32, 0, n)
	for i := range w {
		w[i] = w[i] / sum * float64(n)
		if w[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		lo, hi := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		cells[lo] = aliasCell{uint32(w[lo] * (1 << 32)), hi}
		w[hi] -= 1 - w[lo]
		if w[hi] < 1 {
			large = large[:len(large)-1]
			small = append(small, hi)
		}
	}
	// What is left is 1 but for rounding.
	for _, left := range [2][]uint32{small, large} {
		for _, i := range left {
			cells[i] = aliasCell{math.MaxUint32, i}
		}
	}
	return alias{cells}
}

// draw maps a random word to a number.
func (a alias) draw(word uint64) uint32 {
	// The high half chooses the cell (Lemire's reduction), the low half the
	// side of it.
	i := uint32(word >> 32 * uint64(len(a.cells)) >> 32)
	if c := a.cells[i]; uint32(word) >= c.below {
		return c.other
	}
	return i
}

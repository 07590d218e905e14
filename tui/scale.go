package tui

import "math"

// rungs are the round figures that a scale may end at, times a power of ten,
// and into how many equal parts of round figures each can be cut, most first.
var rungs = []struct {
	top   float64
	parts []int
}{{1, []int{5, 2}}, {1.2, []int{6, 4, 3, 2}}, {1.5, []int{3}}, {2, []int{4, 2}}, {2.5, []int{5}}, {3, []int{6, 3, 2}}, {3.5, []int{7}},
	{4, []int{4, 2}}, {5, []int{5, 2}}, {6, []int{6, 3, 2}}, {7, []int{7, 2}}, {8, []int{4, 2}}, {10, []int{5, 2}}}

// nearly forgives what a division leaves over.
const nearly = 1e-9

// rung is the first of the rungs that is not below v, and its power of ten.
func rung(v float64) (at int, power float64) {
	power = math.Pow(10, math.Floor(math.Log10(v)))
	for at < len(rungs)-1 && rungs[at].top*power < v*(1-nearly) {
		at++
	}
	return at, power
}

// roundUp is the round figure that a scale up to v ends at; 0 for nothing.
func roundUp(v float64) float64 {
	if v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0
	}
	at, power := rung(v)
	return rungs[at].top * power
}

// tickRows is how many rows there are at least from one figure to the next.
const tickRows = 3

// ticks are the figures beside a scale up to top that is so many rows high:
// both ends, and as many round ones between as there is room for.
func ticks(top float64, rows int) []float64 {
	if rows < 3 {
		return []float64{top}
	}
	out := []float64{0, top}
	at, power := rung(top)
	if math.Abs(rungs[at].top*power-top) > top*nearly {
		return out
	}
	for _, n := range rungs[at].parts {
		// Counts are whole; there is no half of a request.
		if step := top / float64(n); rows >= n*tickRows && (top < 1 || step >= 1 && math.Abs(step-math.Round(step)) < nearly*top) {
			for i := 1; i < n; i++ {
				out = append(out, step*float64(i))
			}
			break
		}
	}
	return out
}

// row is where a value stands on a canvas with a scale up to top.
func (c *canvas) row(v, top float64) int {
	return c.h - 1 - min(int(v/top*float64(c.h)+nearly), c.h-1)
}

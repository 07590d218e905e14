package sim

import "github.com/weir-cli/weir/limit"

// excess follows admissions of one key and keeps the largest of
// (admissions - rate*t) over all intervals, exactly: the sum over the best
// interval that ends now falls with time and starts afresh when it is below
// zero. Amounts are in units of 1/token of a request, and end at 2^61 of
// them.
type excess struct {
	units int64 // a ns
	token int64
	now   int64 // of the best interval that ends at last, 0 is none
	worst int64
	last  Micros
}

func newExcess(r limit.Rate) excess {
	g := gcd(r.Units, int64(r.Per))
	return excess{units: r.Units / g, token: int64(r.Per) / g}
}

// admit counts an admission at t, which is not before the last one.
func (e *excess) admit(t Micros) {
	if gap := int64(t-e.last) * 1000; gap > e.now/e.units {
		e.now = 0
	} else {
		e.now -= gap * e.units
	}
	e.now = min(e.now, 1<<61) + e.token
	e.worst = max(e.worst, e.now)
	e.last = t
}

// tokens is an amount in requests, for show.
func (e *excess) tokens(units int64) float64 { return float64(units) / float64(e.token) }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

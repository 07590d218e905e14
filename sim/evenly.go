package sim

import "math/bits"

// evenly gives the instants of requests at an even rate: request j arrives at
// floor(j/rate), in microseconds. The zero value is not usable.
type evenly struct {
	at   Micros // of the request that is next
	rest int64  // what at was cut by, in 1/den µs
	step Micros
	part int64
	den  int64
}

func newEvenly(r Rate) evenly {
	den := r.Units * 1000
	return evenly{step: Micros(int64(r.Per) / den), part: int64(r.Per) % den, den: den}
}

// next returns the instant of the next request and moves on.
func (e *evenly) next() Micros {
	at := e.at
	e.at += e.step
	if e.rest += e.part; e.rest >= e.den {
		e.rest -= e.den
		e.at++
	}
	return at
}

// maxPerSecond bounds rates of requests so that the sums above fit.
const maxPerSecond = 1_000_000_000

// countEvenly is how many requests at rate r arrive in [0, d), and false when
// they do not fit in an int64.
func countEvenly(r Rate, d Micros) (int64, bool) {
	// Request j is in when j*per < d*units, all in ns.
	hi, lo := bits.Mul64(uint64(d)*1000, uint64(r.Units))
	lo, carry := bits.Add64(lo, uint64(r.Per)-1, 0)
	if hi += carry; hi >= uint64(r.Per) {
		return 0, false
	}
	n, _ := bits.Div64(hi, lo, uint64(r.Per))
	return int64(n), n < 1<<62
}

// after is the instant of the n-th request from the next one on. n must be
// below 1<<20.
func (e *evenly) after(n int64) Micros {
	at := e.at + Micros(n)*e.step
	if e.part != 0 {
		at += Micros((e.rest + n*e.part) / e.den)
	}
	return at
}

// skip returns e moved on by n requests, n up to 1<<20.
func (e evenly) skip(n int64) evenly {
	sum := e.rest + n*e.part
	e.at += Micros(n)*e.step + Micros(sum/e.den)
	e.rest = sum % e.den
	return e
}

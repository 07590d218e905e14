package sim

import "math/bits"

// arrivals are requests at an even rate from zero on, of which any can be
// looked up: request j comes at floor(j/rate), in microseconds.
type arrivals struct {
	at   Micros // of the request that is next
	rest int64  // what at was cut by, in 1/den µs
	step Micros
	part int64
	den  int64
}

func newArrivals(r Rate) arrivals {
	den := r.Units * 1000
	return arrivals{step: Micros(int64(r.Per) / den), part: int64(r.Per) % den, den: den}
}

// after is the instant of the n-th request from the next one on. n must be
// below 1<<20.
func (a *arrivals) after(n int64) Micros {
	at := a.at + Micros(n)*a.step
	if a.part != 0 {
		at += Micros((a.rest + n*a.part) / a.den)
	}
	return at
}

// skip moves on by n requests, n up to 1<<20.
func (a *arrivals) skip(n int64) {
	sum := a.rest + n*a.part
	a.at += Micros(n)*a.step + Micros(sum/a.den)
	a.rest = sum % a.den
}

// Bounds on traffic, so that the sums above and counts fit.
const (
	maxPerSecond = 1_000_000_000
	maxRequests  = 1 << 40
)

// countOf is how many requests at rate r arrive in [0, d), and false when they
// do not fit in an int64.
func countOf(r Rate, d Micros) (int64, bool) {
	// Request j is in when j*per < d*units, all in ns.
	hi, lo := bits.Mul64(uint64(d)*1000, uint64(r.Units))
	lo, carry := bits.Add64(lo, uint64(r.Per)-1, 0)
	if hi += carry; hi >= uint64(r.Per) {
		return 0, false
	}
	n, _ := bits.Div64(hi, lo, uint64(r.Per))
	return int64(n), n < 1<<62
}

// trafficFits refuses rates and durations that cannot be counted.
func trafficFits(r Rate, d Micros) error {
	if err := firstError(rateWithin("requests", r), spanWithin("duration", d, 1, maxTime)); err != nil {
		return err
	}
	if r.Units > maxPerSecond || r.Float() > maxPerSecond {
		return &ParamError{"requests", r.String() + " is above 1,000,000,000 a second", "--set requests=100k/s"}
	}
	if n, ok := countOf(r, d); !ok || n > maxRequests {
		return &ParamError{"duration", d.String() + " has more than 2^40 requests", "--set duration=60s"}
	}
	return nil
}

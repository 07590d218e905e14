package load

import (
	"math"
	"math/bits"
	"sort"
)

const second = int64(1e9) // nanoseconds

// indexed is an arrival process whose i-th due time is a function of i alone,
// so that nothing accumulates: the millionth call is as exact as the first.
// Times are nanoseconds since the start of the run and never decrease.
type indexed interface {
	at(i uint64) int64
}

// countBefore is the number of arrivals due in [0, run). at need not be
// defined beyond most.
func countBefore(p indexed, run int64, most uint64) uint64 {
	n := sort.Search(int(min(most, math.MaxInt64)), func(i int) bool {
		return p.at(uint64(i)) >= run
	})
	return uint64(n)
}

// even is a whole number of calls per second, in integers: exact for ever.
type even struct{ perSecond uint64 }

func (e even) at(i uint64) int64 {
	s, rest := i/e.perSecond, i%e.perSecond
	return int64(s)*second + int64(rest*uint64(second)/e.perSecond)
}

// piece is a stretch of the run over which the rate changes linearly.
type piece struct {
	from, to     float64 // seconds
	rate, toRate float64 // calls per second at both ends
	before       float64 // calls due before from
	until        float64 // calls due before to
}

// pieces is a rate that is piecewise linear in time: constant, ramp, step and
// spike are all this. Call i is due at the instant up to which the integral of
// the rate is i and after which it grows, so a pause holds no call.
//
// Floats are safe here: each due time is computed from i on its own, and at
// 1e9 calls the rounding is below a microsecond.
type pieces []piece

// add appends a stretch of length seconds.
func (p pieces) add(length, rate, toRate float64) pieces {
	q := piece{to: length, rate: rate, toRate: toRate}
	if len(p) > 0 {
		last := p[len(p)-1]
		q.from, q.before = last.to, last.until
		q.to = q.from + length
	}
	q.until = q.before + length*(rate+toRate)/2
	return append(p, q)
}

func (p pieces) total() float64 { return p[len(p)-1].until }

func (p pieces) at(i uint64) int64 {
	n := float64(i)
	k := sort.Search(len(p), func(k int) bool { return p[k].until > n })
	if k == len(p) {
		return math.MaxInt64
	}
	return nanos(p[k].from + p[k].invert(n-p[k].before))
}

// invert solves rate*x + slope*x*x/2 = n for x, in the form that does not
// cancel when the slope is small.
func (q piece) invert(n float64) float64 {
	slope := (q.toRate - q.rate) / (q.to - q.from)
	under := q.rate*q.rate + 2*slope*n
	if n <= 0 {
		return 0
	}
	return min(2*n/(q.rate+math.Sqrt(max(under, 0))), q.to-q.from)
}

// nanos floors seconds to nanoseconds. The sliver added undoes the last bit of
// rounding when the exact result is a whole nanosecond.
func nanos(s float64) int64 {
	ns := s * 1e9
	if ns >= math.MaxInt64/2 {
		return math.MaxInt64
	}
	return int64(ns + ns*0x1p-52)
}

// sine is rate + amplitude*sin(2πt/period), whose integral is
// rate*t + amplitude*period/2π*(1-cos(2πt/period)). Amplitude is at most rate.
type sine struct{ rate, amplitude, period float64 }

// both is the integral up to t and the rate at t.
func (s sine) both(t float64) (calls, rate float64) {
	_, turn := math.Modf(t / s.period)
	sin, cos := math.Sincos(2 * math.Pi * turn)
	return s.rate*t + s.amplitude*s.period/(2*math.Pi)*(1-cos), s.rate + s.amplitude*sin
}

func (s sine) at(i uint64) int64 {
	n := float64(i)
	// The second term lies in [0, amplitude*period/π], which brackets t.
	hi := n / s.rate
	lo := max(0, hi-s.amplitude*s.period/(math.Pi*s.rate))
	t := (lo + hi) / 2
	bend := s.amplitude * math.Pi / s.period // half the most that the rate's slope can be
	for range 100 {                          // halving alone takes 60; late in a long run t has fewer bits
		if hi-lo < 1e-10 {
			break
		}
		calls, rate := s.both(t)
		if calls > n {
			hi = t
		} else {
			lo = t
		}
		step := (n - calls) / rate // Newton, where it stays inside the bracket
		if next := t + step; !(next > lo && next < hi) {
			t = (lo + hi) / 2
			continue
		}
		t += step
		if bend*step*step < 1e-10*rate { // what the next step could still change
			break
		}
	}
	return nanos(t)
}

// edges is count calls in the spread before and count in the spread after
// each edge: one even train that straddles it.
type edges struct {
	first  int64 // the first edge whose train fits into the run
	period int64
	spread int64
	count  uint64 // calls on each side
}

func (e edges) at(i uint64) int64 {
	edge, k := i/(2*e.count), i%(2*e.count)
	return e.first - e.spread + int64(edge)*e.period + mulDiv(k, e.spread, e.count)
}

// expiries is a first call of each of clients, spread over stagger, and then
// one call lead before each multiple of period since that first call.
// stagger+lead is at most period, so rounds do not overlap.
type expiries struct {
	clients               uint64
	period, lead, stagger int64
}

func (e expiries) at(i uint64) int64 {
	round, c := i/e.clients, i%e.clients
	first := mulDiv(c, e.stagger, e.clients)
	if round == 0 {
		return first
	}
	return first + int64(round)*e.period - e.lead
}

// mulDiv is floor(a*b/c) without overflow in the product; the caller sees to
// it that the result fits, which it does whenever a/c is small.
func mulDiv(a uint64, b int64, c uint64) int64 {
	hi, lo := bits.Mul64(a, uint64(b))
	q, _ := bits.Div64(hi, lo, c)
	return int64(q)
}

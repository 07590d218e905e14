package load

import "math"

// Streams of the plan's own choices are kept apart from the stream that a
// behaviour draws from, so that a change of behaviour changes no plan.
const (
	drawStream  = 0x6b65792d636f7374 // key, cost and route of a call
	thinkStream = 0x7468696e6b2d7469 // think time after a call
	gapStream   = 0x706f6973736f6e2d // Poisson gaps
	sizeStream  = 0x62757273742d737a // burst sizes
)

// poissonGaps is a Poisson process: gaps are independent and exponential, so
// their coefficient of variation is 1.
type poissonGaps struct {
	mean float64 // nanoseconds
	t    float64 // of the last arrival; exact to a nanosecond for 100 days
	r    Rand
}

func newPoisson(rate float64, seed int64, population int) poissonGaps {
	return poissonGaps{mean: 1e9 / rate, r: NewRand(seed^gapStream, uint32(population), 0)}
}

// next is the due time of the following arrival. A gap is -mean*ln(1-u).
func (p *poissonGaps) next() int64 {
	p.t -= p.mean * math.Log1p(-p.r.Float64())
	return int64(p.t)
}

// bursts is low to high calls at one instant, every period from first on.
type bursts struct {
	first, period int64
	low, high     uint64
	seed          int64
	population    uint32
}

// size is the number of calls in burst b.
func (b bursts) size(n uint64) uint64 {
	if b.low == b.high {
		return b.low
	}
	r := NewRand(b.seed^sizeStream, b.population, n)
	return b.low + uint64(r.Int64n(int64(b.high-b.low+1)))
}

func (b bursts) at(n uint64) int64 { return b.first + int64(n)*b.period }

// during is the number of bursts in [0, run).
func (b bursts) during(run int64) uint64 {
	if b.first >= run {
		return 0
	}
	return uint64((run-1-b.first)/b.period) + 1
}

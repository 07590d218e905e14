package limittest

import (
	"math/rand/v2"

	"github.com/weir-cli/weir/limit"
)

// call is one call of a random trace; with release set it gives back its cost
// instead of taking it.
type call struct {
	at, cost int64
	release  bool
}

// traffic draws a trace in time scales of the spec: bursts at one instant,
// calls a little apart, and pauses that refill everything. With back, the
// clock now and then steps back.
func (s Suite) traffic(spec limit.Spec, seed uint64, n int, back bool) []call {
	r := rand.New(rand.NewPCG(seed, 0x77656972))
	unit := max(scale(spec), 4*s.grain())
	top := most(spec)
	now := s.Epoch + int64(unit)*r.Int64N(50)
	calls := make([]call, n)
	high := now
	for i := range calls {
		switch r.IntN(12) {
		case 0, 1, 2, 3, 4:
		case 5, 6, 7:
			now += r.Int64N(unit)
		case 8:
			now += unit
		case 9:
			now += r.Int64N(4 * unit)
		case 10:
			if r.IntN(4) == 0 {
				now += unit * (1 + r.Int64N(3*top))
			}
		case 11:
			if back {
				now = max(s.Epoch, now-r.Int64N(3*unit))
			} else {
				// To an instant at which something changes exactly.
				now += unit - (now-s.Epoch)%unit
			}
		}
		if back && r.IntN(10) == 0 {
			now = max(now, high)
		}
		now -= (now - s.Epoch) % s.grain()
		high = max(high, now)
		cost := int64(1)
		switch r.IntN(10) {
		case 0, 1:
			cost = 1 + r.Int64N(top)
		case 2:
			cost = top + r.Int64N(2)
		case 3:
			cost = r.Int64N(3) - 1
		}
		release := spec.Algorithm == limit.Concurrency && r.IntN(2) == 0
		calls[i] = call{now, cost, release}
	}
	return calls
}

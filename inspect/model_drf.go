package inspect

import (
	"errors"
	"math"
	"slices"

	"github.com/weir-cli/weir/limit"
)

// decodeDRF is a pickled list of the calls that passed, the newest first, in
// seconds.
func decodeDRF(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingLog.String()
	most, w, known := f.window(limit.SlidingLog)
	e := f.main()
	if f.unread() {
		return nil
	}
	var list []float64
	if e != nil {
		if e.Truncated {
			f.unreadable(errors.New("it is too long"))
			return nil
		}
		var err error
		if list, err = pickledFloats(e.Text); err != nil {
			f.unreadable(err)
			return nil
		}
	}
	for _, at := range list {
		if math.Abs(at-float64(f.now)/1e9) > 2*float64(plausible)/1e9 {
			f.r.problem("not-a-time", "An entry of the list is no time in seconds.")
			return nil
		}
	}
	if len(list) > 0 {
		last := int64(list[0] * 1e9)
		f.r.LastUse = &last
		f.ahead("The last call", last, 1e9)
		if !slices.IsSortedFunc(list, func(a, b float64) int { return int(math.Copysign(1, b-a)) }) {
			f.r.problem("out-of-order", "The times are not in order: the clocks of its writers differ, or two of them wrote at once.")
		}
	}
	if !known {
		return nil
	}
	// Entries are dropped from the oldest on, up to the first that counts.
	inside := func(at int64) int64 {
		n := len(list)
		for n > 0 && list[n-1] <= float64(at/1000)/1e6-w.Seconds() {
			n--
		}
		return int64(n)
	}
	used := inside(f.now)
	f.r.Used = &used
	return &verdict{most: most, passes: func(at, cost int64) bool { return cost <= satSub(most, inside(at)) }}
}

package inspect

import (
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// decodeTykLog is a log of calls, and a key that is there while the sentinel
// blocks the caller.
func decodeTykLog(f *frame) *verdict {
	v := decodeLog(f)
	block := f.keys["blocked"]
	if block == nil {
		return v
	}
	until := f.alive(block)
	if until == math.MaxInt64 {
		f.r.problem("no-ttl", "The block has no time to live: the caller stays blocked for ever.")
	}
	f.r.BlockedUntil = &until
	return blockedUntil(f, "blocked", v, until)
}

// The model "apisix-sliding": the counts of two windows. That of the window
// before, at most the limit, weighs by what is left of the current one; calls
// pass until the sum has reached the limit, whatever they cost.

func checkApisixSliding(l *Layout) string {
	if why := checkNumbered(l); why != "" {
		return why
	}
	return needRoles(l, "current", "previous")
}

func decodeApisixSliding(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	most, w, known := f.window(limit.SlidingCounter)
	start, end, ok := f.bounds(w, known)
	if !ok {
		return nil
	}
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	counts, ok := f.pair()
	length := end - start
	if !ok || length <= 0 {
		return nil
	}
	if !known {
		f.r.note(fmt.Sprintf("It counts %d in this window and %d in the one before.", counts.current, counts.previous))
		return nil
	}
	sum := func(at int64) float64 {
		n := at/length - start/length
		last := min(counts.at(n-1, at), most)
		left := float64(length-at%length) / 1e9
		return float64(last)/(float64(length)/1e9)*left + float64(counts.at(n, at))
	}
	used := floorInt(math.Ceil(sum(f.now)))
	f.r.Used = &used
	return &verdict{most: most, gone: math.MaxInt64, passes: func(at, cost int64) bool {
		return sum(at)+float64(cost-1) < float64(most)
	}}
}

package inspect

import (
	"math"

	"github.com/weir-cli/weir/limit"
)

// Laravel's cache limiter: attempts, and a timer that is there while they
// count.

func checkLaravelCache(l *Layout) string {
	if l.Decode.Unit == "" {
		return "needs unit"
	}
	return needRoles(l, "attempts", "timer")
}

func decodeLaravelCache(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, _, known := f.window(limit.FixedWindow)
	count := int64(0)
	text, there := f.text("attempts")
	if there {
		n, ok := f.whole(text, "The attempts")
		if !ok {
			return nil
		}
		count = n
	}
	timer, running := f.text("timer")
	if running {
		if at, ok := f.instant(timer, "The timer"); ok {
			f.r.WindowEnd = &at
		}
	}
	end := f.alive(f.keys["timer"])
	attempts := f.alive(f.keys["attempts"])
	switch {
	case there && !running:
		f.r.problem("half-missing", "The attempts have no timer: when they have reached the limit the next call begins anew.")
	case running && end == math.MaxInt64:
		f.r.problem("no-ttl", "The timer has no time to live: a caller at its limit stays refused for ever.")
	}
	used := count
	if there && f.now >= attempts {
		used = 0
	}
	f.r.Used = &used
	if !known {
		return nil
	}
	return &verdict{most: most, gone: math.MaxInt64, passes: func(at, cost int64) bool {
		switch {
		case at >= attempts:
			return cost <= most
		case at >= end && count >= most:
			return cost <= most
		}
		return cost <= satSub(most, count)
	}}
}

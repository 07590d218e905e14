package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// The model "lone-count": the count of a window under a name that does not say
// of which window. It ends with the key at the latest.
func decodeLoneCount(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, _, known := f.window(limit.FixedWindow)
	count := int64(0)
	if text, there := f.text(f.layout.Keys[0].Role); there {
		n, ok := f.whole(text, "The count")
		if !ok {
			return nil
		}
		count = n
		f.r.note("The name does not say when this window is over: when the key ends, or before.")
	}
	f.r.Used = &count
	if !known || f.layout.Decode.Refusals == "" {
		return nil
	}
	return &verdict{most: most, slots: true, passes: func(_, cost int64) bool { return cost <= satSub(most, count) }}
}

// The model "count-until": a count, and in a key of its own the time to which
// it counts.

func checkCountUntil(l *Layout) string {
	if l.Decode.Unit == "" {
		return "needs unit"
	}
	return needRoles(l, "count", "until")
}

func decodeCountUntil(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, w, known := f.window(limit.FixedWindow)
	count, until := int64(0), int64(math.MinInt64)
	text, hasCount := f.text("count")
	end, hasEnd := f.text("until")
	if hasCount != hasEnd {
		f.r.problem("half-missing", "One half of the state is missing, the count or its end.")
	}
	if hasEnd {
		at, ok := f.instant(end, "The window's end")
		if !ok {
			return nil
		}
		until = at
		f.r.WindowEnd = &at
		if known && at > f.now+int64(w)+units[f.layout.Decode.Unit] {
			f.ahead("The window's end less its length", at-int64(w), 0)
		}
	}
	if hasCount {
		n, ok := f.whole(text, "The count")
		if !ok {
			return nil
		}
		count = n
	}
	used := count
	if until < f.now {
		used = 0
	}
	f.r.Used = &used
	if !known {
		return nil
	}
	unit := units[f.layout.Decode.Unit]
	return &verdict{most: most, passes: func(at, cost int64) bool {
		if until < at-at%unit { // the writer's clock has whole units
			return cost <= most
		}
		return cost <= satSub(most, count)
	}}
}

// The model "started-window": a hash with the start, the end and the count of
// a window that began with its first call. A call in the second of the end
// counts for the next window unless it is at its very beginning.
func decodeStartedWindow(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, _, known := f.window(limit.FixedWindow)
	e := f.main()
	if f.unread() {
		return nil
	}
	if e == nil {
		if !known {
			return nil
		}
		return &verdict{most: most, passes: func(_, cost int64) bool { return cost <= most }}
	}
	start, ok1 := f.instant(e.Fields["start"], "The window's start")
	end, ok2 := f.instant(e.Fields["end"], "The window's end")
	count, ok3 := f.whole(e.Fields["count"], "The count")
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	f.ahead("The window's start", start, 2e9)
	used := count
	if f.now > end {
		used = 0
	}
	f.r.Used = &used
	if !known {
		return nil
	}
	if w := time.Duration(end - start); w != f.r.Limit.Window {
		f.r.note(fmt.Sprintf("The window is %s long, as its start and end say.", limit.ShortDuration(w)))
		f.r.Limit.Window = w
	}
	return &verdict{most: most, passes: func(at, cost int64) bool {
		if at > end || at < start {
			return cost <= most
		}
		return cost <= satSub(most, count)
	}}
}

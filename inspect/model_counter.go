package inspect

import (
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// The model "counter": a count in a window that begins with its first call and
// ends with the key. counts says whether the number is what was used or what
// remains.

func checkCounter(l *Layout) string {
	switch {
	case l.Decode.Counts == "":
		return "needs counts"
	case l.Keys[0].Type != "string":
		return "needs a string"
	}
	return ""
}

func decodeCounter(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, w, known := f.window(limit.FixedWindow)
	count, end := int64(0), f.now
	if text, ok := f.text(f.layout.Keys[0].Role); ok {
		n, ok := f.whole(text, "The count")
		if !ok {
			return nil
		}
		count = n
		if f.layout.Decode.Counts == "remaining" {
			if !known {
				f.r.note(fmt.Sprintf("The key holds what remains, %d.", n))
				return nil
			}
			count = satSub(most, n)
		}
		if end, ok = f.counterEnd(int64(w), known); !ok {
			return nil
		}
	}
	if f.layout.Decode.Counts == "used" && count < 0 {
		f.r.problem("negative", fmt.Sprintf("The count is below zero: %d.", count))
	}
	if f.now < end {
		f.r.Used = &count
	}
	if known && count > most && end != math.MaxInt64 && end-f.now > int64(w)+1e9 {
		f.r.problem("ttl-long", fmt.Sprintf("The key lives %s longer, more than a window: a block rather than a window.", shownWait(end-f.now)))
	}
	if !known {
		return nil
	}
	return &verdict{most: most, gone: max(end, 1), passes: func(at, cost int64) bool {
		if at >= end {
			return cost <= most
		}
		return cost <= satSub(most, count)
	}}
}

// counterEnd is when what is counted counts no more, by the main key's TTL. ok
// is false when only the window's length, which is not known, would tell.
func (f *frame) counterEnd(w int64, known bool) (end int64, ok bool) {
	e := f.keys[f.layout.Keys[0].Role]
	switch {
	case e.TTL != NoTTL:
		end = f.now + int64(e.TTL)
		f.r.WindowEnd = &end
		if known {
			start := end - w
			if start <= f.now {
				f.r.WindowStart = &start
			}
		}
		return end, true
	}
	switch f.missing() {
	case "heals":
		return f.now, true
	case "repairs":
		return f.now + w, known
	case "repairs-seconds":
		return 0, false
	}
	return math.MaxInt64, true
}

// satSub is a-b within int64.
func satSub(a, b int64) int64 {
	switch c := a - b; {
	case b > 0 && c > a:
		return math.MinInt64
	case b < 0 && c < a:
		return math.MaxInt64
	default:
		return c
	}
}

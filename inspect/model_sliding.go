package inspect

import (
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// The model "sliding-pair": the counts of this window and of the one before,
// in keys whose names have the window's number. The one before weighs by the
// share of it that the last window's length still covers, rounded down.

func checkSlidingPair(l *Layout) string {
	if why := checkNumbered(l); why != "" {
		return why
	}
	return needRoles(l, "current", "previous")
}

func decodeSlidingPair(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	most, w, known := f.window(limit.SlidingCounter)
	start, end, ok := f.bounds(w, known)
	if !ok {
		return nil
	}
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	counts, ok := f.pair()
	if !ok {
		return nil
	}
	length := (end - start) / 1e6
	if length <= 0 {
		return nil
	}
	number := start / 1e6 / length
	used := func(at int64) int64 {
		ms := at / 1e6
		n := ms / length
		into := float64(ms%length) / float64(length)
		before := math.Floor((1 - into) * float64(counts.at(n-1-number, at)))
		return -satSub(-floorInt(before), counts.at(n-number, at))
	}
	now := used(f.now)
	f.r.Used = &now
	if f.now >= end+(end-start) {
		f.r.problem("window-over", fmt.Sprintf("This window ended %s ago and weighs nothing any more.", shownWait(f.now-end)))
	}
	if !known {
		return nil
	}
	if f.layout.Decode.Costs == "any" {
		return &verdict{most: most, any: true, gone: math.MaxInt64, passes: func(at, _ int64) bool { return used(at) < most }}
	}
	return &verdict{most: most, gone: math.MaxInt64, passes: func(at, cost int64) bool {
		return cost <= satSub(most, used(at))
	}}
}

// pairCounts are the counts of two windows and until when they are there.
type pairCounts struct{ current, previous, currentUntil, previousUntil int64 }

// at is the count at a time of the window that is i after the current one.
func (p *pairCounts) at(i, at int64) int64 {
	switch {
	case i == 0 && at < p.currentUntil:
		return p.current
	case i == -1 && at < p.previousUntil:
		return p.previous
	}
	return 0
}

// pair reads the two counts.
func (f *frame) pair() (pairCounts, bool) {
	p := pairCounts{currentUntil: f.alive(f.keys["current"]), previousUntil: f.alive(f.keys["previous"])}
	ok := true
	if e := f.keys["current"]; e != nil {
		p.current, ok = f.countIn(e)
	}
	if e := f.keys["previous"]; e != nil && ok {
		p.previous, ok = f.countIn(e)
	}
	if p.current < 0 || p.previous < 0 {
		f.r.problem("negative", fmt.Sprintf("A count is below zero: %d now, %d before.", p.current, p.previous))
	}
	return p, ok
}

// The model "shifting-pair": two counts that live for two windows; once the
// current one has less than a window left, it is the previous one. That weighs
// by how much of its last window is left.

func checkShiftingPair(l *Layout) string { return needRoles(l, "current", "previous") }

func decodeShiftingPair(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	most, w, known := f.window(limit.SlidingCounter)
	counts, ok := f.pair()
	if !ok || !known {
		return nil
	}
	length := w.Milliseconds()
	if length <= 0 {
		return nil
	}
	used := func(at int64) int64 {
		passed := (at - f.now) / 1e6
		left := func(e *Entry) int64 { return max(0, ttlMillis(e)-passed) }
		current, currentLeft := counts.current, left(f.keys["current"])
		previous, previousLeft := counts.previous, left(f.keys["previous"])
		if e := f.keys["current"]; e == nil || e.TTL >= 0 && currentLeft == 0 {
			current, currentLeft = 0, 0
		}
		if currentLeft > 0 && currentLeft < length {
			previous, previousLeft, current = current, currentLeft, 0
		}
		weighs := math.Floor(float64(previous) * float64(previousLeft) / float64(length))
		return -satSub(-floorInt(weighs), current)
	}
	now := used(f.now)
	f.r.Used = &now
	return &verdict{most: most, gone: math.MaxInt64, passes: func(at, cost int64) bool {
		return cost <= satSub(most, used(at))
	}}
}

func ttlMillis(e *Entry) int64 {
	if e == nil || e.TTL < 0 {
		return 0
	}
	return e.TTL.Milliseconds()
}

// The model "hits-and-block": a count for a window that begins with its first
// call, and a key that is there while the caller is blocked.

func checkHitsAndBlock(l *Layout) string { return needRoles(l, "hits", "blocked") }

func decodeHitsAndBlock(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, w, known := f.window(limit.FixedWindow)
	hits, ok := int64(0), true
	hitsEnd, blockEnd := f.alive(f.keys["hits"]), f.now
	if text, there := f.text("hits"); there {
		if hits, ok = f.whole(text, "The count"); !ok {
			return nil
		}
		f.r.Used = &hits
		if hitsEnd != math.MaxInt64 {
			f.r.WindowEnd = &hitsEnd
		}
	}
	switch e := f.keys["blocked"]; {
	case e == nil:
	case e.TTL > 0:
		blockEnd = f.alive(e)
		f.r.BlockedUntil = &blockEnd
	default: // its writer takes it away at the next call, and counts anew
		hitsEnd = f.now
	}
	if !known {
		return nil
	}
	if hitsEnd == math.MaxInt64 { // the next call gives it a window
		hitsEnd = f.now + int64(w)
	}
	return &verdict{most: most, gone: math.MaxInt64, passes: func(at, cost int64) bool {
		switch {
		case at < blockEnd:
			return false
		case at >= hitsEnd:
			return cost <= most
		}
		return cost <= satSub(most, hits)
	}}
}

package inspect

import (
	"fmt"
	"math"
	"math/bits"
	"time"

	"github.com/weir-cli/weir/limit"
)

// weirWindowRule settles by which limit a window's state of l units in w µs is
// judged; the state has none when w is 0.
func (f *frame) weirWindowRule(kind limit.Algorithm, l, w int64) (most, window int64, ok bool) {
	if f.told != nil {
		n, d, fits := f.window(kind)
		if !fits || d%time.Microsecond != 0 {
			return 0, 0, false
		}
		if w == 0 || n != l || d.Microseconds() != w {
			if w != 0 {
				f.r.problem("rule-changed", fmt.Sprintf("The state was last written under %s; by what was told it is read as the next call under that limit would.",
					limit.Spec{Algorithm: kind, Limit: l, Window: time.Duration(w) * time.Microsecond}))
			}
			return n, d.Microseconds(), true
		}
	}
	if w == 0 || w > math.MaxInt64/4000 {
		return 0, 0, false
	}
	f.setLimit(limit.Spec{Algorithm: kind, Limit: l, Window: time.Duration(w) * time.Microsecond}, "state")
	return l, w, true
}

// decodeWeirFixed reads n units in a window of w µs that ends at e, under a
// limit of l.
func decodeWeirFixed(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	v, ok := f.weirFields("n", "e", "w", "l")
	if ok && v != nil && v["w"] > v["e"] {
		f.r.problem("unreadable", "The window is longer than the time since 1970.")
		ok = false
	}
	if !ok {
		f.r.note("State that cannot be read counts as used up; the next call replaces it.")
		return nil
	}
	most, window, known := f.weirWindowRule(limit.FixedWindow, v["l"], v["w"])
	if !known {
		return nil
	}
	now := f.now / 1000
	count, end := int64(0), now
	if v != nil && now < v["e"] {
		count, end = v["n"], v["e"]
		if back := now < v["e"]-v["w"]-max(window, weirHeld); back || v["w"] != window {
			at := now
			if !back {
				at = max(now, v["e"]-v["w"])
			}
			end = at - at%window + window
		}
		if now < v["e"]-v["w"] {
			f.r.problem("future", fmt.Sprintf("The window begins in %s: the server's clock has stepped back.", shownWait((v["e"]-v["w"]-now)*1000)))
		}
	}
	f.r.Used = &count
	f.times((end-window)*1000, end*1000, end > now)
	return &verdict{most: most, passes: func(at, cost int64) bool {
		if at/1000 >= end {
			return cost <= most
		}
		return cost <= most-count
	}}
}

// times fills in the window's.
func (f *frame) times(start, end int64, is bool) {
	if is {
		f.r.WindowStart, f.r.WindowEnd = &start, &end
	}
}

// decodeWeirCounter reads p units in the window before, n in that of t, w µs
// long, under a limit of l.
func decodeWeirCounter(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	v, ok := f.weirFields("p", "n", "t", "w", "l")
	if ok && v != nil && (v["p"] > 1<<50 || v["n"] > 1<<50 || v["w"] == 0 || v["w"] > 1<<51) {
		f.r.problem("unreadable", "The numbers are larger than any state of weir's.")
		ok = false
	}
	if !ok {
		f.r.note("State that cannot be read counts as used up; the next call replaces it.")
		return nil
	}
	most, window, known := f.weirWindowRule(limit.SlidingCounter, v["l"], v["w"])
	if !known {
		return nil
	}
	c := weirCounter{window: window}
	if v != nil {
		at := v["t"] * 1000
		f.r.LastUse = &at
		c.set(v, f.now/1000)
		if ahead := v["t"] - f.now/1000; ahead > 0 {
			f.r.problem("future", fmt.Sprintf("The last write is %s ahead of the server's clock, which has stepped back.", shownWait(ahead*1000)))
		}
	}
	used := c.used(f.now / 1000)
	f.r.Used = &used
	start := f.now / 1000 / window * window
	f.times(start*1000, (start+window)*1000, true)
	return &verdict{most: most, passes: func(at, cost int64) bool { return cost <= most-c.used(at/1000) }}
}

// weirCounter are two counts as of a time, all in µs: into is how far that is
// into its window.
type weirCounter struct {
	previous, current, at, into, window int64
}

// set takes over the state as a check at now would.
func (c *weirCounter) set(v map[string]int64, now int64) {
	w := v["w"]
	back := v["t"]-now > max(c.window, weirHeld)
	at := max(now, v["t"])
	if back {
		at = v["t"]
	}
	s := weirCounter{previous: v["p"], current: v["n"], at: v["t"], into: v["t"] % w, window: w}
	s = s.rolled(at)
	if back {
		at = now
	}
	if !back && w == c.window {
		*c = s
		return
	}
	*c = weirCounter{current: s.current + s.weight(), at: at, into: at % c.window, window: c.window}
}

// rolled is c as of a later time.
func (c weirCounter) rolled(at int64) weirCounter {
	e := c.into + at - c.at
	c.at = at
	switch {
	case e < c.window:
		c.into = e
	case e-c.window < c.window:
		c.previous, c.current, c.into = c.current, 0, e-c.window
	default:
		c.previous, c.current, c.into = 0, 0, at%c.window
	}
	return c
}

// weight is what the window before still weighs, rounded up.
func (c weirCounter) weight() int64 {
	hi, lo := bits.Mul64(uint64(c.previous), uint64(c.window-c.into))
	q, r := bits.Div64(hi, lo, uint64(c.window)) // the quotient is at most previous
	if r > 0 {
		q++
	}
	return int64(q)
}

func (c weirCounter) used(at int64) int64 {
	s := c.rolled(max(at, c.at))
	return s.current + s.weight()
}

// decodeWeirPlain reads the counts of plain commands: a key a window, whose
// number stands in the name.
func decodeWeirPlain(f *frame) *verdict {
	kind := limit.FixedWindow
	if f.told != nil && f.told.Algorithm == limit.SlidingCounter {
		kind = limit.SlidingCounter
	}
	f.r.Algorithm = kind.String()
	most, w, known := f.window(kind)
	start, end, ok := f.bounds(w, known)
	if !ok {
		return nil
	}
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	counts, ok := f.pair()
	if !ok {
		return nil
	}
	length := end - start
	number := start / length
	if !known {
		now := counts.at(f.now/length-number, f.now)
		f.r.Used = &now
		return nil
	}
	spec := *f.r.Limit
	l, err := spec.New()
	if err != nil {
		return nil
	}
	decide := func(at, cost int64) limit.Decision {
		i := at/length - number
		s := spec.Counted(at, counts.at(i-1, at), counts.at(i, at))
		return l.Take(&s, at, cost)
	}
	used := most - decide(f.now, 0).Remaining
	f.r.Used = &used
	return &verdict{most: most, gone: math.MaxInt64, passes: func(at, cost int64) bool { return decide(at, cost).OK }}
}

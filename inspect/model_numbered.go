package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// The model "numbered-window": a count whose window stands in the key's name as
// <window>, by its number or by its start in unit. The TTL only cleans up.

func checkNumbered(l *Layout) string {
	switch {
	case l.Decode.Window == "":
		return "needs window: number or start"
	case l.Decode.Spare < 0:
		return "needs a spare of 0 or more"
	case l.Decode.Window == "start" && l.Decode.Unit == "":
		return "needs unit"
	case !contains(l.Keys[0].Name.Names(), "window"):
		return "needs <window> in the name"
	}
	return ""
}

func decodeNumbered(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	most, w, known := f.window(limit.FixedWindow)
	start, end, ok := f.bounds(w, known)
	if !ok {
		return nil
	}
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	count := int64(0)
	if e := f.keys[f.layout.Keys[0].Role]; e != nil {
		if count, ok = f.countIn(e); !ok {
			return nil
		}
	}
	f.r.Used = &count
	switch {
	case end <= f.now:
		zero := int64(0)
		f.r.Used = &zero
		f.r.problem("window-over", fmt.Sprintf("This window of %d ended %s ago: what it counted no longer counts, and the window of now has a key of its own.", count, shownWait(f.now-end)))
	case start > f.now:
		f.r.problem("future", fmt.Sprintf("This window begins in %s: the clock of who wrote it is ahead of the server's.", shownWait(start-f.now)))
	}
	if count < 0 {
		f.r.problem("negative", fmt.Sprintf("The count is below zero: %d.", count))
	}
	if most = satSub(most, f.layout.Decode.Spare); !known || most <= 0 {
		return nil
	}
	return &verdict{most: most, passes: func(at, cost int64) bool {
		if at >= start && at < end {
			return cost <= satSub(most, count)
		}
		return cost <= most
	}}
}

// bounds are the window in the name, in unix ns. w is its length when known.
func (f *frame) bounds(w time.Duration, known bool) (start, end int64, ok bool) {
	n, isNumber := parseNumber(f.parts["window"])
	if !isNumber || n.whole < 0 {
		f.r.problem("not-a-number", "The name has no window that can be read: "+shownValue(f.parts["window"])+".")
		return 0, 0, false
	}
	m := &f.layout.Decode
	if named, ok := f.namedWindow(); ok && !known {
		w, known = named, true
	}
	if m.Window == "start" {
		if start, ok = timesAdd(n.whole, units[m.Unit], m.Epoch); !ok {
			return 0, 0, false
		}
		if m.Calendar && contains([]string{"month", "year"}, f.parts["period"]) {
			return start, calendarEnd(start, f.parts["period"]), true
		}
		if !known {
			f.r.note("The name says when the window began, " + shownTime(start) + ", and not how long it is.")
			return 0, 0, false
		}
		return start, start + int64(w), !overflows(start, int64(w))
	}
	if !known {
		if w = inferWindow(n.whole, f.now); w > 0 {
			f.r.note(fmt.Sprintf("The window's number %d tells its length: %s.", n.whole, limit.ShortDuration(w)))
		}
	}
	if w <= 0 || n.whole > math.MaxInt64/int64(w)-1 {
		f.r.problem("not-a-time", fmt.Sprintf("The window's number %d is that of no window of today.", n.whole))
		return 0, 0, false
	}
	return n.whole * int64(w), (n.whole + 1) * int64(w), true
}

// calendarEnd is when a month or a year that began at start is over, in UTC.
func calendarEnd(start int64, period string) int64 {
	t := time.Unix(0, start).UTC()
	if period == "year" {
		return t.AddDate(1, 0, 0).UnixNano()
	}
	return t.AddDate(0, 1, 0).UnixNano()
}

// countIn is a count, or the sum of a hash of them.
func (f *frame) countIn(e *Entry) (int64, bool) {
	if e.Type != "hash" {
		text, ok := f.text(f.roleNamed(e))
		if !ok {
			return 0, false
		}
		return f.whole(text, "The count")
	}
	sum := int64(0)
	for _, v := range e.Fields {
		n, ok := f.whole(v, "A part of the count")
		if !ok {
			return 0, false
		}
		sum = -satSub(-sum, n)
	}
	if e.Truncated {
		f.partial = true
		f.r.problem("truncated", fmt.Sprintf("The count is in %d parts, of which %d were read.", e.Len, len(e.Fields)))
	}
	return sum, true
}

func (f *frame) roleNamed(e *Entry) string {
	for role, other := range f.keys {
		if other == e {
			return role
		}
	}
	return ""
}

// usualWindows are lengths that windows are given.
var usualWindows = []time.Duration{
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 20 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 20 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour, 30 * 24 * time.Hour,
}

// inferWindow is how long the windows are of which this is the number, when it
// is at or shortly before now: the usual length that gives the number, or else
// the quotient.
func inferWindow(number, now int64) time.Duration {
	if number <= 0 || now <= 0 {
		return 0
	}
	best, off := time.Duration(0), int64(math.MaxInt64)
	for _, w := range usualWindows {
		of := now / int64(w)
		d := of - number
		if d < 0 {
			d = -d
		}
		// The key may be some windows old, as long as that is next to nothing
		// of the whole number.
		if d <= max(2, of/100_000) && d < off {
			best, off = w, d
		}
	}
	if best > 0 {
		return best
	}
	return max(time.Duration(now/number).Truncate(time.Millisecond), time.Millisecond)
}

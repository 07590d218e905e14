package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// bucket is a rate and a burst as they are told.
func (f *frame) bucket() (rate limit.Rate, burst int64, ok bool) {
	if f.told == nil {
		return limit.Rate{}, 0, false
	}
	switch f.told.Algorithm {
	case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
		rate, burst = f.told.Rate, f.told.Burst
	case limit.LeakyQueue:
		rate, burst = f.told.Rate, f.told.Queue+1
	default:
		f.misfit("a rate and a burst")
		return limit.Rate{}, 0, false
	}
	f.setLimit(limit.Spec{Algorithm: f.bucketKind(), Rate: rate, Burst: burst}, "told")
	return rate, burst, true
}

func (f *frame) bucketKind() limit.Algorithm {
	if f.layout.Decode.Name == "tat" {
		return limit.GCRA
	}
	return limit.TokenBucket
}

// window is a count and a window, as the name says or as they are told.
func (f *frame) window(kind limit.Algorithm) (most int64, w time.Duration, ok bool) {
	if n, ok := parseNumber(f.parts["limit"]); ok && n.isWhole && n.whole > 0 {
		if w, ok := f.namedWindow(); ok {
			f.setLimit(limit.Spec{Algorithm: kind, Limit: n.whole, Window: w}, "name")
			return n.whole, w, true
		}
	}
	if f.told == nil {
		return 0, 0, false
	}
	switch f.told.Algorithm {
	case limit.FixedWindow, limit.SlidingCounter, limit.SlidingLog:
		if named, ok := f.namedWindow(); ok && named != f.told.Window && !f.layout.Decode.Calendar {
			f.misfit("a window of " + limit.ShortDuration(named) + ", as the name says")
			return 0, 0, false
		}
		f.setLimit(limit.Spec{Algorithm: kind, Limit: f.told.Limit, Window: f.told.Window}, "told")
		return f.told.Limit, f.told.Window, true
	}
	f.misfit("a count and a window")
	return 0, 0, false
}

// periods are the windows that names say in words. Months and years are those
// of writers that count 30 and 360 days; see Model.Calendar for the others.
var periods = map[string]time.Duration{
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
	"month": 30 * 24 * time.Hour, "year": 360 * 24 * time.Hour,
}

// namedWindow is the length of the window that the name says.
func (f *frame) namedWindow() (time.Duration, bool) {
	if n, ok := parseNumber(f.parts["seconds"]); ok && n.isWhole && n.whole > 0 && n.whole < math.MaxInt64/4/int64(1e9) {
		return time.Duration(n.whole) * time.Second, true
	}
	w, ok := periods[f.parts["period"]]
	if !ok {
		return 0, false
	}
	if text, ok := f.parts["multiple"]; ok {
		n, ok := parseNumber(text)
		if !ok || !n.isWhole || n.whole < 1 || n.whole > math.MaxInt64/4/int64(w) {
			return 0, false
		}
		w *= time.Duration(n.whole)
	}
	return w, true
}

func (f *frame) setLimit(s limit.Spec, from string) {
	f.r.Limit, f.r.LimitFrom = &s, from
	f.r.Algorithm = s.Algorithm.String()
}

// misfit says that the limit that was told has other numbers than are needed.
func (f *frame) misfit(needs string) {
	f.r.problem("limit-misfit", fmt.Sprintf("%s was told, and %s keeps a limit by %s.", f.told, f.layout.Writer, needs))
}

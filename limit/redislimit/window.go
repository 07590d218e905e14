package redislimit

import (
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

const (
	// maxLogged is the most units of a sliding log. Its entries, one an
	// admission, take about 130 bytes each in the store.
	maxLogged = 1 << 20
	// maxCounted is the most units of a sliding counter, whose fragment
	// multiplies and divides by counts.
	maxCounted = 1 << 50
)

// numberWindow fills in a window's numbers: the units, its length in µs, and 1
// for ShortWait.
func numberWindow(r *Rule) error {
	s := r.spec
	most := int64(maxExact)
	switch s.Algorithm {
	case limit.SlidingLog:
		most = maxLogged
	case limit.SlidingCounter:
		most = maxCounted
	}
	limitText, windowText := strconv.FormatInt(s.Limit, 10), limit.ShortDuration(s.Window)
	switch {
	case s.Window%time.Microsecond != 0:
		return &limit.SpecError{
			Field: "window", Value: windowText, Reason: "is not a whole number of microseconds, in which Redis tells the time",
			Hint: s.Algorithm.String() + ":limit=" + limitText + ",window=" + limit.ShortDuration(max(s.Window.Truncate(time.Microsecond), time.Microsecond)),
		}
	case s.Limit > most && s.Algorithm == limit.SlidingLog:
		return &limit.SpecError{
			Field: "limit", Value: limitText,
			Reason: "is too many for a log of every call in Redis, which ends at " + strconv.FormatInt(most, 10),
			Hint:   "sliding-counter:limit=" + limitText + ",window=" + windowText,
		}
	case s.Limit > most:
		return &limit.SpecError{
			Field: "limit", Value: limitText, Reason: "is too many to count exactly in a script, which ends at " + strconv.FormatInt(most, 10),
			Hint: s.Algorithm.String() + ":limit=" + strconv.FormatInt(most, 10) + ",window=" + windowText,
		}
	}
	short := "0"
	if s.ShortWait {
		short = "1"
	}
	r.most = s.Limit
	r.numbers = [ruleNumbers]string{limitText, strconv.FormatInt(s.Window.Microseconds(), 10), short}
	return nil
}

package limit

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// day is the d of a rate.
const day = 24 * time.Hour

// Rate is Units per Per; kept as a fraction so that arithmetic stays exact.
// The zero value is not a valid rate.
type Rate struct {
	Units int64
	Per   time.Duration
}

// ParseRate reads a count per unit of time: `10/s 600/m 5/h 100000/d`, with
// decimals, k and M in the count (`0.5/s`, `1.5k/m`) and any Go duration as
// the unit (`5/100ms`). A count with a fraction becomes whole over a longer
// time, so 0.5/s is 1 per 2s, exactly.
func ParseRate(s string) (Rate, error) {
	text := strings.TrimSpace(s)
	bad := func(reason, hint string) (Rate, error) {
		return Rate{}, &SpecError{Field: "rate", Value: s, Reason: reason, Hint: hint}
	}
	count, unit, ok := strings.Cut(text, "/")
	if !ok {
		hint := "10/s"
		if _, reason := parseDecimal(text); reason == "" {
			hint = text + "/s"
		}
		return bad("has no unit of time", hint)
	}
	per, ok := parseUnit(unit)
	if !ok {
		return bad("has a unit of time that is not s, m, h, d or a duration", "10/s")
	}
	if per <= 0 {
		return bad("must be over more than no time", "10/s")
	}
	d, reason := parseDecimal(count)
	if reason != "" {
		return bad(reason, "10/s")
	}
	if d.num == 0 {
		return bad("must be above zero", "1/"+strings.TrimSpace(unit))
	}
	g := gcd(d.num, d.den)
	num, den := d.num/g, d.den/g
	if den > math.MaxInt64/int64(per) {
		return bad("has more digits than fit in 64 bits", "1/d")
	}
	return Rate{Units: num, Per: per * time.Duration(den)}, nil
}

// String is the form that ParseRate reads.
func (r Rate) String() string {
	unit := ""
	switch r.Per {
	case time.Second:
		unit = "s"
	case time.Minute:
		unit = "m"
	case time.Hour:
		unit = "h"
	case day:
		unit = "d"
	default:
		unit = ShortDuration(r.Per)
	}
	return strconv.FormatInt(r.Units, 10) + "/" + unit
}

// perSecond is the rate a second rounded down, at most MaxInt64.
func (r Rate) perSecond() int64 {
	hi, lo := bits.Mul64(uint64(r.Units), uint64(time.Second))
	if hi >= uint64(r.Per) {
		return math.MaxInt64
	}
	q, _ := bits.Div64(hi, lo, uint64(r.Per))
	return int64(min(q, math.MaxInt64))
}

func parseUnit(s string) (time.Duration, bool) {
	switch s = strings.TrimSpace(s); s {
	case "s":
		return time.Second, true
	case "m":
		return time.Minute, true
	case "h":
		return time.Hour, true
	case "d":
		return day, true
	}
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// ShortDuration is d as Go writes it without the zero parts at its end.
func ShortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

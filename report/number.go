package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// seconds turns nanoseconds into seconds for show, to the microsecond.
func seconds(ns int64) float64 { return round(float64(ns)/1e9, 6) }

// millis turns nanoseconds into milliseconds for show, to the microsecond.
func millis(ns int64) float64 { return round(float64(ns)/1e6, 3) }

func round(v float64, digits int) float64 {
	p := math.Pow10(digits)
	if r := math.Round(v*p) / p; !math.IsInf(r, 0) && !math.IsNaN(r) {
		return r
	}
	return v
}

// Count writes an integer with thousands separators.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}

// many writes a count of things: 1 key, 2 keys.
func many(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Count(n) + " " + thing + "s"
}

// amount writes a figure that need not be whole: no decimals from 100 on, one
// below, none when it is whole.
func amount(v float64) string {
	if v == math.Trunc(v) || math.Abs(v) >= 100 {
		if math.Abs(v) < 1<<62 {
			return Count(int64(math.Round(v)))
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	if math.Abs(v) < 0.1 {
		return strconv.FormatFloat(v, 'g', 2, 64) // not "-0.0"
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'f', 1, 64) + "%"
}

// span writes nanoseconds as a short duration.
func span(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= 100*time.Second:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(10 * time.Microsecond)
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// ratio is a/b, and 0 when there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

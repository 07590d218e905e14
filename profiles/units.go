package profiles

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// fault says what is wrong with a text and what to write; nil is nothing.
type fault struct{ msg, hint string }

// parseCount reads a whole number, with k for thousands and M for millions.
func parseCount(s string) (int, *fault) {
	digits, unit := s, 1.0
	switch {
	case strings.HasSuffix(s, "k"):
		digits, unit = s[:len(s)-1], 1e3
	case strings.HasSuffix(s, "M"):
		digits, unit = s[:len(s)-1], 1e6
	}
	v, ok := parseNumber(digits)
	if !ok {
		f := &fault{"is not a number", "write digits, such as 40, 10k or 1M"}
		if plain := strings.NewReplacer(",", "", "_", "", " ", "", "K", "k", "m", "M").Replace(s); plain != s {
			if _, again := parseCount(plain); again == nil {
				f.hint = "did you mean " + plain + "?"
			}
		}
		return 0, f
	}
	if v *= unit; v != math.Trunc(v) {
		return 0, &fault{"is not a whole number", ""}
	}
	if math.Abs(v) > 1e12 {
		return 0, &fault{"is out of range", ""}
	}
	return int(v), nil
}

// ParseRate reads calls per second from a text such as 200/s, 600/m, 5/h,
// 100000/d or 2k/s.
func ParseRate(s string) (float64, error) {
	v, f := parseRate(s)
	if f == nil && !(v >= 0 && v <= MaxRate) {
		f = &fault{"is out of range", fmt.Sprintf("a rate is from 0 to %s", formatRate(MaxRate))}
	}
	if f != nil {
		return 0, &Error{Msg: "rate " + shown(s) + " " + f.msg, Hint: f.hint}
	}
	return v, nil
}

var perUnit = map[string]float64{"s": 1, "m": 60, "h": 3600, "d": 86400}

func parseRate(s string) (float64, *fault) {
	count, unit, found := strings.Cut(s, "/")
	if v, ok := parseNumber(s); ok && !found {
		if v == 0 {
			return 0, nil
		}
		return 0, &fault{"has no unit", "did you mean " + s + "/s?"}
	}
	seconds, known := perUnit[strings.TrimSpace(unit)]
	scale := 1.0
	count = strings.TrimSpace(count)
	switch {
	case strings.HasSuffix(count, "k"):
		count, scale = count[:len(count)-1], 1e3
	case strings.HasSuffix(count, "M"):
		count, scale = count[:len(count)-1], 1e6
	}
	v, ok := parseNumber(count)
	if !ok || !known {
		return 0, &fault{"is not a rate", "write a number and a unit, such as 200/s, 600/m, 5/h or 100000/d"}
	}
	return v * scale / seconds, nil
}

// parseNumber reads a plain decimal: no exponent, infinity, NaN or hex, which
// are more often a slip than meant.
func parseNumber(s string) (float64, bool) {
	if len(s) > 40 || strings.Trim(s, "+-.0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// parseShare reads a number such as 0.2, or 20%.
func parseShare(s string) (float64, *fault) {
	digits, percent := strings.CutSuffix(s, "%")
	v, ok := parseNumber(digits)
	if !ok {
		return 0, &fault{"is not a number", "write a number such as 0.2, or 20%"}
	}
	if percent {
		v /= 100
	}
	return v, nil
}

func parseDuration(s string) (time.Duration, *fault) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return d, nil
	}
	f := &fault{"is not a duration", "write a number and a unit, such as 2m, 1.5s or 100ms"}
	if _, ok := parseNumber(s); ok {
		f = &fault{"has no unit", "did you mean " + s + "s?"}
	} else if days, ok := strings.CutSuffix(s, "d"); ok {
		if v, ok := parseNumber(days); ok && math.Abs(v) < 1e4 {
			f.hint = fmt.Sprintf("did you mean %vh?", v*24)
		}
	}
	return 0, f
}

func parseBool(s string) (bool, *fault) {
	switch s {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	f := &fault{"is neither true nor false", ""}
	switch strings.ToLower(s) {
	case "yes", "y", "on", "1", "true":
		f.hint = "did you mean true?"
	case "no", "n", "off", "0", "false":
		f.hint = "did you mean false?"
	}
	return false, f
}

// formatRate is the shortest text that parseRate reads back to the same rate.
func formatRate(r float64) string { return formatNumber(r) + "/s" }

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// formatCount writes whole thousands and millions with their letter.
func formatCount(n int) string {
	switch {
	case n != 0 && n%1_000_000 == 0:
		return strconv.Itoa(n/1_000_000) + "M"
	case n != 0 && n%10_000 == 0:
		return strconv.Itoa(n/1_000) + "k"
	}
	return strconv.Itoa(n)
}

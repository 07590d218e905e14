package inspect

import (
	"math"
	"strconv"
	"strings"
)

// maxNumber is the longest text that is read as a number, in bytes.
const maxNumber = 48

// number is one that was read: in full as an int64 when whole, and as the
// double that scripts compute with.
type number struct {
	double     float64
	whole      int64
	isWhole    bool
	scientific bool // it was written with an exponent, and has lost digits
}

// parseNumber reads decimal digits with a sign, a point and an exponent, as
// Redis scripts write numbers; nothing else.
func parseNumber(s string) (number, bool) {
	if s == "" || len(s) > maxNumber {
		return number{}, false
	}
	digits := true
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c == '-', c == '+':
		case c == '.', c == 'e', c == 'E':
			digits = false
		default:
			return number{}, false
		}
	}
	if digits {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return number{double: float64(n), whole: n, isWhole: true}, true
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return number{}, false
	}
	n := number{double: f, scientific: strings.ContainsAny(s, "eE")}
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		n.whole, n.isWhole = int64(f), true
	}
	return n, true
}

// grain is the step from one number that text could say to the next: that of
// its last digit, and no less than a double's.
func (n number) grain(text string) float64 {
	mantissa, power, _ := strings.Cut(strings.ToLower(text), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, err := strconv.Atoi(power)
	if err != nil {
		e = 0 // there is none
	}
	double := math.Abs(n.double)
	return max(math.Pow10(e-len(decimals)), math.Nextafter(double, math.Inf(1))-double)
}

// floor is the number rounded down, kept within int64.
func (n number) floor() int64 {
	if n.isWhole {
		return n.whole
	}
	return floorInt(n.double)
}

// floorInt is f rounded down, kept within int64.
func floorInt(f float64) int64 {
	switch f = math.Floor(f); {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(f)
}

// units of time, in ns.
var units = map[string]int64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}

// parseInstant reads a time in units since epoch (unix seconds) as unix ns,
// with all digits that are there.
func parseInstant(s, unit string, epoch int64) (int64, bool) {
	n, ok := parseNumber(s)
	if !ok {
		return 0, false
	}
	each := units[unit]
	if whole, part, point := strings.Cut(s, "."); point && !n.scientific {
		w, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || len(part) > 18 {
			return instantOf(n.double, each, epoch)
		}
		part = (part + "000000000")[:9]
		f, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			return 0, false
		}
		ns, ok := timesAdd(w, each, epoch)
		f = int64(float64(f) / 1e9 * float64(each))
		if strings.HasPrefix(whole, "-") {
			f = -f
		}
		return ns + f, ok && !overflows(ns, f)
	}
	if n.isWhole && !n.scientific {
		return timesAdd(n.whole, each, epoch)
	}
	return instantOf(n.double, each, epoch)
}

func instantOf(f float64, each, epoch int64) (int64, bool) {
	ns := f*float64(each) + float64(epoch)*1e9
	if math.Abs(ns) > 9e18 {
		return 0, false
	}
	return int64(ns), true
}

// timesAdd is n*each + epoch seconds, and whether it fits.
func timesAdd(n, each, epoch int64) (int64, bool) {
	if n > math.MaxInt64/each || n < math.MinInt64/each || overflows(n*each, epoch*1e9) {
		return 0, false
	}
	return n*each + epoch*1e9, true
}

func overflows(a, b int64) bool {
	return b > 0 && a > math.MaxInt64-b || b < 0 && a < math.MinInt64-b
}

// plausible is how far from now a time in a limiter's state may be, in ns.
const plausible = 5 * 365 * 24 * 3600 * int64(1e9)

// isInstant reports whether s is a time not too far from now.
func isInstant(s, unit string, epoch, now int64) bool {
	ns, ok := parseInstant(s, unit, epoch)
	return ok && ns > now-plausible && ns < now+plausible
}

package dialect

import "time"

// number is a decimal without exponent, exact to a nanosecond and rounded up
// beyond, so that a wait made from it is never too short. The zero value is 0.
type number struct {
	whole      uint64 // at most bigWhole
	nanos      uint32 // below 1e9
	neg, point bool
}

// bigWhole is where whole numbers saturate.
const bigWhole = 1_000_000_000_000_000_000

// scanNumber reads [-]digits[.digits] at the start of b; n is its length, 0
// when there is none.
func scanNumber(b []byte) (v number, n int) {
	i := 0
	if i < len(b) && b[i] == '-' {
		v.neg = true
		i++
	}
	start := i
	for ; i < len(b) && isDigit(b[i]); i++ {
		if v.whole < bigWhole/10 {
			v.whole = v.whole*10 + uint64(b[i]-'0')
		} else {
			v.whole = bigWhole
		}
	}
	if i == start {
		return number{}, 0
	}
	if i+1 < len(b) && b[i] == '.' && isDigit(b[i+1]) {
		v.point = true
		i++
		more := false
		for scale := uint32(100_000_000); i < len(b) && isDigit(b[i]); i++ {
			if scale == 0 {
				more = more || b[i] != '0'
				continue
			}
			v.nanos += scale * uint32(b[i]-'0')
			scale /= 10
		}
		if more {
			v.nanos++
			if v.nanos == 1_000_000_000 {
				v.nanos = 0
				v.whole = min(v.whole+1, bigWhole)
			}
		}
	}
	return v, i
}

// readNumber reads b as one number and nothing else.
func readNumber(b []byte) (number, bool) {
	v, n := scanNumber(b)
	return v, n > 0 && n == len(b)
}

// times is v units, cut to MaxWait. The sign is ignored.
func (v number) times(unit time.Duration) time.Duration {
	if v.whole > uint64(MaxWait/unit) {
		return MaxWait
	}
	frac := (int64(v.nanos)*int64(unit/time.Nanosecond) + 999_999_999) / 1_000_000_000
	if unit > time.Second { // minutes and up would overflow above
		frac = int64(v.nanos) * int64(unit/time.Second)
	}
	return min(time.Duration(v.whole)*unit+time.Duration(frac), MaxWait)
}

// count is v as a whole count, rounded down.
func (v number) count() int64 {
	n := int64(v.whole)
	if v.neg {
		return -n
	}
	return n
}

// seconds is whole seconds as a duration, cut to MaxWait; negative is 0.
func seconds(n int64) time.Duration {
	if n <= 0 {
		return 0
	}
	if n > int64(MaxWait/time.Second) {
		return MaxWait
	}
	return time.Duration(n) * time.Second
}

// readDuration reads a duration as Go writes it (1h2m3s, 8.64s, 12ms), and
// days, which Go does not have. No sign.
func readDuration(b []byte) (time.Duration, bool) {
	d, n := scanDuration(b)
	return d, n > 0 && n == len(b)
}

// scanDuration reads as many number-unit pairs as b begins with.
func scanDuration(b []byte) (d time.Duration, n int) {
	for n < len(b) && isDigit(b[n]) {
		v, k := scanNumber(b[n:])
		u, l := unitOf(b[n+k:])
		if l == 0 {
			break
		}
		d = min(d+v.times(u), MaxWait)
		n += k + l
	}
	return d, n
}

func unitOf(b []byte) (time.Duration, int) {
	if len(b) == 0 {
		return 0, 0
	}
	if len(b) > 1 && b[1] == 's' {
		switch b[0] {
		case 'n':
			return time.Nanosecond, 2
		case 'u':
			return time.Microsecond, 2
		case 'm':
			return time.Millisecond, 2
		}
	}
	if len(b) > 2 && b[2] == 's' && (string(b[:2]) == "µ" || string(b[:2]) == "μ") {
		return time.Microsecond, 3
	}
	switch b[0] {
	case 's':
		return time.Second, 1
	case 'm':
		return time.Minute, 1
	case 'h':
		return time.Hour, 1
	case 'd':
		return 24 * time.Hour, 1
	}
	return 0, 0
}

func isDigit(c byte) bool { return c-'0' <= 9 }
func isAlpha(c byte) bool { return (c|0x20)-'a' <= 'z'-'a' }

// trim drops the optional white space around a field value.
func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

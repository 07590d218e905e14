package load

import (
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit/dialect"
)

// textKind says how a Retry-After was written. Clients differ in which of
// these they read, so presets look at the text and not only at its meaning.
type textKind uint8

const (
	noText      textKind = iota // no such field
	digitsText                  // 120
	decimalText                 // 0.5, 2., .5
	signedText                  // -5, +5
	floatText                   // 1e3, -0.5
	hexText                     // 0x1f, which JavaScript's Number takes
	imfDate                     // Sat, 14 Mar 2026 10:05:00 GMT
	utcDate                     // the same, ending in UTC
	rfc850Date                  // Saturday, 14-Mar-26 10:05:00 GMT
	asctimeDate                 // Sat Mar 14 10:05:00 2026
	otherDate                   // a date that HTTP does not allow
	otherText                   // anything else
)

// retryAfter is an answer's Retry-After as written.
type retryAfter struct {
	kind textKind
	wait time.Duration // below 0 for a negative number; at most longestWait
}

func (h retryAfter) date() bool { return h.kind >= imfDate && h.kind <= otherDate }

// readRetryAfter reads the field's text. A date's wait is the dialect
// reader's, which knows the answer's Date.
func readRetryAfter(a *dialect.Answer) retryAfter {
	if a == nil {
		return retryAfter{}
	}
	h := &a.Retry
	raw := trim(h.Raw[:min(int(h.RawLen), len(h.Raw))])
	if len(raw) == 0 {
		switch {
		case h.Has && h.Unit == dialect.HTTPDate:
			return retryAfter{imfDate, h.Wait}
		case h.Has && h.Wait%time.Second == 0:
			return retryAfter{digitsText, h.Wait}
		case h.Has:
			return retryAfter{decimalText, h.Wait}
		case a.Notes&dialect.BadRetryAfter != 0:
			return retryAfter{kind: otherText}
		}
		return retryAfter{}
	}
	if out, ok := readNumber(raw); ok {
		return out
	}
	kind := dateKind(raw)
	if h.Has && (h.Unit == dialect.HTTPDate || h.Unit == dialect.ISOTime) {
		if kind == otherText {
			kind = otherDate
		}
		return retryAfter{kind, h.Wait}
	}
	return retryAfter{kind: otherText}
}

// readNumber reads seconds, however they are written.
func readNumber(raw []byte) (retryAfter, bool) {
	i, negative := 0, false
	kind := digitsText
	if raw[0] == '-' || raw[0] == '+' {
		i, negative, kind = 1, raw[0] == '-', signedText
	}
	var whole time.Duration
	digits := 0
	for ; i < len(raw) && isDigit(raw[i]); i++ {
		whole = plus(times(whole, 10), time.Duration(raw[i]-'0'))
		digits++
	}
	wait := times(time.Second, int64(whole))
	if i < len(raw) && raw[i] == '.' {
		unit := time.Second
		for i++; i < len(raw) && isDigit(raw[i]); i++ {
			unit /= 10
			wait = plus(wait, unit*time.Duration(raw[i]-'0'))
			digits++
		}
		if kind = decimalText; raw[0] == '-' || raw[0] == '+' {
			kind = floatText
		}
	}
	if i == len(raw) && digits > 0 {
		if negative {
			wait = -wait
		}
		return retryAfter{kind, wait}, true
	}
	return readOddNumber(raw)
}

// readOddNumber takes exponents and hexadecimal. It may allocate; such a
// Retry-After is hardly ever sent.
func readOddNumber(raw []byte) (retryAfter, bool) {
	s := string(raw)
	if len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") {
		n, err := strconv.ParseUint(s[2:], 16, 63)
		return retryAfter{hexText, times(time.Second, int64(n))}, err == nil
	}
	for _, c := range raw {
		if !isDigit(c) && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return retryAfter{}, false
		}
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && f == 0 {
		return retryAfter{}, false
	}
	// Float is safe here: this is how those clients hold it, and the range is
	// checked before the conversion. An overflow gives an infinity.
	f = min(max(f*1e9, -float64(longestWait)), float64(longestWait))
	if f >= float64(longestWait) {
		return retryAfter{floatText, longestWait}, true
	}
	return retryAfter{floatText, time.Duration(f)}, true
}

// dateKind tells the forms of RFC 9110 section 5.6.7 apart by their shape.
func dateKind(raw []byte) textKind {
	switch {
	case shaped(raw, "aaa, 00 aaa 0000 00:00:00 GMT"):
		return imfDate
	case shaped(raw, "aaa, 00 aaa 0000 00:00:00 UTC"):
		return utcDate
	case shaped(raw, "aaa aaa _0 00:00:00 0000"):
		return asctimeDate
	}
	for i, c := range raw {
		if c == ',' && shaped(raw[i:], ", 00-aaa-00 00:00:00 GMT") {
			return rfc850Date
		}
	}
	return otherText
}

// shaped matches letters (a), digits (0), a digit or a space (_), and
// anything else as itself.
func shaped(raw []byte, shape string) bool {
	if len(raw) != len(shape) {
		return false
	}
	for i, c := range raw {
		switch w := shape[i]; w {
		case 'a':
			if c|0x20 < 'a' || c|0x20 > 'z' {
				return false
			}
		case '0':
			if !isDigit(c) {
				return false
			}
		case '_':
			if !isDigit(c) && c != ' ' {
				return false
			}
		default:
			if c != w {
				return false
			}
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func trim(raw []byte) []byte {
	for len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t') {
		raw = raw[1:]
	}
	for len(raw) > 0 && (raw[len(raw)-1] == ' ' || raw[len(raw)-1] == '\t') {
		raw = raw[:len(raw)-1]
	}
	return raw
}

// jsTimer is what a JavaScript host makes of a delay: one above 2^31-1 ms
// overflows its timer and fires after 1 ms, and so does a negative one.
func jsTimer(d time.Duration) time.Duration {
	const longest = (1<<31 - 1) * time.Millisecond
	if d < 0 || d > longest {
		return time.Millisecond
	}
	return d
}

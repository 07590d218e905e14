package replay

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

var (
	errNoTime    = errors.New("no time")
	errTime      = errors.New("not a time")
	errTimeRange = errors.New("a time before 1973 or after 2200")
	errTimeKind  = errors.New("the time is counted from another start than those above")
)

// instants reads times of one trace, which are all seconds since its start or
// all of the calendar.
type instants struct {
	known    bool
	relative bool
	last     [32]byte // text of the last log time, and what it is
	lastLen  int
	lastAt   int64
}

const lastInstant = 7_258_118_400 // 2200-01-01, unix s

// read is ns since 1970, or since the start of the trace.
func (in *instants) read(b []byte) (int64, error) {
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return 0, errNoTime
	}
	at, relative, err := parseInstant(b)
	if err != nil {
		return 0, err
	}
	if in.known && in.relative != relative {
		return 0, errTimeKind
	}
	in.known, in.relative = true, relative
	return at, nil
}

// readLog is read for 10/Oct/2000:13:55:36 +0000, which repeats from line to
// line.
func (in *instants) readLog(b []byte) (int64, error) {
	if len(b) == in.lastLen && in.lastLen > 0 && string(b) == string(in.last[:in.lastLen]) {
		return in.lastAt, nil
	}
	at, ok := parseLogTime(b)
	if !ok {
		return in.read(b)
	}
	if in.known && in.relative {
		return 0, errTimeKind
	}
	in.known = true
	in.lastLen, in.lastAt = copy(in.last[:], b), at
	return at, nil
}

// parseInstant reads seconds since the start of a trace (below 1e8), unix
// seconds, milliseconds, microseconds or nanoseconds by their size, or an
// RFC 3339 time; one without a zone is UTC.
func parseInstant(b []byte) (at int64, relative bool, err error) {
	if len(b) >= 19 && b[4] == '-' {
		at, ok := parseRFC3339(b)
		if !ok {
			return 0, false, errTime
		}
		return at, false, nil
	}
	if at, ok := parseLogTime(b); ok {
		return at, false, nil
	}
	whole, frac, ok := decimal(b)
	if !ok {
		f, err := strconv.ParseFloat(string(b), 64)
		if err != nil || !(f >= 0 && f < 1e19) {
			return 0, false, errTime
		}
		var part float64
		f, part = math.Modf(f)
		whole, frac = uint64(f), int64(part*1e9)
	}
	switch {
	case whole < 1e8:
		return int64(whole)*1e9 + frac, true, nil
	case whole < 1e11:
		if whole > lastInstant {
			return 0, false, errTimeRange
		}
		return int64(whole)*1e9 + frac, false, nil
	case whole < 1e14:
		at = int64(whole)*1e6 + frac/1e3
	case whole < 1e17:
		at = int64(whole)*1e3 + frac/1e6
	case whole < 1e19:
		if whole > lastInstant*1e9 {
			return 0, false, errTimeRange
		}
		at = int64(whole)
	default:
		return 0, false, errTimeRange
	}
	if at < 1e17 || at/1e9 > lastInstant {
		return 0, false, errTimeRange
	}
	return at, false, nil
}

// decimal reads digits with a fraction, which is in billionths.
func decimal(b []byte) (whole uint64, frac int64, ok bool) {
	i := 0
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if i == 19 {
			return 0, 0, false
		}
		whole = whole*10 + uint64(b[i]-'0')
	}
	if i == 0 {
		return 0, 0, false
	}
	if i == len(b) {
		return whole, 0, true
	}
	if b[i] != '.' {
		return 0, 0, false
	}
	frac, n := fraction(b[i+1:])
	return whole, frac, n > 0 && i+1+n == len(b)
}

// fraction reads digits after a point as billionths and says how many it read.
func fraction(b []byte) (frac int64, n int) {
	unit := int64(1e8)
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		frac += int64(b[n]-'0') * unit
		unit /= 10
		n++
	}
	return frac, n
}

// parseRFC3339 reads 2006-01-02T15:04:05.999Z07:00; a space may stand for the
// T, and the zone may be missing or without a colon.
func parseRFC3339(b []byte) (int64, bool) {
	year, ok1 := digits(b[0:4])
	month, ok2 := digits(b[5:7])
	day, ok3 := digits(b[8:10])
	if !ok1 || !ok2 || !ok3 || b[4] != '-' || b[7] != '-' || b[10] != 'T' && b[10] != 't' && b[10] != ' ' {
		return 0, false
	}
	second, ok := clockTime(b[11:19])
	if !ok || !validDay(year, month, day) {
		return 0, false
	}
	b = b[19:]
	var frac int64
	if len(b) > 1 && (b[0] == '.' || b[0] == ',') {
		n := 0
		if frac, n = fraction(b[1:]); n == 0 {
			return 0, false
		}
		b = b[1+n:]
	}
	offset, ok := zone(b)
	if !ok {
		return 0, false
	}
	return (daysSince1970(year, month, day)*86400+second-offset)*1e9 + frac, true
}

var months = [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}

// parseLogTime reads 10/Oct/2000:13:55:36 +0000.
func parseLogTime(b []byte) (int64, bool) {
	if len(b) < 20 || b[2] != '/' || b[6] != '/' || b[11] != ':' {
		return 0, false
	}
	month := int64(0)
	for i, m := range months {
		if string(b[3:6]) == m {
			month = int64(i + 1)
		}
	}
	day, ok1 := digits(b[0:2])
	year, ok2 := digits(b[7:11])
	second, ok3 := clockTime(b[12:20])
	offset, ok4 := zone(bytes.TrimSpace(b[20:]))
	if !ok1 || !ok2 || !ok3 || !ok4 || !validDay(year, month, day) {
		return 0, false
	}
	return (daysSince1970(year, month, day)*86400 + second - offset) * 1e9, true
}

// digits reads a few decimal digits.
func digits(b []byte) (n int64, ok bool) {
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// clockTime reads 15:04:05 as seconds; a leap second counts as the next.
func clockTime(b []byte) (int64, bool) {
	h, ok1 := digits(b[0:2])
	m, ok2 := digits(b[3:5])
	s, ok3 := digits(b[6:8])
	return h*3600 + m*60 + s, ok1 && ok2 && ok3 && b[2] == ':' && b[5] == ':' && h < 24 && m < 60 && s <= 60
}

// zone reads Z, +01:00, +0100 or nothing as seconds east of UTC.
func zone(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) == 1 && (b[0] == 'Z' || b[0] == 'z') {
		return 0, true
	}
	sign := int64(1)
	switch b[0] {
	case '-':
		sign = -1
	case '+':
	default:
		return 0, false
	}
	b = b[1:]
	if len(b) == 5 && b[2] == ':' {
		h, ok1 := digits(b[:2])
		m, ok2 := digits(b[3:])
		return sign * (h*3600 + m*60), ok1 && ok2 && h < 24 && m < 60
	}
	if len(b) != 4 {
		return 0, false
	}
	h, ok1 := digits(b[:2])
	m, ok2 := digits(b[2:])
	return sign * (h*3600 + m*60), ok1 && ok2 && h < 24 && m < 60
}

func validDay(year, month, day int64) bool {
	return year >= 1973 && year < 2200 && month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// daysSince1970 counts days of the Gregorian calendar; the year is taken to
// begin in March, so that the leap day ends it.
func daysSince1970(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	return 365*year + year/4 - year/100 + year/400 + (153*(month-3)+2)/5 + day - 1 - 719468
}

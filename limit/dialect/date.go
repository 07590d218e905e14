package dialect

import "time"

// instant is a point in time that cannot overflow for any year up to 9999.
type instant struct {
	sec  int64 // unix
	nsec int32
}

func instantOf(ns int64) instant {
	s := ns / 1e9
	n := ns % 1e9
	if n < 0 {
		s, n = s-1, n+1e9
	}
	return instant{s, int32(n)}
}

// since is t - u cut to [0, MaxWait]; past reports that it was negative.
func (t instant) since(u instant) (d time.Duration, past bool) {
	s := t.sec - u.sec // both within ±1e13, no overflow
	n := int64(t.nsec) - int64(u.nsec)
	if n < 0 {
		s, n = s-1, n+1e9
	}
	switch {
	case s < 0:
		return 0, true
	case s >= int64(MaxWait/time.Second):
		return MaxWait, false
	}
	return time.Duration(s*1e9 + n), false
}

// readDate reads the three forms of an HTTP-date (RFC 9110, 5.6.7) and what
// comes near: other spacing or case, UTC for GMT, offsets, JavaScript's date
// text, ISO 8601. http reports one of the three forms. now is needed for years
// of two digits.
func readDate(b []byte, now instant) (t instant, unit Unit, http, ok bool) {
	if len(b) < 16 || len(b) > 80 {
		return t, NoUnit, false, false
	}
	if isDigit(b[0]) && b[4] == '-' {
		t, ok = readISO(b)
		return t, ISOTime, false, ok
	}
	if !isAlpha(b[0]) && !isDigit(b[0]) {
		return t, NoUnit, false, false
	}
	var d civil
	if !d.readText(b) {
		return t, NoUnit, false, false
	}
	if d.short {
		d.year = fullYear(d, now)
	}
	if t, ok = d.instant(); !ok {
		return t, NoUnit, false, false
	}
	return t, HTTPDate, isHTTPDate(b), true
}

func isHTTPDate(b []byte) bool {
	if shaped(b, "Aaa, 00 Aaa 0000 00:00:00 GMT") || shaped(b, "Aaa Aaa _0 00:00:00 0000") {
		return true
	}
	i := 0
	for i < len(b) && isAlpha(b[i]) {
		i++
	}
	return i > 5 && shaped(b[i:], ", 00-Aaa-00 00:00:00 GMT")
}

// shaped compares b with a pattern: 0 is a digit, _ a digit or space, Aaa a
// capitalised word, everything else itself.
func shaped(b []byte, pattern string) bool {
	if len(b) != len(pattern) {
		return false
	}
	for i := range b {
		c, ok := b[i], false
		switch pattern[i] {
		case '0':
			ok = isDigit(c)
		case '_':
			ok = isDigit(c) || c == ' '
		case 'A':
			ok = c >= 'A' && c <= 'Z'
		case 'a':
			ok = c >= 'a' && c <= 'z'
		default:
			ok = c == pattern[i]
		}
		if !ok {
			return false
		}
	}
	return true
}

// civil is a date and time of day under construction. Month 0, day 0 and
// clock false mean not seen yet.
type civil struct {
	year, month, day int
	hour, min, sec   int
	nanos            uint32
	offset           int // seconds east of UTC
	hasYear, clock   bool
	short            bool // year of two digits
}

const months = "janfebmaraprmayjunjulaugsepoctnovdec"
const weekdays = "sunmontuewedthufrisat"

// readText takes words and numbers in any order that is unambiguous.
func (d *civil) readText(b []byte) bool {
	zoned := false
	for i := 0; i < len(b); {
		c := b[i]
		switch {
		case c == ' ' || c == ',' || c == '-' && !d.clock:
			i++
		case c == '(':
			for i < len(b) && b[i] != ')' {
				i++
			}
			i++
		case isAlpha(c):
			j := i
			for j < len(b) && isAlpha(b[j]) {
				j++
			}
			w := b[i:j]
			i = j
			switch {
			case fold(w, "gmt"), fold(w, "utc"), fold(w, "ut"), fold(w, "z"):
				if zoned || !d.clock {
					return false
				}
				zoned = true
			case len(w) < 3:
				return false
			default:
				if k := wordAt(months, w[:3]); k >= 0 && d.month == 0 {
					d.month = k + 1
				} else if wordAt(weekdays, w[:3]) < 0 {
					return false
				}
			}
		case isDigit(c):
			j := i
			for j < len(b) && isDigit(b[j]) {
				j++
			}
			if j < len(b) && b[j] == ':' {
				n, ok := d.readClock(b[i:])
				if !ok {
					return false
				}
				i += n
				continue
			}
			v, digits := 0, j-i
			if digits > 4 {
				return false
			}
			for ; i < j; i++ {
				v = v*10 + int(b[i]-'0')
			}
			switch {
			case digits == 4 && !d.hasYear:
				d.year, d.hasYear = v, true
			case digits <= 2 && d.day == 0 && v > 0:
				d.day = v
			case digits == 2 && !d.hasYear:
				d.year, d.hasYear, d.short = v, true, true
			default:
				return false
			}
		case c == '+' || c == '-':
			n, ok := d.readOffset(b[i:])
			if !ok {
				return false
			}
			i += n
			zoned = true
		default:
			return false
		}
	}
	return d.hasYear && d.month > 0 && d.day > 0 && d.clock
}

func wordAt(table string, w []byte) int {
	for i := 0; i < len(table); i += 3 {
		if fold(w, table[i:i+3]) {
			return i / 3
		}
	}
	return -1
}

// readClock reads hh:mm[:ss[.fraction]].
func (d *civil) readClock(b []byte) (n int, ok bool) {
	two := func(i int) (int, bool) {
		if i+2 > len(b) || !isDigit(b[i]) || !isDigit(b[i+1]) {
			return 0, false
		}
		return int(b[i]-'0')*10 + int(b[i+1]-'0'), true
	}
	if d.clock {
		return 0, false
	}
	if d.hour, ok = two(0); !ok || len(b) < 5 || b[2] != ':' {
		return 0, false
	}
	if d.min, ok = two(3); !ok {
		return 0, false
	}
	d.clock = true
	n = 5
	if n < len(b) && b[n] == ':' {
		if d.sec, ok = two(6); !ok {
			return 0, false
		}
		n = 8
		if n+1 < len(b) && (b[n] == '.' || b[n] == ',') && isDigit(b[n+1]) {
			end := n + 1
			for end < len(b) && isDigit(b[end]) {
				end++
			}
			scale := uint32(100_000_000)
			for i := n + 1; i < end && scale > 0; i++ {
				d.nanos += scale * uint32(b[i]-'0')
				scale /= 10
			}
			n = end
		}
	}
	return n, d.hour < 24 && d.min < 60 && d.sec <= 60
}

// readOffset reads ±hh, ±hhmm or ±hh:mm.
func (d *civil) readOffset(b []byte) (n int, ok bool) {
	var v [4]int
	k := 0
	n = 1
	for n < len(b) && k < 4 {
		if b[n] == ':' && k == 2 {
			n++
			continue
		}
		if !isDigit(b[n]) {
			break
		}
		v[k] = int(b[n] - '0')
		k++
		n++
	}
	if k != 2 && k != 4 || !d.clock || d.offset != 0 {
		return 0, false
	}
	d.offset = (v[0]*10+v[1])*3600 + (v[2]*10+v[3])*60
	if d.offset > 24*3600 {
		return 0, false
	}
	if b[0] == '-' {
		d.offset = -d.offset
	}
	return n, true
}

// readISO reads YYYY-MM-DD, T or space, hh:mm[:ss[.fraction]] and a zone; a
// missing zone is UTC.
func readISO(b []byte) (t instant, ok bool) {
	if !shaped(b[:10], "0000-00-00") || b[10]|0x20 != 't' && b[10] != ' ' {
		return t, false
	}
	at := func(i, n int) (v int) {
		for _, c := range b[i : i+n] {
			v = v*10 + int(c-'0')
		}
		return v
	}
	d := civil{year: at(0, 4), month: at(5, 2), day: at(8, 2)}
	n, ok := d.readClock(b[11:])
	if !ok {
		return t, false
	}
	zone := trim(b[11+n:])
	switch {
	case len(zone) == 0, fold(zone, "z"), fold(zone, "utc"), fold(zone, "gmt"):
	case zone[0] == '+' || zone[0] == '-':
		if n, ok = d.readOffset(zone); !ok || n != len(zone) {
			return t, false
		}
	default:
		return t, false
	}
	return d.instant()
}

// instant checks the date and converts it; a leap second is the next minute's
// first.
func (d civil) instant() (t instant, ok bool) {
	if d.year < 1 || d.month < 1 || d.month > 12 || d.day < 1 || d.day > daysIn(d.year, d.month) {
		return t, false
	}
	day := daysFromCivil(d.year, d.month, d.day)
	return instant{day*86400 + int64(d.hour*3600+d.min*60+d.sec-d.offset), int32(d.nanos)}, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// daysFromCivil counts days since 1970-01-01 in the proleptic Gregorian
// calendar: years begin in March so that the leap day comes last (H. Hinnant,
// chrono-Compatible Low-Level Date Algorithms).
func daysFromCivil(year, month, day int) int64 {
	y := int64(year)
	if month <= 2 {
		y--
	}
	era := y / 400 // y >= 0
	yoe := y - era*400
	m := int64((month + 9) % 12)
	doy := (153*m+2)/5 + int64(day) - 1
	return era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468
}

// fullYear is RFC 9110's rule for years of two digits: the reading that is no
// more than 50 years ahead, and otherwise the latest.
func fullYear(d civil, now instant) int {
	const year = 31_556_952 // mean Gregorian year in seconds
	century := (1970 + int(now.sec/year)) / 100 * 100
	for y := century + 100; ; y -= 100 {
		full := d
		full.year = y + d.year
		if daysFromCivil(max(full.year, 1), d.month, min(d.day, 28))*86400 <= now.sec+50*year || y < 100 {
			return full.year
		}
	}
}

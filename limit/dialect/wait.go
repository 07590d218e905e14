package dialect

import "time"

// form says how a bare number in a wait field is to be read.
type form uint8

const (
	asRetryAfter form = iota // seconds (RFC 9110), or a date
	asReset                  // by magnitude: seconds left, unix seconds or milliseconds
	asLeft                   // seconds left
	asMillis                 // milliseconds left
	asDuration               // a duration text only
)

// wait is a value before it is given a source.
type wait struct {
	d     time.Duration
	unit  Unit
	notes Notes
}

// readWait reads a field that holds one wait, or several that proxies joined
// with commas: then the larger wins.
func (r *reader) readWait(b []byte, f form) (w wait, ok bool) {
	b = trim(b)
	if w, ok = r.oneWait(b, f); ok {
		return w, true
	}
	failed := w
	start, n := 0, 0
	for i := 0; i <= len(b); i++ {
		if i < len(b) && b[i] != ',' {
			continue
		}
		one, good := r.oneWait(trim(b[start:i]), f)
		if !good {
			continue // a date has a comma of its own
		}
		n++
		start = i + 1
		if one.d > w.d || n == 1 {
			one.notes |= w.notes
			w = one
		} else {
			w.notes |= one.notes
		}
	}
	if n == 0 || start <= len(b) {
		return failed, false
	}
	w.notes |= Duplicate
	return w, true
}

func (r *reader) oneWait(b []byte, f form) (w wait, ok bool) {
	if len(b) == 0 {
		return w, false
	}
	if isDigit(b[0]) || b[0] == '-' {
		if v, ok := readNumber(b); ok {
			return r.numberWait(v, f)
		}
		if f != asRetryAfter && f != asLeft {
			if d, ok := readDuration(b); ok {
				return wait{d: d, unit: DurationText}, true
			}
		}
	}
	if f == asMillis || f == asLeft || f == asDuration {
		return w, false
	}
	now := r.clock()
	t, unit, http, ok := readDate(b, now)
	if !ok {
		return w, false
	}
	w = r.until(t, unit)
	if !http && f == asRetryAfter {
		w.notes |= NotHTTPDate
	}
	return w, true
}

// until is the wait until t by the server's clock.
func (r *reader) until(t instant, unit Unit) (w wait) {
	w.unit = unit
	var past bool
	if w.d, past = t.since(r.clock()); past {
		w.notes = Past
	}
	return w
}

func (r *reader) numberWait(v number, f form) (w wait, ok bool) {
	if v.neg {
		if f == asReset && v.whole == 1 && !v.point {
			w.notes = Unlimited // -1 is how "no reset" is spelled
			return w, false
		}
		return w, false
	}
	unixS := v.whole >= 1e9 && v.whole < 1e10
	unixMS := v.whole >= 1e12 && v.whole < 1e13
	switch f {
	case asRetryAfter:
		w = wait{d: v.times(time.Second), unit: Seconds}
		if v.point {
			w.notes |= NotWhole
		}
		if unixS || unixMS {
			w.notes |= LikelyUnix
		}
	case asLeft:
		w = wait{d: v.times(time.Second), unit: Seconds}
	case asMillis:
		w = wait{d: v.times(time.Millisecond), unit: Millis}
	case asReset:
		// Below 1e8 is what is left, 1e9 to 1e10 unix seconds, 1e12 to 1e13
		// unix milliseconds; nothing between is guessed.
		switch {
		case v.whole < 1e8:
			w = wait{d: v.times(time.Second), unit: Seconds}
		case unixS:
			w = r.until(instant{int64(v.whole), int32(v.nanos)}, UnixSeconds)
		case unixMS:
			w = r.until(instant{int64(v.whole / 1000), int32(v.whole % 1000 * 1e6)}, UnixMillis)
		default:
			return w, false
		}
	default:
		return w, false
	}
	return w, true
}

// clock is the Date header plus Age, and otherwise the caller's own clock.
func (r *reader) clock() instant {
	if !r.clocked {
		r.clocked = true
		r.ref = instantOf(r.now)
		if r.date != nil {
			if t, _, _, ok := readDate(trim(r.date), r.ref); ok {
				t.sec += r.age
				r.ref = t
			}
		}
	}
	return r.ref
}

// put makes h of w, or keeps what h holds when that is larger; one field
// twice is a duplicate.
func (r *reader) put(h *Hint, s Source, w wait, raw []byte) {
	r.notes |= w.notes
	if h.Source == s {
		r.notes |= Duplicate
	}
	if h.Has && h.Wait >= w.d {
		return
	}
	*h = Hint{Has: true, Wait: w.d, Source: s, Unit: w.unit}
	h.keep(raw)
}

// bad records a hint that could not be read, so that it can be shown.
func (r *reader) bad(h *Hint, s Source, raw []byte) {
	r.notes |= Malformed
	if h.Source == s {
		r.notes |= Duplicate
	}
	if !h.Has {
		*h = Hint{Source: s}
		h.keep(raw)
	}
}

func (h *Hint) keep(raw []byte) {
	h.RawLen = uint8(copy(h.Raw[:], raw))
}

// retryAfter reads the Retry-After field itself.
func (r *reader) retryAfter(b []byte) {
	w, ok := r.readWait(b, asRetryAfter)
	if !ok {
		r.bad(&r.a.Retry, RetryAfter, b)
		return
	}
	r.put(&r.a.Retry, RetryAfter, w, b)
}

// millis reads a field of milliseconds into h.
func (r *reader) millis(h *Hint, s Source, b []byte) {
	if w, ok := r.readWait(b, asMillis); ok {
		r.put(h, s, w, b)
	} else {
		r.bad(h, s, b)
	}
}

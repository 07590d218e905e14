package limit

import (
	"math/bits"
	"time"
)

// slidingCounter guesses the count of the last window from those of the
// current and the previous aligned window, taking the previous one's calls as
// evenly spread: with e into the current window of W, the guess is
// previous*(W-e)/W + current. Kept in 128-bit products, never divided.
//
// State: a is the previous window's admitted units, b the current one's, c the
// highest instant seen, which also says which window is current.
type slidingCounter struct{ spec Spec }

func (l *slidingCounter) Take(s *State, now, cost int64) (d Decision) {
	t, w, limit := instant(now), int64(l.spec.Window), l.spec.Limit
	at := max(t, s.c)
	prev, cur, e := l.roll(s, at)
	d.Limit = limit
	ask := max(cost, 1)
	switch {
	case ask > limit || cost < 0:
		d.RetryAfter = Never
	case ask <= limit-cur && atMost(prev, w-e, limit-cur-ask, w):
		d.OK = true
		cur += max(cost, 0)
	default:
		d.RetryAfter = time.Duration(at - t + l.wait(prev, cur, e, ask))
	}
	if cost > 0 {
		s.a, s.b, s.c = prev, cur, at
	}
	d.Remaining = max(0, limit-cur-share(prev, w-e, w))
	d.ResetAfter = time.Duration(at - t + l.reset(prev, cur, e))
	return d
}

// roll gives the counts as of at and how far at is into its window.
func (l *slidingCounter) roll(s *State, at int64) (prev, cur, e int64) {
	w := int64(l.spec.Window)
	if s.c == 0 {
		return 0, 0, intoWindow(at, w)
	}
	e = intoWindow(s.c, w) + (at - s.c)
	switch {
	case e < w:
		return s.a, s.b, e
	case e-w < w:
		return s.b, 0, e - w
	}
	return 0, 0, intoWindow(at, w)
}

// wait is how long until ask units pass. Within this window the previous
// window's share has to fall; if the current count alone is too high, the next
// window has to begin and this one's share has to fall there.
func (l *slidingCounter) wait(prev, cur, e, ask int64) int64 {
	w, room := int64(l.spec.Window), l.spec.Limit-ask
	if room >= cur {
		return w - portion(room-cur, w, prev) - e
	}
	if l.spec.Nearest {
		return w - e
	}
	return w - e + w - portion(room, w, cur)
}

// reset is how long until both counts are gone.
func (l *slidingCounter) reset(prev, cur, e int64) int64 {
	w := int64(l.spec.Window)
	switch {
	case cur > 0:
		return w - e + w
	case prev > 0:
		return w - e
	}
	return 0
}

func (l *slidingCounter) Fresh(s *State, now int64) bool {
	t := instant(now)
	if t < s.c {
		return false
	}
	prev, cur, _ := l.roll(s, t)
	return prev == 0 && cur == 0
}

func (l *slidingCounter) Spec() Spec { return l.spec }

// atMost reports a*b <= c*d for numbers that are not negative.
func atMost(a, b, c, d int64) bool {
	h1, l1 := bits.Mul64(uint64(a), uint64(b))
	h2, l2 := bits.Mul64(uint64(c), uint64(d))
	return h1 < h2 || h1 == h2 && l1 <= l2
}

// share is n*part/whole rounded up, for part <= whole.
func share(n, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	q, r := bits.Div64(hi, lo, uint64(whole))
	if r > 0 {
		q++
	}
	return int64(q)
}

// portion is n*w/of rounded down, for n < of.
func portion(n, w, of int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(w))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(q)
}

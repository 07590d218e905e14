package limit

import "time"

// fixedWindow counts per window aligned to time zero. It allows twice the
// limit around an edge; that is the algorithm, not a fault of it.
// State: a is the count, b the instant at which its window ends.
type fixedWindow struct{ spec Spec }

func (l *fixedWindow) Take(s *State, now, cost int64) Decision {
	t, w, limit := instant(now), int64(l.spec.Window), l.spec.Limit
	count, end := s.a, s.b
	if t >= end {
		count, end = 0, t-intoWindow(t, w)+w
	}
	// A clock that steps back into an earlier window stays in the stored one.
	d := Decision{Limit: limit}
	ask := max(cost, 1)
	switch {
	case ask > limit || cost < 0:
		d.RetryAfter = Never
	case ask > limit-count:
		d.RetryAfter = time.Duration(end - t)
	default:
		d.OK = true
		count += max(cost, 0)
	}
	if cost > 0 {
		s.a, s.b = count, end
	}
	d.Remaining = limit - count
	if count > 0 {
		d.ResetAfter = time.Duration(end - t)
	}
	return d
}

func (l *fixedWindow) Fresh(s *State, now int64) bool { return instant(now) >= s.b }

func (l *fixedWindow) Spec() Spec { return l.spec }

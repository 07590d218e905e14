package limit

// concurrency limits units in flight: Take holds them, Release gives them
// back. Time plays no part, so a refusal's wait is Unknown.
// State: a is the units held.
type concurrency struct{ spec Spec }

func (l *concurrency) Take(s *State, now, cost int64) Decision {
	limit := l.spec.Limit
	d := Decision{Limit: limit}
	ask := max(cost, 1)
	switch {
	case ask > limit || cost < 0:
		d.RetryAfter = Never
	case ask > limit-s.a:
		d.RetryAfter = Unknown
	default:
		d.OK = true
		s.a += max(cost, 0)
	}
	d.Remaining = limit - s.a
	if s.a > 0 {
		d.ResetAfter = Unknown
	}
	return d
}

func (l *concurrency) Release(s *State, now, cost int64) {
	if cost > 0 {
		s.a = max(0, s.a-cost)
	}
}

func (l *concurrency) Fresh(s *State, now int64) bool { return s.a == 0 }

func (l *concurrency) Spec() Spec { return l.spec }

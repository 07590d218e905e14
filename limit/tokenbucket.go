package limit

// tokenBucket holds up to burst tokens and gains rate of them as time passes.
// State: a is the units missing from a full bucket as of the instant b.
type tokenBucket struct {
	pace
	spec Spec
}

func (l *tokenBucket) Take(s *State, now, cost int64) Decision {
	t := instant(now)
	at := t
	if !l.spec.Follow {
		at = max(t, s.b)
	}
	d, _ := l.take(s, t, at, cost)
	return d
}

// Fresh under Follow holds only for clocks that do not read below now; the
// store keeps such keys for an hour longer.
func (l *tokenBucket) Fresh(s *State, now int64) bool { return l.fresh(s, instant(now)) }

func (l *tokenBucket) Spec() Spec { return l.spec }

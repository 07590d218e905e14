package limit

// leakyMeter is a level that drains at the rate and refuses what would pass
// its capacity. It decides like a token bucket whose burst is the capacity.
// State: a is the level in units as of the instant b.
type leakyMeter struct {
	pace
	spec Spec
}

func (l *leakyMeter) Take(s *State, now, cost int64) Decision {
	t := instant(now)
	d, _ := l.take(s, t, max(t, s.b), cost)
	return d
}

func (l *leakyMeter) Fresh(s *State, now int64) bool { return l.fresh(s, instant(now)) }

func (l *leakyMeter) Spec() Spec { return l.spec }

package limit

import "time"

// gcra is the generic cell rate algorithm (ITU-T I.371; the form with a
// theoretical arrival time, TAT). It decides like a token bucket but keeps an
// instant where the bucket keeps an amount: with the interval T = 1/rate, a
// call conforms when TAT + cost*T is at most burst*T ahead of now.
//
// T need not be a whole number of nanoseconds, so instants carry a fraction in
// units of 1/units ns. State: a is the TAT's whole part, b its fraction, c the
// highest instant seen. A TAT of 0 is long past: nothing owed.
type gcra struct {
	pace
	spec    Spec
	ahead   int64 // burst*T, whole ns
	aheadFr int64 // and its fraction
	gap     int64 // T, whole ns
	gapFr   int64
}

func newGCRA(s Spec, p pace) *gcra {
	return &gcra{
		pace: p, spec: s,
		ahead: p.most / p.units, aheadFr: p.most % p.units,
		gap: p.token / p.units, gapFr: p.token % p.units,
	}
}

func (l *gcra) Take(s *State, now, cost int64) Decision {
	t := instant(now)
	at := max(t, s.c)
	tat, fr := s.a, s.b
	if tat < at {
		tat, fr = at, 0
	}
	d := Decision{Limit: l.whole}
	if ask := max(cost, 1); ask > l.whole || cost < 0 {
		d.RetryAfter = Never
	} else {
		next, nextFr := l.add(tat, fr, ask)
		// over is how far the call is ahead of what it may be, rounded up.
		over := next - at - l.ahead
		if nextFr > l.aheadFr {
			over++
		}
		if over > 0 {
			d.RetryAfter = time.Duration(at - t + over)
		} else {
			d.OK = true
			if cost > 0 {
				tat, fr = next, nextFr
			}
		}
	}
	if cost > 0 {
		s.a, s.b, s.c = tat, fr, at
	}
	// tat - at is at most burst*T, so this is at most the level `most`.
	d.Remaining = (l.most - (tat-at)*l.units - fr) / l.token
	d.ResetAfter = time.Duration(tat - t)
	if fr > 0 {
		d.ResetAfter++
	}
	return d
}

// add returns tat + n*T.
func (l *gcra) add(tat, fr, n int64) (int64, int64) {
	if n == 1 {
		tat, fr = tat+l.gap, fr+l.gapFr
	} else {
		tat, fr = tat+n*l.token/l.units, fr+n*l.token%l.units
	}
	if fr >= l.units {
		tat, fr = tat+1, fr-l.units
	}
	return tat, fr
}

func (l *gcra) Fresh(s *State, now int64) bool {
	t := instant(now)
	return t >= s.c && (s.a < t || s.a == t && s.b == 0)
}

func (l *gcra) Spec() Spec { return l.spec }

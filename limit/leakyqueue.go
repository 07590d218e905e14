package limit

import "time"

// leakyQueue lets calls go at least 1/rate apart and holds back those that
// come faster, up to queue of them; so an idle key takes queue+1 calls at
// once. Decision.Delay says how long to hold a call, measured from now even
// when the clock has stepped back.
//
// A call of cost n takes n release slots in a row and goes at the last of
// them, so that units never leave ahead of the rate.
//
// State: a is the time to the next free slot, in units (the backlog), as of
// the instant b.
type leakyQueue struct {
	pace // its highest level is queue+1 slots
	spec Spec
}

func (l *leakyQueue) Take(s *State, now, cost int64) Decision {
	t := instant(now)
	d, backlog := l.take(s, t, max(t, s.b), cost)
	if d.OK {
		d.Delay = time.Duration(l.wait(backlog + (max(cost, 1)-1)*l.token))
	}
	return d
}

func (l *leakyQueue) Fresh(s *State, now int64) bool { return l.fresh(s, instant(now)) }

func (l *leakyQueue) Spec() Spec { return l.spec }

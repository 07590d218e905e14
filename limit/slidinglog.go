package limit

import "time"

// slidingLog remembers every admission of the last window and never allows
// more than the limit in any window. An entry exactly one window old is gone.
// It costs 16 bytes per instant with an admission, up to the limit.
// State: a is the units in the log, c the highest instant seen.
type slidingLog struct{ spec Spec }

func (l *slidingLog) Take(s *State, now, cost int64) Decision {
	t, w, limit := instant(now), int64(l.spec.Window), l.spec.Limit
	at := max(t, s.c)
	old, count := s.expired(at - w)
	if cost > 0 {
		s.c, s.a = at, count
		if old > 0 {
			s.log.drop(old)
			old = 0
		}
	}
	d := Decision{Limit: limit}
	ask := max(cost, 1)
	switch {
	case ask > limit || cost < 0:
		d.RetryAfter = Never
	case ask > limit-count:
		d.RetryAfter = time.Duration(s.freed(old, ask-(limit-count)) + w - t)
	default:
		d.OK = true
		if cost > 0 {
			if s.log == nil {
				s.log = new(ring)
			}
			s.log.push(at, cost)
			count += cost
			s.a = count
		}
	}
	d.Remaining = limit - count
	d.ResetAfter = time.Duration(at - t)
	if count > 0 {
		d.ResetAfter = time.Duration(s.log.at(s.log.n-1).at + w - t)
	}
	return d
}

// expired counts the entries at or before edge and the units in the others.
func (s *State) expired(edge int64) (old int, count int64) {
	if s.log == nil {
		return 0, 0
	}
	count = s.a
	for old < s.log.n && s.log.at(old).at <= edge {
		count -= s.log.at(old).cost
		old++
	}
	return old, count
}

// freed is the instant of the entry that brings the units of the entries from
// the first on to at least need.
func (s *State) freed(first int, need int64) int64 {
	for i := first; ; i++ {
		e := s.log.at(i)
		if need -= e.cost; need <= 0 {
			return e.at
		}
	}
}

func (l *slidingLog) Fresh(s *State, now int64) bool {
	t := instant(now)
	return t >= s.c && (s.a == 0 || s.log.at(s.log.n-1).at <= t-int64(l.spec.Window))
}

func (l *slidingLog) Spec() Spec { return l.spec }

package limit

import "time"

// milliMeter is a leaky meter in whole milliseconds, after nginx's limit_req.
// The first call of a key leaves a level of 0; each later one makes it
// max(0, level - drained + 1 call) and is refused, with the state unchanged,
// when that is above the burst. So a used key that has drained is as a new
// one, and either takes burst+1 calls at once. Where nginx counts thousandths
// of a call, this counts as finely as the rate needs.
//
// The pace's tick is a millisecond and its highest level burst+1 calls. A
// call of cost n is n calls of one instant, all or nothing.
//
// State: a is the level in units as of the millisecond b, counted from
// beforeMilli; b is 0 for a key never seen.
type milliMeter struct {
	pace
	spec Spec
	room int64 // burst, units
}

const (
	milli = int64(time.Millisecond)
	// beforeMilli is a millisecond before the first instant.
	beforeMilli = -origin/milli - 2
)

func newMilliMeter(s Spec) (Limiter, error) {
	tooFine := func(field string) (Limiter, error) {
		return nil, s.fail(field, "is too many at "+s.Rate.String()+" to count exactly in 64 bits of milliseconds")
	}
	perTick, ok := Fraction{s.Rate.Units, int64(s.Rate.Per)}.times(Whole(milli))
	if !ok {
		return tooFine("rate")
	}
	p, err := newPace(Rate{perTick.Num, time.Duration(perTick.Den)}, s.Burst+1)
	if err != nil || p.full > maxWait/milli-1 {
		return tooFine("burst")
	}
	return &milliMeter{p, s, p.most - p.token}, nil
}

// tick is the millisecond of an instant and how far into it that is.
func (l *milliMeter) tick(t int64) (ms, into int64) {
	into = intoWindow(t, milli)
	return (t-origin-into)/milli - beforeMilli, into
}

func (l *milliMeter) Take(s *State, now, cost int64) (d Decision) {
	ms, into := l.tick(instant(now))
	at := max(ms, s.b)
	lag := at - ms
	level := l.next(s, at)
	d.Limit = l.whole
	ask := max(cost, 1)
	if ask > l.whole || cost < 0 {
		d.RetryAfter = Never
	} else if after := level + (ask-1)*l.token; after > l.room {
		d.RetryAfter = time.Duration((lag+l.wait(after-l.room))*milli - into)
	} else {
		d.OK = true
		if cost > 0 {
			s.a, s.b = after, at
			level = after + l.token
		}
	}
	// The level is that after one more call.
	if level <= l.room {
		d.Remaining = (l.room-level)/l.token + 1
	}
	if level > 0 {
		d.ResetAfter = time.Duration((lag+l.wait(level))*milli - into)
	}
	return d
}

// next is the level after one call at the millisecond at.
func (l *milliMeter) next(s *State, at int64) int64 {
	if s.b == 0 {
		return 0
	}
	return l.drain(s.a+l.token, at-s.b)
}

func (l *milliMeter) Fresh(s *State, now int64) bool {
	ms, _ := l.tick(instant(now))
	return s.b == 0 || ms >= s.b && l.next(s, ms) == 0
}

func (l *milliMeter) Spec() Spec { return l.spec }

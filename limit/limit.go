// Package limit holds rate limiter algorithms over explicit time.
//
// Every algorithm is a pure function of its arguments: the caller passes the
// time, the state and the cost, and gets a [Decision]. Nothing here reads a
// clock. Instants are int64 nanoseconds from any epoch that the caller keeps
// to; a gateway uses the real clock, a simulator a virtual one.
//
// Amounts are exact. A rate is a fraction reduced to lowest terms and a bucket
// counts in units of one token divided by that fraction's denominator, so no
// decision ever hangs on a rounded number. Waits are rounded up to the next
// nanosecond, never down. A spec whose numbers would not fit in 64 bits is
// refused when it is built.
//
// A clock may step back. A key then keeps to the highest time it has seen: it
// decides as of that time, refills nothing until the clock has passed it, and
// adds the difference to its waits. Instants before -1<<61 (73 years before
// the epoch) or after 1<<62-1 (146 years after it) count as those two.
package limit

import "time"

// RetryAfter and ResetAfter hold one of these, both negative, when there is no
// wait to speak of. Whatever prints a wait should leave it out when negative.
const (
	// Never is the RetryAfter of a refusal that no wait can cure: a cost above
	// what the limiter can ever grant.
	Never time.Duration = -1
	// Unknown is the wait for something that time alone does not bring: a slot
	// of a concurrency limit, or room in a full store that refuses new keys.
	Unknown time.Duration = -2
)

// Decision is the outcome of one check.
type Decision struct {
	OK bool
	// Limit is the most that can pass at once: burst, window count, capacity,
	// queue plus the one call that need not wait, or slots.
	Limit int64
	// Remaining is how many whole units would pass right after this decision.
	Remaining int64
	// RetryAfter is how long until the same cost would pass if nobody else
	// asks: 0 when OK, Never when it cannot pass, Unknown when no clock can
	// tell. Never too short.
	RetryAfter time.Duration
	// ResetAfter is how long until the key is as if never used, or Unknown.
	ResetAfter time.Duration
	// Delay is how long an admitted call of a queueing limiter is held back
	// before it is let go. 0 for every other limiter.
	Delay time.Duration
}

// behind adds the time by which the caller's clock is behind the one that the
// decision was made at to the waits that are known.
func (d *Decision) behind(lag int64) {
	if d.RetryAfter > 0 {
		d.RetryAfter = time.Duration(addCapped(int64(d.RetryAfter), lag))
	}
	if d.ResetAfter >= 0 {
		d.ResetAfter = time.Duration(addCapped(int64(d.ResetAfter), lag))
	}
}

// Limiter decides for one key's State. Implementations are immutable and safe
// for concurrent use; a State is not, its owner serialises access.
//
// A cost of 0 is a peek: it changes nothing and reports what a cost of 1
// would find. A negative cost is refused with Never and changes nothing.
type Limiter interface {
	Take(s *State, now, cost int64) Decision
	// Fresh reports whether the state at now can no longer change any
	// decision at now or later, so that forgetting it is safe.
	Fresh(s *State, now int64) bool
	// Spec returns the numbers this limiter was built from.
	Spec() Spec
}

// Releaser is a Limiter whose units must be given back (a concurrency limit).
// Giving back more than is held leaves nothing held.
type Releaser interface {
	Limiter
	Release(s *State, now, cost int64)
}

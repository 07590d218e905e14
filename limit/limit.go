// Package limit holds rate limiter algorithms over explicit time.
//
// Every algorithm is a pure function of its arguments: the caller passes the
// time, the state and the cost, and gets a [Decision]. Nothing here reads a
// clock. Instants are int64 nanoseconds from any epoch that the caller keeps
// to; a gateway uses the real clock, a simulator a virtual one.
package limit

import "time"

// Never is the RetryAfter of a refusal that no wait can cure: a cost above
// what the limiter can ever grant.
const Never time.Duration = -1

// Decision is the outcome of one check.
type Decision struct {
	OK bool
	// Limit is the most that can pass at once: burst, window count, capacity.
	Limit int64
	// Remaining is how many whole units would pass right after this decision.
	Remaining int64
	// RetryAfter is how long until the same cost would pass if nobody else
	// asks: 0 when OK, Never when it cannot pass. Never too short.
	RetryAfter time.Duration
	// ResetAfter is how long until the key is as if never used.
	ResetAfter time.Duration
	// Delay is how long an admitted call of a queueing limiter is held back
	// before it is let go. 0 for every other limiter.
	Delay time.Duration
}

// Limiter decides for one key's State. Implementations are immutable and safe
// for concurrent use; a State is not, its owner serialises access.
//
// A cost of 0 is a peek: it changes nothing and reports what a cost of 1
// would find. A negative cost is refused with Never and changes nothing.
type Limiter interface {
	Take(s *State, now, cost int64) Decision
	// Fresh reports whether the state at now can no longer change any
	// decision, so that forgetting it is safe.
	Fresh(s *State, now int64) bool
	// Spec returns the numbers this limiter was built from.
	Spec() Spec
}

// Releaser is a Limiter whose units must be given back (a concurrency limit).
type Releaser interface {
	Limiter
	Release(s *State, now, cost int64)
}

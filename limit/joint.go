package limit

import "time"

// Joint makes the decisions of a request's limits one: it passes when each lets
// it, and is held back as long as any wants. The zero value has none yet, and
// admits. Not safe for concurrent use.
//
// A refusal's wait is the worst of its limits', as [Worse] orders them: before
// it ends nothing passes. ResetAfter is Unknown when any limit's is.
type Joint struct {
	d            Decision // its OK is not kept
	parts        int
	worst, least int // which decision has the worst wait, the least left; from 1, 0 for none
}

// Add takes the next decision in.
func (j *Joint) Add(d *Decision) {
	j.parts++
	if !d.OK && (j.worst == 0 || Worse(d.RetryAfter, j.d.RetryAfter)) {
		j.d.RetryAfter, j.worst = d.RetryAfter, j.parts
	}
	if j.least == 0 || d.Remaining < j.d.Remaining {
		j.d.Remaining, j.d.Limit, j.least = d.Remaining, d.Limit, j.parts
	}
	if d.ResetAfter < 0 || j.d.ResetAfter < 0 {
		j.d.ResetAfter = Unknown
	} else {
		j.d.ResetAfter = max(j.d.ResetAfter, d.ResetAfter)
	}
	j.d.Delay = max(j.d.Delay, d.Delay)
}

// Decision is that of all together. by is the one that decided, in the order
// they were added, from 0: the first with the worst wait of a refusal, or else
// the first with the least left; -1 when there are none.
func (j *Joint) Decision() (d Decision, by int) {
	d = j.d
	if j.worst > 0 {
		d.Delay = 0
		return d, j.worst - 1
	}
	d.OK = true
	return d, j.least - 1
}

// Worse reports whether a refusal's wait a says more against its request than
// b does. Never is worse than any wait that ends, a longer one than a shorter,
// and any of these than an Unknown one: who has both is told the one that
// is known, since coming back before it ends is in vain.
func Worse(a, b time.Duration) bool {
	if a == Never || b == Never {
		return a == Never && b != Never
	}
	return a > b
}

package gateway

import (
	"github.com/weir-cli/weir/limit"
)

// together is the decision of a request's hits: all pass or none. by is the
// hit that decided: the first that can never pass, or else the one to wait
// longest for, or else the one with least left; -1 when there are none.
func together(parts []hitState) (d limit.Decision, by int) {
	d.OK, by = true, -1
	wait, least := -1, -1
	for i := range parts {
		p := &parts[i].Decision
		if !p.OK {
			d.OK = false
			if wait < 0 || longer(p.RetryAfter, parts[wait].Decision.RetryAfter) {
				wait = i
			}
		}
		if least < 0 || p.Remaining < d.Remaining {
			d.Remaining, d.Limit, least = p.Remaining, p.Limit, i
		}
		d.Delay = max(d.Delay, p.Delay)
		if i == 0 || longer(p.ResetAfter, d.ResetAfter) {
			d.ResetAfter = p.ResetAfter
		}
	}
	if by = least; wait >= 0 {
		by = wait
		d.RetryAfter = parts[wait].Decision.RetryAfter
		d.Delay = 0
	}
	return d, by
}

// longer reports whether a is the worse wait: never before any that ends, and
// any that ends before one that nobody knows.
func longer[D ~int64](a, b D) bool {
	if a == D(limit.Never) || b == D(limit.Never) {
		return a == D(limit.Never) && b != D(limit.Never)
	}
	return a > b
}

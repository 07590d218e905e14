package gateway

import (
	"github.com/weir-cli/weir/limit"
)

// part is one of the limits that a request is under, as a backend is asked
// about it.
type part struct {
	limit   *readyLimit
	subject string
	cost    int64  // 0 takes nothing and is never short
	id      string // holder of a concurrency limit's slots in Redis

	d       limit.Decision // the answer
	source  Source
	leased  bool   // tokens that the gateway held were spent
	atShare bool   // slots are held in the gateway's own share
	key     string // in Redis, once it is known
}

// short reports whether the part was refused.
func (p *part) short() bool { return !p.d.OK }

// together is the decision of a request's parts: all pass or none. by is the
// part that decided: the first that can never pass, or else the one to wait
// longest for, or else the one with least left; -1 when there are none.
func together(parts []part) (d limit.Decision, by int) {
	d.OK, by = true, -1
	wait, least := -1, -1
	for i := range parts {
		p := &parts[i].d
		if !p.OK {
			d.OK = false
			if wait < 0 || longer(p.RetryAfter, parts[wait].d.RetryAfter) {
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
		d.RetryAfter = parts[wait].d.RetryAfter
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

package gateway

import (
	"math/big"
	"time"

	"github.com/weir-cli/weir/limit"
)

// carry is the state under a new limit of a key that has been under an old
// one. Tokens are kept, at most the new burst; they are never filled up. It is
// exact to the nanosecond of refill, and errs by less than that to the side of
// the limit. A count is kept where its window stays the same; otherwise what
// was used counts as used now.
func carry(s *limit.State, from, to limit.Limiter, now int64) limit.State {
	a, b := from.Spec(), to.Spec()
	if a.Algorithm == b.Algorithm && a.Window == b.Window && b.Rate.Units == 0 {
		return s.Clone()
	}
	if b.Algorithm == limit.Concurrency {
		return limit.State{}
	}
	d := from.Take(s, now, 0)
	if a.Rate.Units == 0 || b.Rate.Units == 0 || d.ResetAfter < 0 {
		var fresh limit.State
		if used := min(d.Limit-max(0, d.Remaining), capacity(b)); used > 0 {
			to.Take(&fresh, now, used)
		}
		return fresh
	}
	held := new(big.Rat).Sub(whole(capacity(a)), gained(a.Rate, d.ResetAfter))
	return filled(to, now, held)
}

// filled is the state of a bucket, or of a limiter like one, that holds so many
// tokens at now, at most its burst.
func filled(l limit.Limiter, now int64, tokens *big.Rat) limit.State {
	spec := l.Spec()
	var s limit.State
	missing := new(big.Rat).Sub(whole(capacity(spec)), tokens)
	if missing.Sign() <= 0 {
		return s
	}
	// Whole tokens taken early enough that the part too many has come back.
	taken := new(big.Int).Div(new(big.Int).Add(missing.Num(), new(big.Int).Sub(missing.Denom(), big.NewInt(1))), missing.Denom())
	early := new(big.Rat).Sub(new(big.Rat).SetInt(taken), missing)
	early.Mul(early, new(big.Rat).SetFrac64(int64(spec.Rate.Per), spec.Rate.Units))
	ago := new(big.Int).Div(early.Num(), early.Denom()).Int64()
	l.Take(&s, now-ago, min(taken.Int64(), capacity(spec)))
	return s
}

// giveBack puts n tokens back, at most a full bucket.
func giveBack(s *limit.State, l limit.Limiter, now, n int64) limit.State {
	spec := l.Spec()
	d := l.Take(s, now, 0)
	held := new(big.Rat).Sub(whole(capacity(spec)), gained(spec.Rate, d.ResetAfter))
	return filled(l, now, held.Add(held, whole(n)))
}

// gained is how many tokens come in d.
func gained(r limit.Rate, d time.Duration) *big.Rat {
	n := new(big.Rat).SetFrac64(r.Units, int64(r.Per))
	return n.Mul(n, whole(int64(d)))
}

func whole(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// capacity is the most that a limit lets pass at once, which is the Limit of
// its decisions.
func capacity(s limit.Spec) int64 {
	switch {
	case s.Algorithm == limit.LeakyQueue:
		return s.Queue + 1
	case s.Rate.Units > 0:
		return s.Burst
	}
	return s.Limit
}

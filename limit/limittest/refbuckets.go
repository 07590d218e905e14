package limittest

import "math/big"

// tokenBucket: tokens, and the time they were written.
func (r *reference) tokenBucket(k *refKey, at, ask int64) ruling {
	burst, elapsed := rat(r.spec.Burst), int64(0)
	if k.seen && at > k.high {
		elapsed = at - k.high
	}
	tokens := add(k.tokens, mul(rat(elapsed), r.rate()))
	if tokens.Cmp(burst) > 0 {
		tokens = burst
	}
	return ruling{
		wait: div(sub(rat(ask), tokens), r.rate()),
		write: func(ok bool) {
			if ok {
				tokens = sub(tokens, rat(ask))
			}
			k.tokens = tokens
		},
		free:  func() int64 { return floor(tokens) },
		reset: func() *big.Rat { return div(sub(burst, tokens), r.rate()) },
	}
}

// gcra: with tat = max(tat, now), a call passes when
// tat + cost*T - now <= tau + T, tau = (burst-1)*T.
func (r *reference) gcra(k *refKey, at, ask int64) ruling {
	now, gap := rat(at), r.interval()
	tau := mul(rat(r.spec.Burst-1), gap)
	tat := now
	if k.seen {
		tat = atLeast(k.tat, now)
	}
	next := add(tat, mul(rat(ask), gap))
	return ruling{
		wait: sub(sub(sub(next, gap), tau), now),
		write: func(ok bool) {
			if ok {
				tat = next
			}
			k.tat = tat
		},
		free: func() int64 {
			// The largest n with tat + n*T - now <= tau + T.
			return floor(div(sub(add(add(tau, gap), now), tat), gap))
		},
		reset: func() *big.Rat { return sub(tat, now) },
	}
}

// leakyMeter: a level that drains.
func (r *reference) leakyMeter(k *refKey, at, ask int64) ruling {
	level := k.level
	if k.seen && at > k.high {
		level = atLeast(sub(level, mul(rat(at-k.high), r.rate())), new(big.Rat))
	}
	capacity := rat(r.spec.Burst)
	return ruling{
		wait: div(sub(add(level, rat(ask)), capacity), r.rate()),
		write: func(ok bool) {
			if ok {
				level = add(level, rat(ask))
			}
			k.level = level
		},
		free:  func() int64 { return floor(sub(capacity, level)) },
		reset: func() *big.Rat { return div(level, r.rate()) },
	}
}

// leakyQueue: the instants at which units leave. A unit takes the next free
// one; those that leave later than now are waiting, and no unit may come when
// as many wait as may.
func (r *reference) leakyQueue(k *refKey, at, ask int64) ruling {
	now, gap := rat(at), r.interval()
	queue := append([]*big.Rat(nil), k.releases...)
	for len(queue) > 1 && queue[0].Cmp(now) <= 0 {
		queue = queue[1:]
	}
	free := func(q []*big.Rat) *big.Rat {
		if len(q) == 0 {
			return now
		}
		return atLeast(add(q[len(q)-1], gap), now)
	}
	waiting := func(q []*big.Rat) (n int64) {
		for _, at := range q {
			if at.Cmp(now) > 0 {
				n++
			}
		}
		return n
	}
	fits := func(q []*big.Rat) bool {
		return free(q).Cmp(now) <= 0 || waiting(q) < r.spec.Queue
	}
	after, ok := append([]*big.Rat(nil), queue...), true
	for range ask {
		ok = ok && fits(after)
		after = append(after, free(after))
	}
	v := ruling{
		wait:  new(big.Rat),
		delay: sub(after[len(after)-1], now),
		write: func(ok bool) {
			if ok {
				queue = after
			}
			k.releases = queue
		},
		free: func() (n int64) {
			q := append([]*big.Rat(nil), queue...)
			for fits(q) {
				q = append(q, free(q))
				n++
			}
			return n
		},
		reset: func() *big.Rat { return sub(free(queue), now) },
	}
	if !ok {
		// The last unit's slot must be at most queue intervals away.
		v.wait = sub(sub(after[len(after)-1], now), mul(rat(r.spec.Queue), gap))
	}
	return v
}

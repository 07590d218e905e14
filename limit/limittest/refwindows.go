package limittest

import (
	"math/big"
)

// window is the number of the aligned window that holds at.
func (r *reference) window(at int64) int64 {
	return floor(big.NewRat(at, int64(r.spec.Window)))
}

func (r *reference) fixedWindow(k *refKey, at, ask int64) ruling {
	n, w := r.window(at), int64(r.spec.Window)
	v := ruling{
		wait: new(big.Rat),
		write: func(ok bool) {
			if ok {
				k.windows[n] += ask
			}
		},
		free: func() int64 { return r.spec.Limit - k.windows[n] },
		reset: func() *big.Rat {
			if k.windows[n] == 0 {
				return new(big.Rat)
			}
			return rat((n+1)*w - at)
		},
	}
	if k.windows[n]+ask > r.spec.Limit {
		v.wait = rat((n+1)*w - at)
	}
	return v
}

func (r *reference) slidingLog(k *refKey, at, ask int64) ruling {
	w := int64(r.spec.Window)
	var left []call
	count := int64(0)
	for _, c := range k.log {
		if c.at > at-w {
			left = append(left, c)
			count += c.cost
		}
	}
	v := ruling{
		wait: new(big.Rat),
		write: func(ok bool) {
			if ok {
				left = append(left, call{at: at, cost: ask})
				count += ask
			}
			k.log = left
		},
		free: func() int64 { return r.spec.Limit - count },
		reset: func() *big.Rat {
			if len(left) == 0 {
				return new(big.Rat)
			}
			return rat(left[len(left)-1].at + w - at)
		},
	}
	for i, rest := 0, count; rest+ask > r.spec.Limit; i++ {
		rest -= left[i].cost
		v.wait = rat(left[i].at + w - at)
	}
	return v
}

// slidingCounter finds its wait by looking: at each aligned window from this
// one on, the instants at which the guess has fallen far enough.
func (r *reference) slidingCounter(k *refKey, at, ask int64) ruling {
	n, w := r.window(at), int64(r.spec.Window)
	guess := func(t *big.Rat, n int64) *big.Rat {
		left := div(sub(rat((n+1)*w), t), rat(w))
		return add(mul(rat(k.windows[n-1]), left), rat(k.windows[n]))
	}
	room := rat(r.spec.Limit - ask)
	v := ruling{
		wait: new(big.Rat),
		write: func(ok bool) {
			if ok {
				k.windows[n] += ask
			}
		},
		free: func() int64 {
			return max(0, floor(sub(rat(r.spec.Limit), guess(rat(at), n))))
		},
		reset: func() *big.Rat {
			switch {
			case k.windows[n] > 0:
				return rat((n+2)*w - at)
			case k.windows[n-1] > 0:
				return rat((n+1)*w - at)
			}
			return new(big.Rat)
		},
	}
	for t, m := rat(at), n; guess(t, m).Cmp(room) > 0; {
		// Within window m the guess falls evenly to what m itself holds.
		if prev := k.windows[m-1]; prev > 0 && rat(k.windows[m]).Cmp(room) <= 0 {
			over := sub(guess(t, m), room)
			t = add(t, div(mul(over, rat(w)), rat(prev)))
		} else {
			m++
			t = rat(m * w)
		}
		v.wait = sub(t, rat(at))
	}
	return v
}

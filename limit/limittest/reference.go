package limittest

import (
	"math/big"
	"sync"
	"time"

	"github.com/weir-cli/weir/limit"
)

// NewReference returns the slow model of a valid spec. It keeps fractions of
// big integers and lists of calls, remembers every key for ever, and takes
// instants within 70 years of 0.
func NewReference(spec limit.Spec) Releaser {
	return &reference{spec: spec, keys: map[string]*refKey{}}
}

type reference struct {
	mu   sync.Mutex
	spec limit.Spec
	keys map[string]*refKey
}

// refKey is one key: what it has seen and one field per algorithm.
type refKey struct {
	seen bool
	high int64 // highest instant seen, or last one under Follow

	tokens   *big.Rat        // token bucket
	tat      *big.Rat        // gcra
	level    *big.Rat        // leaky meter
	releases []*big.Rat      // leaky queue: instants of units still to go, and the last gone
	log      []call          // sliding log
	windows  map[int64]int64 // both window counters
	held     int64           // concurrency
}

func (r *reference) key(name string) *refKey {
	k := r.keys[name]
	if k == nil {
		k = &refKey{tokens: rat(r.spec.Burst), tat: new(big.Rat), level: new(big.Rat), windows: map[int64]int64{}}
		r.keys[name] = k
	}
	return k
}

func (r *reference) Release(name string, now, cost int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.key(name)
	k.held -= min(k.held, max(cost, 0))
	return nil
}

// ruling is what an algorithm says about one ask of a key at an instant.
type ruling struct {
	wait  *big.Rat        // ns until it passes; not above 0 when it does
	delay *big.Rat        // nil for none
	write func(ok bool)   // keeps what the call changed, with its cost if ok
	free  func() int64    // whole units left, after write
	reset func() *big.Rat // ns until as never used, after write
}

func (r *reference) Take(name string, now, cost int64) (limit.Decision, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.key(name)
	at := now
	if k.seen && k.high > now && !r.spec.Follow {
		at = k.high
	}
	lag := rat(at - now)
	ask := max(cost, 1)
	top := most(r.spec)
	d := limit.Decision{Limit: top}
	v := r.rule(k, at, min(ask, top))
	switch {
	case cost < 0 || ask > top:
		d.RetryAfter = limit.Never
	case v.wait.Sign() > 0:
		d.RetryAfter = ceil(add(v.wait, lag))
		if r.spec.Algorithm == limit.Concurrency {
			d.RetryAfter = limit.Unknown
		}
	default:
		d.OK = true
		if v.delay != nil {
			d.Delay = ceil(v.delay)
		}
	}
	if cost > 0 {
		v.write(d.OK)
	}
	d.Remaining = v.free()
	if r.spec.Algorithm == limit.Concurrency {
		if k.held > 0 {
			d.ResetAfter = limit.Unknown
		}
		return d, nil
	}
	if reset := v.reset(); reset.Sign() > 0 || r.spec.Algorithm != limit.FixedWindow {
		// A fixed window that holds nothing is as new whatever the time.
		d.ResetAfter = ceil(add(reset, lag))
	}
	if cost > 0 {
		k.seen, k.high = true, at
	}
	return d, nil
}

func (r *reference) rule(k *refKey, at, ask int64) ruling {
	switch r.spec.Algorithm {
	case limit.GCRA:
		return r.gcra(k, at, ask)
	case limit.FixedWindow:
		return r.fixedWindow(k, at, ask)
	case limit.SlidingLog:
		return r.slidingLog(k, at, ask)
	case limit.SlidingCounter:
		return r.slidingCounter(k, at, ask)
	case limit.LeakyQueue:
		return r.leakyQueue(k, at, ask)
	case limit.LeakyMeter:
		return r.leakyMeter(k, at, ask)
	case limit.Concurrency:
		return ruling{
			wait: rat(k.held + ask - r.spec.Limit),
			free: func() int64 { return r.spec.Limit - k.held },
			write: func(ok bool) {
				if ok {
					k.held += ask
				}
			},
		}
	}
	return r.tokenBucket(k, at, ask)
}

// rate is tokens per ns.
func (r *reference) rate() *big.Rat { return big.NewRat(r.spec.Rate.Units, int64(r.spec.Rate.Per)) }

// interval is ns per token.
func (r *reference) interval() *big.Rat { return new(big.Rat).Inv(r.rate()) }

func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

func add(a, b *big.Rat) *big.Rat { return new(big.Rat).Add(a, b) }
func sub(a, b *big.Rat) *big.Rat { return new(big.Rat).Sub(a, b) }
func mul(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
func div(a, b *big.Rat) *big.Rat { return new(big.Rat).Quo(a, b) }

func atLeast(a, b *big.Rat) *big.Rat {
	if a.Cmp(b) < 0 {
		return b
	}
	return a
}

func floor(a *big.Rat) int64 {
	// Div rounds down for a positive divisor, which a denominator is.
	return new(big.Int).Div(a.Num(), a.Denom()).Int64()
}

func ceil(a *big.Rat) time.Duration {
	return time.Duration(-floor(new(big.Rat).Neg(a)))
}

package limit

import "time"

// BatchBook is the store's side of leases in batches: one token bucket per
// rule that a request is under, of which a lease takes as much as all of them
// have. It works in whole milliseconds, as a script on a store's clock does.
// Immutable and safe for concurrent use; States are their owner's.
type BatchBook struct {
	buckets []tokenBucket
}

const millisecond = int64(time.Millisecond)

// NewBatchBook makes the book of token-bucket specs, at least one. Its error
// is a *SpecError.
func NewBatchBook(specs ...Spec) (*BatchBook, error) {
	b := &BatchBook{}
	for _, s := range specs {
		if err := leasable(s); err != nil {
			return nil, err
		}
		p, err := newPace(s.Rate, s.Burst)
		if err != nil {
			return nil, s.fail("burst", "is too many at "+s.Rate.String()+" to count exactly in 64 bits")
		}
		b.buckets = append(b.buckets, tokenBucket{p, s})
	}
	if len(specs) == 0 {
		return nil, &SpecError{Reason: "has no limit to lease from", Hint: syntaxes[TokenBucket].example}
	}
	return b, nil
}

// Lease takes the smaller of wanted and the whole tokens of the lowest bucket
// out of every bucket; states[i] belongs to the i-th spec. When the lowest has
// none, nothing is written and wait is the whole milliseconds, rounded up,
// until each has one. Instants are cut to whole milliseconds.
func (b *BatchBook) Lease(states []State, now, wanted int64) (granted int64, wait time.Duration) {
	t := instant(now)
	t -= intoWindow(t, millisecond)
	granted = wanted
	for i := range b.buckets {
		p, s := &b.buckets[i].pace, &states[i]
		at := max(t, s.b)
		level := p.drain(s.a, at-s.b)
		if most := (p.most - level) / p.token; most < granted {
			granted = most
		}
		if short := level + p.token - p.most; short > 0 {
			ms := (at - t + p.wait(short) + millisecond - 1) / millisecond
			wait = max(wait, time.Duration(ms*millisecond))
		}
	}
	if granted <= 0 {
		return 0, wait
	}
	for i := range b.buckets {
		p, s := &b.buckets[i].pace, &states[i]
		at := max(t, s.b)
		s.a, s.b = p.drain(s.a, at-s.b)+granted*p.token, at
	}
	return granted, 0
}

// Tokens is how many whole tokens the i-th bucket has at now. It changes
// nothing.
func (b *BatchBook) Tokens(i int, s *State, now int64) int64 {
	t := instant(now)
	return s.tokens(&b.buckets[i].pace, t-intoWindow(t, millisecond)-origin)
}

// Fresh reports whether the i-th bucket's state is as good as never used from
// now on.
func (b *BatchBook) Fresh(i int, s *State, now int64) bool {
	t := instant(now)
	return b.buckets[i].fresh(s, t-intoWindow(t, millisecond))
}

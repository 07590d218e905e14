package limit

import "time"

// BatchBook is the store's side of leases in batches: a token bucket per rule
// that a request is under, of which a lease takes as much as all of them have.
// It works in whole milliseconds, as a script on a store's clock does.
// Immutable and safe for concurrent use; Buckets are their owner's.
type BatchBook struct{ rules []BucketRule }

const millisecond = int64(time.Millisecond)

// NewBatchBook makes the book of buckets under each of specs, at least one.
// Its error is a *SpecError.
func NewBatchBook(specs ...BucketSpec) (*BatchBook, error) {
	k := &BatchBook{}
	for _, s := range specs {
		rule, err := s.Rule()
		if err != nil {
			return nil, err
		}
		k.rules = append(k.rules, rule)
	}
	if len(specs) == 0 {
		return nil, &SpecError{Reason: "has no limit to lease from", Hint: syntaxes[TokenBucket].example}
	}
	return k, nil
}

// inMillis is now cut to whole milliseconds, as an instant.
func inMillis(now int64) int64 {
	t := instant(now)
	return t - intoWindow(t, millisecond)
}

// Lease takes the smaller of wanted and the whole tokens of the lowest bucket
// out of every bucket; buckets[i] is under the i-th spec. When the lowest has
// none, nothing is written and wait is the time until each has one, rounded up
// to whole milliseconds.
func (k *BatchBook) Lease(buckets []Bucket, now, wanted int64) (granted int64, wait time.Duration) {
	t := inMillis(now)
	granted = wanted
	for i := range k.rules {
		r, b := &k.rules[i], &buckets[i]
		level := b.level(r, t)
		granted = min(granted, level/r.token)
		if short := r.token - level; short > 0 {
			ms := (b.stamp(r, t) - t + r.wait(short) + millisecond - 1) / millisecond
			wait = max(wait, time.Duration(ms*millisecond))
		}
	}
	if granted <= 0 {
		return 0, wait
	}
	for i := range k.rules {
		r, b := &k.rules[i], &buckets[i]
		b.tokens, b.last = b.level(r, t)-granted*r.token, b.stamp(r, t)
	}
	return granted, 0
}

// Tokens is how many whole tokens a bucket under the i-th spec has at now. It
// changes nothing.
func (k *BatchBook) Tokens(i int, b *Bucket, now int64) int64 {
	return b.level(&k.rules[i], inMillis(now)) / k.rules[i].token
}

// Full reports whether a bucket under the i-th spec is full at now, and so as
// good as never used.
func (k *BatchBook) Full(i int, b *Bucket, now int64) bool {
	return b.level(&k.rules[i], inMillis(now)) == k.rules[i].most
}

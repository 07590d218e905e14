package limit

import "time"

// Part is what a request asks of one of its buckets.
type Part struct {
	Bucket *Bucket
	Rule   *BucketRule
	Cost   int64 // tokens; 0 asks for none: the bucket is looked at, never short
}

// All are the buckets of one request, which take all costs or none. No bucket
// may stand in it twice. Its zero value admits.
type All []Part

// Take decides at now. A cost above its bucket's burst, or a negative one, is
// refused with Never, and nothing is written. Otherwise every bucket with a
// cost is refilled and written, and all are charged when none is short.
//
// Remaining is the smallest number of whole tokens left in any, Limit the
// burst of that bucket, and RetryAfter the largest wait among those that are
// short. by is the part that decided: the first that can never pass, the one
// to wait longest for, or the one with least left; -1 when there are none.
func (a All) Take(now int64) (d Decision, by int) {
	t := instant(now)
	by = -1
	for i := range a {
		if a[i].Cost > a[i].Rule.whole || a[i].Cost < 0 {
			d.RetryAfter, by = Never, i
			break
		}
	}
	if d.RetryAfter != Never {
		d.RetryAfter, by = a.refill(t)
	}
	d.OK = d.RetryAfter == 0
	least := -1
	for i := range a {
		p := &a[i]
		b, r := p.Bucket, p.Rule
		if d.OK {
			// Written above, so this is a charge on what is there.
			b.tokens -= p.Cost * r.token
		}
		level, at := b.level(r, t), b.stamp(r, t)
		if left := level / r.token; least < 0 || left < d.Remaining {
			d.Remaining, d.Limit, least = left, r.whole, i
		}
		d.ResetAfter = max(d.ResetAfter, time.Duration(at-t+r.wait(r.most-level)))
	}
	if d.OK {
		by = least
	}
	return d, by
}

// refill writes every bucket with a cost as of t. It returns the largest wait
// among those that are short of it and whose that is.
func (a All) refill(t int64) (longest time.Duration, by int) {
	by = -1
	for i := range a {
		p := &a[i]
		b, r := p.Bucket, p.Rule
		if p.Cost == 0 {
			continue
		}
		b.tokens, b.last = b.level(r, t), b.stamp(r, t)
		if short := p.Cost*r.token - b.tokens; short > 0 {
			if wait := time.Duration(b.last - t + r.wait(short)); wait > longest {
				longest, by = wait, i
			}
		}
	}
	return longest, by
}

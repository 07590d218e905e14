package limit

import "time"

// BucketRule is a [BucketSpec] made ready; see [BucketSpec.In]. It is immutable
// and safe for concurrent use. The zero value is no valid rule.
type BucketRule struct {
	units  int64 // added per ns
	token  int64 // units in one token, the grain
	most   int64 // burst, units
	whole  int64 // burst, whole tokens
	full   int64 // ns to fill an empty bucket, rounded up
	ttl    int64 // ns, 0 is none
	follow bool
}

// Grain is the grain that r was built in.
func (r *BucketRule) Grain() Grain { return Grain(r.token) }

// Burst is the most tokens that the bucket can hold, whole ones.
func (r *BucketRule) Burst() int64 { return r.whole }

// Full is how long an empty bucket takes to fill.
func (r *BucketRule) Full() time.Duration { return time.Duration(r.full) }

// wait is how long missing units take to come, rounded up.
func (r *BucketRule) wait(missing int64) int64 {
	if missing <= 0 {
		return 0
	}
	return int64((uint64(missing) + uint64(r.units) - 1) / uint64(r.units))
}

// Bucket is the state of one token bucket whose rule comes with each check, as
// it does where a rule is rolled out over many gateways that share a store:
// the check refills with its rule's rate and caps at its rule's burst. The
// zero value is no state: a full bucket under any rule. Copying is a copy of
// the state. Not safe for concurrent use.
//
// Under one rule it decides as the token-bucket limiter of a [Spec] does.
type Bucket struct {
	tokens int64 // units, as of last
	last   int64 // instant of the last write; 0 is no state
}

// Take decides on cost tokens at now, and takes them when it admits. In every
// case but a peek (a cost of 0) and a negative cost it writes the refilled
// tokens and the time.
func (b *Bucket) Take(r *BucketRule, now, cost int64) (d Decision) {
	t := instant(now)
	level, at := b.level(r, t), b.stamp(r, t)
	ask := max(cost, 1)
	d.Limit = r.whole
	if ask > r.whole || cost < 0 {
		d.RetryAfter = Never
	} else if short := ask*r.token - level; short > 0 {
		d.RetryAfter = time.Duration(at - t + r.wait(short))
	} else {
		d.OK = true
		if cost > 0 {
			level = -short
		}
	}
	if cost > 0 {
		b.tokens, b.last = level, at
	}
	d.Remaining = int64(uint64(level) / uint64(r.token))
	d.ResetAfter = time.Duration(at - t + r.wait(r.most-level))
	return d
}

// Give puts cost tokens back, as from a lease that was not spent, up to the
// burst. A cost of 0 or less does nothing.
func (b *Bucket) Give(r *BucketRule, now, cost int64) {
	if cost <= 0 {
		return
	}
	t := instant(now)
	level, at := b.level(r, t), b.stamp(r, t)
	if cost >= r.whole {
		level = r.most
	} else {
		level = min(r.most, level+cost*r.token)
	}
	b.tokens, b.last = level, at
}

// drain takes cost tokens, or all there are.
func (b *Bucket) drain(r *BucketRule, now, cost int64) {
	t := instant(now)
	level, at := b.level(r, t), b.stamp(r, t)
	if cost > r.whole {
		level = 0
	} else {
		level = max(0, level-cost*r.token)
	}
	b.tokens, b.last = level, at
}

// Level is how much the bucket holds at now, in units of the rule's grain,
// without writing.
func (b *Bucket) Level(r *BucketRule, now int64) int64 { return b.level(r, instant(now)) }

// Set overwrites the state with units as of now, up to the rule's burst, as a
// caller does that has read the level and writes back what it reckons. That is
// a race between callers; it exists to show it.
func (b *Bucket) Set(r *BucketRule, now, units int64) {
	b.tokens, b.last = min(max(units, 0), r.most), instant(now)
}

// level is the refilled amount at t.
func (b *Bucket) level(r *BucketRule, t int64) int64 {
	elapsed := t - b.last
	if b.last == 0 || elapsed >= r.full || r.ttl > 0 && elapsed >= r.ttl {
		return r.most
	}
	// Elapsed is below the time to fill, so the product is below most + units.
	return min(r.most, b.tokens+max(0, elapsed)*r.units)
}

// stamp is the time to decide as of and to write at t.
func (b *Bucket) stamp(r *BucketRule, t int64) int64 {
	if r.follow {
		return t
	}
	return max(t, b.last)
}

package limit

// FailMode is how a rule decides what the store does not.
type FailMode uint8

const (
	FailOpen   FailMode = iota // admit
	FailClosed                 // refuse
	FailLocal                  // ask a bucket with the gateway's share of the limit
)

var failModes = [...]string{"open", "closed", "local"}

// String is "open", "closed" or "local".
func (m FailMode) String() string { return failModes[m] }

// ParseFailMode is the inverse of String.
func ParseFailMode(s string) (FailMode, error) {
	for i, name := range failModes {
		if name == s {
			return FailMode(i), nil
		}
	}
	return 0, &SpecError{Field: "fail mode", Value: s, Reason: "is not one of open, closed, local", Hint: "local"}
}

// Fallback decides for one key in one gateway while the store does not. The
// zero value fails open. Not safe for concurrent use.
type Fallback struct {
	mode   FailMode
	rule   BucketRule // FailLocal
	bucket Bucket
}

// NewFallback makes a fallback; part is the gateway's share of the limit under
// FailLocal, 1/20 for one of 20, and may be larger where some slack is wanted.
// The other modes look at neither limit nor part. Its error is a *SpecError.
func NewFallback(mode FailMode, limit BucketSpec, part Fraction) (*Fallback, error) {
	f := &Fallback{mode: mode}
	if mode != FailLocal {
		return f, nil
	}
	share, err := limit.Share(part)
	if err != nil {
		return nil, err
	}
	f.rule, err = share.Rule()
	return f, err
}

// Mode is the mode that f was made with.
func (f *Fallback) Mode() FailMode { return f.mode }

// Decide stands in for the store's decision. The local bucket is full at the
// first call and is kept from then on, so that a second outage does not begin
// with another burst. A refusal by FailClosed has an Unknown wait.
func (f *Fallback) Decide(now, cost int64) Decision {
	switch {
	case f.mode == FailLocal:
		return f.bucket.Take(&f.rule, now, cost)
	case cost < 0:
		return Decision{RetryAfter: Never}
	case f.mode == FailClosed:
		return Decision{RetryAfter: Unknown}
	}
	return Decision{OK: true}
}

// Keep takes what the store has admitted from the local bucket too, as far as
// it goes. A gateway that calls it while the store answers begins an outage
// with what is really left of its share, and not with a full bucket.
func (f *Fallback) Keep(now, cost int64) {
	if f.mode == FailLocal && cost > 0 {
		f.bucket.drain(&f.rule, now, cost)
	}
}

// Refund puts back what Decide took for a request that another of its limits
// refused.
func (f *Fallback) Refund(now, cost int64) {
	if f.mode == FailLocal {
		f.bucket.Give(&f.rule, now, cost)
	}
}

// Idle reports whether f is as good as newly made: nothing is missing from its
// bucket.
func (f *Fallback) Idle(now int64) bool {
	return f.mode != FailLocal || f.bucket.level(&f.rule, instant(now)) == f.rule.most
}

// Follow takes over what is left in the bucket of a fallback that f replaces,
// as when the limit has changed. A bucket is never filled up by that.
func (f *Fallback) Follow(old *Fallback, now int64) {
	if f.mode == FailLocal && old.mode == FailLocal {
		left := old.bucket.Take(&old.rule, now, 0).Remaining
		f.bucket.drain(&f.rule, now, max(0, f.rule.whole-left))
	}
}

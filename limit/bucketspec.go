package limit

import (
	"strconv"
	"time"
)

// Grain is how many units a token is divided into. All rules that one [Bucket]
// may meet must be built in one grain; its state is then an amount that each
// of them understands.
type Grain int64

// baseGrain lets any whole rate a second add a whole number of units a
// nanosecond: a rate of r adds r.
const baseGrain = 1_000_000_000

// GrainFor is the smallest multiple of 1e9 in which every spec's rate adds a
// whole number of units a nanosecond and every burst is a whole number of
// units. It fails with a *SpecError when that needs more than 61 bits.
func GrainFor(specs ...BucketSpec) (Grain, error) {
	g := int64(baseGrain)
	for _, s := range specs {
		if err := s.check(); err != nil {
			return 0, err
		}
		per := int64(s.Rate.Per) / gcd(s.Rate.Units, int64(s.Rate.Per))
		den := s.Burst.Den / gcd(s.Burst.Num, s.Burst.Den)
		for _, f := range [...]struct {
			name, text string
			den        int64
		}{{"rate", s.Rate.String(), per}, {"burst", s.Burst.String(), den}} {
			next, ok := times(g, f.den/gcd(g, f.den))
			if !ok {
				return 0, bucketError(f.name, f.text, "has no exact unit in common with the others that fits in 61 bits")
			}
			g = next
		}
	}
	return Grain(g), nil
}

// BucketSpec is what a bucket's rule is built from.
type BucketSpec struct {
	Rate  Rate
	Burst Fraction // tokens; a share may be a part of one
	// TTL makes a state disappear, which leaves a full bucket, that was last
	// written this long ago or longer. 0 is never. One below the time to fill
	// gives tokens away.
	TTL time.Duration
	// Follow is [Spec.Follow]: each check's time is written back, even one
	// earlier than the stored one. Otherwise the highest time stays.
	Follow bool
}

// Bucket is the bucket that a token-bucket spec describes.
func (s Spec) Bucket() BucketSpec {
	return BucketSpec{Rate: s.Rate, Burst: Whole(s.Burst), Follow: s.Follow}
}

// check looks at each number on its own.
func (s BucketSpec) check() error {
	switch {
	case s.Rate.Units <= 0 || s.Rate.Per <= 0:
		return bucketError("rate", s.Rate.String(), "must be above zero")
	case !s.Burst.valid():
		return bucketError("burst", s.Burst.String(), "must be above zero")
	case s.Burst.Num < s.Burst.Den:
		return bucketError("burst", s.Burst.String(), "must be at least one token")
	case s.TTL < 0:
		return bucketError("ttl", s.TTL.String(), "must not be negative")
	}
	return nil
}

// Share is the part of s that one of several gets: rate and burst times part,
// exactly, but a burst of at least one token. A gateway of 20 gets 1/20.
func (s BucketSpec) Share(part Fraction) (BucketSpec, error) {
	if err := s.check(); err != nil {
		return BucketSpec{}, err
	}
	if !part.valid() {
		return BucketSpec{}, bucketError("share", part.String(), "must be above zero")
	}
	rate, ok := Fraction{s.Rate.Units, int64(s.Rate.Per)}.times(part)
	if !ok {
		return BucketSpec{}, bucketError("rate", s.Rate.String(), "cannot be shared exactly in 61 bits: "+part.String()+" of it")
	}
	burst, ok := s.Burst.times(part)
	if !ok {
		return BucketSpec{}, bucketError("burst", s.Burst.String(), "cannot be shared exactly in 61 bits: "+part.String()+" of it")
	}
	if burst.Num < burst.Den {
		burst = Whole(1)
	}
	s.Rate, s.Burst = Rate{rate.Num, time.Duration(rate.Den)}, burst
	return s, nil
}

// Rule builds the rule in a grain of its own.
func (s BucketSpec) Rule() (BucketRule, error) {
	g, err := GrainFor(s)
	if err != nil {
		return BucketRule{}, err
	}
	return s.In(g)
}

// In builds the rule in grain g, which must be one that GrainFor gave for
// specs that s was among, or a multiple of it.
func (s BucketSpec) In(g Grain) (BucketRule, error) {
	if err := s.check(); err != nil {
		return BucketRule{}, err
	}
	common := gcd(s.Rate.Units, int64(s.Rate.Per))
	per := int64(s.Rate.Per) / common
	if g <= 0 || int64(g)%per != 0 {
		return BucketRule{}, bucketError("rate", s.Rate.String(), "is not exact in units of 1/"+strconv.FormatInt(int64(g), 10)+" token")
	}
	units, ok := times(s.Rate.Units/common, int64(g)/per)
	if !ok {
		return BucketRule{}, bucketError("rate", s.Rate.String(), "is too fast to count exactly in 61 bits")
	}
	most, ok := Fraction{int64(g), 1}.times(s.Burst)
	switch {
	case !ok:
		return BucketRule{}, bucketError("burst", s.Burst.String(), "is too many at "+s.Rate.String()+" to count exactly in 61 bits")
	case most.Den != 1:
		return BucketRule{}, bucketError("burst", s.Burst.String(), "is not exact in units of 1/"+strconv.FormatInt(int64(g), 10)+" token")
	}
	r := BucketRule{units: units, token: int64(g), most: most.Num, whole: most.Num / int64(g), ttl: int64(s.TTL), follow: s.Follow}
	r.full = r.wait(r.most)
	return r, nil
}

func bucketError(field, value, reason string) error {
	return &SpecError{Field: field, Value: value, Reason: reason, Hint: syntaxes[TokenBucket].example}
}

package limit

// Copies are one bucket per gateway for one key, each gateway asking its own:
// what a limit becomes when nothing is shared. Build them with [LocalCopies]
// or [ExactShares]. A bucket is its gateway's; different ones may be used
// concurrently.
type Copies struct {
	Rule    BucketRule // of each
	Buckets []Bucket
}

// LocalCopies gives every one of n gateways the full limit. Together they
// admit up to n times what was promised.
func LocalCopies(s BucketSpec, n int) (*Copies, error) {
	return newCopies(s, Whole(1), n)
}

// ExactShares gives every one of n gateways its n-th part of the rate and of
// the burst, but a burst of at least one token. Together they keep to the
// rate, and serve less of it when the traffic is spread unevenly.
func ExactShares(s BucketSpec, n int) (*Copies, error) {
	return newCopies(s, Fraction{1, int64(n)}, n)
}

func newCopies(s BucketSpec, part Fraction, n int) (*Copies, error) {
	if n < 1 {
		return nil, bucketError("gateways", Whole(int64(n)).String(), "must be above zero")
	}
	s, err := s.Share(part)
	if err != nil {
		return nil, err
	}
	rule, err := s.Rule()
	if err != nil {
		return nil, err
	}
	return &Copies{rule, make([]Bucket, n)}, nil
}

// Take asks the bucket of a gateway, counted from 0.
func (c *Copies) Take(gateway int, now, cost int64) Decision {
	return c.Buckets[gateway].Take(&c.Rule, now, cost)
}

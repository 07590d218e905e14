package limit

import (
	"math/big"
	"strconv"
	"time"
)

// BlockSize is the size of a block that lasts a gateway for span when each of
// gateways uses its equal part of r: span*r/gateways rounded up, and not below
// least. It saturates at 1<<61.
func BlockSize(r Rate, gateways int64, span time.Duration, least int64) int64 {
	n := new(big.Int).Mul(big.NewInt(int64(span)), big.NewInt(r.Units))
	d := new(big.Int).Mul(big.NewInt(gateways), big.NewInt(int64(r.Per)))
	return max(least, divUp(n, d))
}

// divUp is n/d rounded up, at most maxLevel. d must be above zero.
func divUp(n, d *big.Int) int64 {
	q, m := new(big.Int).DivMod(n, d, new(big.Int))
	if m.Sign() != 0 {
		q.Add(q, big.NewInt(1))
	}
	if !q.IsInt64() || q.Int64() > maxLevel {
		return maxLevel
	}
	return q.Int64()
}

// BlockBook is the store's side of leases in whole blocks: one token bucket
// per key, from which a lease takes a whole block or nothing. Immutable and
// safe for concurrent use; a State is its owner's.
type BlockBook struct {
	bucket tokenBucket
	block  int64
	cost   int64 // units of a block
	pause  int64 // ns from a denial until it is worth asking again
}

// NewBlockBook makes the book of a token-bucket spec. A denial tells the
// gateway to keep away for gateways*block/rate, in which time the bucket gains
// a block for everybody. Its error is a *SpecError.
func NewBlockBook(s Spec, block, gateways int64) (*BlockBook, error) {
	if err := leasable(s); err != nil {
		return nil, err
	}
	p, err := newPace(s.Rate, s.Burst)
	if err != nil {
		return nil, s.fail("burst", "is too many at "+s.Rate.String()+" to count exactly in 64 bits")
	}
	if block <= 0 || block > s.Burst {
		return nil, &SpecError{
			Field: "block", Value: strconv.FormatInt(block, 10),
			Reason: "must be from 1 to the burst, " + strconv.FormatInt(s.Burst, 10) + ", or it could never be granted",
			Hint:   "a burst of at least the block",
		}
	}
	if gateways <= 0 {
		return nil, &SpecError{Field: "gateways", Value: strconv.FormatInt(gateways, 10), Reason: "must be above zero", Hint: "1"}
	}
	n := new(big.Int).Mul(big.NewInt(gateways), big.NewInt(block))
	n.Mul(n, big.NewInt(int64(s.Rate.Per)))
	return &BlockBook{
		bucket: tokenBucket{p, s}, block: block, cost: block * p.token,
		pause: divUp(n, big.NewInt(s.Rate.Units)),
	}, nil
}

// leasable refuses specs that are not of a token bucket.
func leasable(s Spec) error {
	if err := s.Validate(); err != nil {
		return err
	}
	if s.Algorithm != TokenBucket || s.Follow {
		return &SpecError{
			Field: "algorithm", Value: s.Algorithm.String(),
			Reason: "cannot be leased: only tokens of a bucket can be moved", Hint: syntaxes[TokenBucket].example,
		}
	}
	return nil
}

// Lease takes a block out of s and returns its size, or returns 0 and the
// instant before which the gateway should not ask again.
func (b *BlockBook) Lease(s *State, now int64) (granted, deniedUntil int64) {
	p := &b.bucket.pace
	at := max(instant(now), s.b)
	level := p.drain(s.a, max(0, at-s.b))
	s.b = at
	if level+b.cost > p.most {
		s.a = level
		return 0, addCapped(at, b.pause) - origin
	}
	s.a = level + b.cost
	return b.block, 0
}

// GiveBack returns unspent tokens to s, up to a full bucket: what would not
// fit is lost, so giving back never lets through more than the limit. A
// negative n does nothing.
func (b *BlockBook) GiveBack(s *State, now, n int64) {
	p := &b.bucket.pace
	at := max(instant(now), s.b)
	s.a, s.b = p.drain(s.a, max(0, at-s.b)), at
	if n > 0 {
		s.a = max(0, s.a-min(n, p.whole)*p.token)
	}
}

// Tokens is how many whole tokens are in s at now. It changes nothing.
func (b *BlockBook) Tokens(s *State, now int64) int64 { return s.tokens(&b.bucket.pace, now) }

// Fresh reports whether s is as good as never used from now on.
func (b *BlockBook) Fresh(s *State, now int64) bool { return b.bucket.Fresh(s, now) }

// tokens is the whole tokens of a bucket at now.
func (s *State) tokens(p *pace, now int64) int64 {
	return (p.most - p.drain(s.a, max(0, instant(now)-s.b))) / p.token
}

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

// BlockBook is the store's side of leases in whole blocks: a token bucket per
// key, from which a lease takes a whole block or nothing. Immutable and safe
// for concurrent use; a Bucket is its owner's.
type BlockBook struct {
	rule  BucketRule
	block int64
	pause int64 // ns from a denial until it is worth asking again
}

// NewBlockBook makes the book of buckets under s. A denial tells the gateway
// to keep away for gateways*block/rate, in which time the bucket gains a block
// for each. Its error is a *SpecError.
func NewBlockBook(s BucketSpec, block, gateways int64) (*BlockBook, error) {
	rule, err := s.Rule()
	if err != nil {
		return nil, err
	}
	if block <= 0 || block > rule.Burst() {
		return nil, &SpecError{
			Field: "block", Value: strconv.FormatInt(block, 10),
			Reason: "must be from 1 to the burst, " + s.Burst.String() + ", or it could never be granted",
			Hint:   "a burst of at least the block",
		}
	}
	if gateways <= 0 {
		return nil, &SpecError{Field: "gateways", Value: strconv.FormatInt(gateways, 10), Reason: "must be above zero", Hint: "1"}
	}
	n := new(big.Int).Mul(big.NewInt(gateways), big.NewInt(block))
	n.Mul(n, big.NewInt(int64(s.Rate.Per)))
	return &BlockBook{rule, block, divUp(n, big.NewInt(s.Rate.Units))}, nil
}

// Pause is how long a denial tells a gateway to keep away.
func (k *BlockBook) Pause() time.Duration { return time.Duration(k.pause) }

// Lease takes a block out of a key's bucket and returns its size, or returns 0
// and the instant before which the gateway should not ask again.
func (k *BlockBook) Lease(b *Bucket, now int64) (granted, deniedUntil int64) {
	if b.Take(&k.rule, now, k.block).OK {
		return k.block, 0
	}
	return 0, addCapped(b.last, k.pause) - origin
}

// GiveBack returns unspent tokens to a key's bucket, up to a full one: what
// would not fit is lost, so giving back never lets through more than the
// limit. A negative n does nothing.
func (k *BlockBook) GiveBack(b *Bucket, now, n int64) { b.Give(&k.rule, now, n) }

// Tokens is how many whole tokens are in a key's bucket at now. It changes
// nothing.
func (k *BlockBook) Tokens(b *Bucket, now int64) int64 {
	return b.Level(&k.rule, now) / int64(k.rule.Grain())
}

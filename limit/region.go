package limit

import (
	"math/big"
	"slices"
	"strconv"
)

// RegionRules is what Regions agree on that divide one limit among them by
// demand and read of each other only with a delay. Amounts are shares of the
// limit, units a second, as exact fractions; nothing ever changes a fraction
// that was handed in or out.
type RegionRules struct {
	Limit    *big.Rat // of all Regions together
	Floor    *big.Rat // least target of a live Region
	MaxRaise *big.Rat // most that a share rises by at one rebalance
	Silent   int      // a Region is silent once its record was found again this often in a row
	Reclaim  RegionReclaim
	Jump     bool // take the target as share at once, with no regard to the others
}

// RegionReclaim says when the share of a silent Region may be taken over.
type RegionReclaim uint8

const (
	RegionFreeze     RegionReclaim = iota // never; its last readable demand counts on
	RegionTwoSignals                      // when the health check says unhealthy, too
	RegionSilence                         // when it is silent
)

// Validate refuses rules that n Regions cannot keep. The error is a
// *SpecError.
func (r *RegionRules) Validate(n int) error {
	bad := func(field string, v *big.Rat, reason, hint string) error {
		text := "nil"
		if v != nil {
			text = v.RatString()
		}
		return &SpecError{Field: field, Value: text, Reason: reason, Hint: hint}
	}
	switch {
	case n < 1:
		return &SpecError{Field: "regions", Value: strconv.Itoa(n), Reason: "must be at least 1", Hint: "3"}
	case r.Limit == nil || r.Limit.Sign() <= 0:
		return bad("limit", r.Limit, "must be above zero", "10000")
	case r.Floor == nil || r.Floor.Sign() < 0:
		return bad("floor", r.Floor, "must not be negative", "0")
	case r.floors(n).Cmp(r.Limit) > 0:
		each := new(big.Rat).Quo(r.Limit, whole(n))
		return bad("floor", r.Floor, "is above the limit divided by the Regions, "+each.RatString(), each.RatString())
	case r.MaxRaise == nil || r.MaxRaise.Sign() <= 0:
		return bad("max raise", r.MaxRaise, "must be above zero", "1000")
	case r.Silent < 1:
		return &SpecError{Field: "silent", Value: strconv.Itoa(r.Silent), Reason: "must be at least 1", Hint: "3"}
	}
	return nil
}

func (r *RegionRules) floors(n int) *big.Rat { return new(big.Rat).Mul(r.Floor, whole(n)) }

// Target is the share that Region i of the live ones should have: the floor,
// and what the floors leave of the limit in proportion to demand. Regions
// without any demand get the same each. demands has an entry per Region.
func (r *RegionRules) Target(i int, demands []*big.Rat, live []bool) *big.Rat {
	n, all := 0, new(big.Rat)
	for j, d := range demands {
		if live[j] {
			n++
			all.Add(all, d)
		}
	}
	part := new(big.Rat)
	if all.Sign() > 0 {
		part.Quo(demands[i], all)
	} else {
		part.SetFrac64(1, int64(n))
	}
	left := new(big.Rat).Sub(r.Limit, r.floors(n))
	return part.Add(r.Floor, part.Mul(part, left))
}

// RegionRecord is what a Region writes for the others to read at each
// rebalance. It is immutable.
type RegionRecord struct {
	Seq     uint64 // 0 for the record it starts with, then one more each time
	Demand  *big.Rat
	Share   *big.Rat
	Need    *big.Rat   // target less share; what the pool holds is not counted
	Granted []*big.Rat // to each Region, since the start
}

// Region is one Region's part in dividing the limit. Use it from one
// goroutine. Share may be spent at any time; all else happens in Rebalance.
//
// Shares move by named grants: who lowers its share names the Region that may
// raise its own, so at any time shares + pools + grants not yet taken are the
// limit, exactly, however late records are read.
type Region struct {
	rules     *RegionRules
	self      int
	share     *big.Rat
	pool      *big.Rat
	reclaimed *big.Rat       // put into the pool out of silent Regions' shares
	granted   []*big.Rat     // to each other Region, since the start
	taken     []*big.Rat     // from each other Region, since the start
	last      []RegionRecord // newest that was read of each
	again     []int          // how often in a row it was found again
	live      []bool         // not reclaimed, in my view
	seq       uint64
}

// NewRegion is Region self of len(demands), whose share is its target for
// these demands. It takes the others to have started from the same.
func NewRegion(rules *RegionRules, self int, demands []*big.Rat) (*Region, error) {
	n := len(demands)
	if err := rules.Validate(n); err != nil {
		return nil, err
	}
	for _, d := range demands {
		if d == nil || d.Sign() < 0 {
			return nil, &SpecError{Field: "demands", Value: "nil or below zero", Reason: "is no demand", Hint: "0"}
		}
	}
	if self < 0 || self >= n {
		return nil, &SpecError{Field: "region", Value: strconv.Itoa(self), Reason: "is none of them", Hint: "0"}
	}
	r := &Region{
		rules: rules, self: self, pool: new(big.Rat), reclaimed: new(big.Rat),
		granted: zeros(n), taken: zeros(n),
		last: make([]RegionRecord, n), again: make([]int, n), live: slices.Repeat([]bool{true}, n),
	}
	for i := range n {
		r.last[i] = RegionRecord{Demand: demands[i], Share: rules.Target(i, demands, r.live), Need: new(big.Rat), Granted: zeros(n)}
		r.again[i] = -1
	}
	r.share = r.last[self].Share
	return r, nil
}

// Share is what the Region may admit a second.
func (r *Region) Share() *big.Rat { return r.share }

// Pool is what the Region holds and may not spend: it was lowered or granted,
// and is not yet granted on or part of the share.
func (r *Region) Pool() *big.Rat { return r.pool }

// Live reports whether Region i is counted for targets and grants.
func (r *Region) Live(i int) bool { return r.live[i] }

// Last is the newest record of Region i that was read; its own is the last
// that it wrote.
func (r *Region) Last(i int) RegionRecord { return r.last[i] }

// RegionSum is what Regions hold between them: their shares, their pools,
// the grants that are not yet taken, and how much was reclaimed. With named
// grants, shares + pools + grants - reclaimed = limit at all times.
func RegionSum(regions []*Region) (shares, pools, grants, reclaimed *big.Rat) {
	shares, pools, grants, reclaimed = new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	for i, r := range regions {
		shares.Add(shares, r.share)
		pools.Add(pools, r.pool)
		reclaimed.Add(reclaimed, r.reclaimed)
		for j, to := range regions {
			if j != i {
				grants.Add(grants, r.granted[j])
				grants.Sub(grants, to.taken[i])
			}
		}
	}
	return shares, pools, grants, reclaimed
}

func whole(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

func zeros(n int) []*big.Rat {
	z := make([]*big.Rat, n)
	for i := range z {
		z[i] = new(big.Rat)
	}
	return z
}

package limit

import (
	"math/big"
	"slices"
)

// RegionSight is what one Region sees of another at a rebalance.
type RegionSight struct {
	Record    *RegionRecord // newest that can be read; nil when none can be
	Unhealthy bool          // the health check says so
	Part      *big.Rat      // of the other's share that is mine to reclaim, 0 to 1; nil is none
}

// RegionMove is what a rebalance did.
type RegionMove struct {
	Record    RegionRecord // to be written for the others
	Target    *big.Rat
	Reclaimed []int // Regions whose share was taken over, in order
}

// Rebalance moves the share towards its target. demand is the Region's own
// recent demand; sights has an entry per Region, its own unused.
func (r *Region) Rebalance(demand *big.Rat, sights []RegionSight) RegionMove {
	var m RegionMove
	r.read(sights)
	m.Reclaimed = r.reclaim(sights)
	m.Target = r.target(demand)
	if r.rules.Jump {
		r.share = m.Target
	} else {
		r.take()
		r.move(m.Target)
		r.grant()
	}
	r.seq++
	m.Record = RegionRecord{
		Seq: r.seq, Demand: demand, Share: r.share,
		Need:    new(big.Rat).Sub(m.Target, r.share),
		Granted: slices.Clone(r.granted),
	}
	r.last[r.self] = m.Record
	return m
}

// read keeps the newest records and counts those found again.
func (r *Region) read(sights []RegionSight) {
	for i, s := range sights {
		switch {
		case i == r.self:
		case s.Record == nil || s.Record.Seq <= r.last[i].Seq:
			r.again[i]++
		default:
			r.last[i], r.again[i] = *s.Record, 0
		}
	}
}

// reclaim takes over shares of Regions that went silent, once each.
func (r *Region) reclaim(sights []RegionSight) (of []int) {
	for i, s := range sights {
		if i == r.self || !r.live[i] || r.again[i] < r.rules.Silent {
			continue
		}
		switch r.rules.Reclaim {
		case RegionFreeze:
			continue
		case RegionTwoSignals:
			if !s.Unhealthy {
				continue
			}
		case RegionSilence:
		}
		r.live[i] = false
		of = append(of, i)
		if s.Part != nil && !r.rules.Jump { // who jumps to targets has no pool
			part := new(big.Rat).Mul(s.Part, r.last[i].Share)
			r.pool = new(big.Rat).Add(r.pool, part)
			r.reclaimed = new(big.Rat).Add(r.reclaimed, part)
		}
	}
	return of
}

// target is that of the Region's own demand and the newest of the others.
func (r *Region) target(own *big.Rat) *big.Rat {
	demands := make([]*big.Rat, len(r.last))
	for i := range demands {
		demands[i] = r.last[i].Demand
	}
	demands[r.self] = own
	return r.rules.Target(r.self, demands, r.live)
}

// others are the live Regions but this one.
func (r *Region) others(yield func(int) bool) {
	for i, live := range r.live {
		if live && i != r.self && !yield(i) {
			return
		}
	}
}

// take moves grants to this Region that have become readable into the pool.
func (r *Region) take() {
	for i := range r.others {
		all := r.last[i].Granted[r.self]
		r.pool = new(big.Rat).Add(r.pool, new(big.Rat).Sub(all, r.taken[i]))
		r.taken[i] = all
	}
}

// move lowers the share to the target at once, and raises it by the least of
// the gap, the pool and the most that is allowed at a time.
func (r *Region) move(target *big.Rat) {
	by := new(big.Rat).Sub(target, r.share)
	if by.Sign() > 0 {
		for _, most := range []*big.Rat{r.pool, r.rules.MaxRaise} {
			if by.Cmp(most) > 0 {
				by = most
			}
		}
	}
	r.share = new(big.Rat).Add(r.share, by)
	r.pool = new(big.Rat).Sub(r.pool, by)
}

// grant gives the pool to the others in proportion to their unmet needs,
// never more than a need. What is over stays in the pool.
func (r *Region) grant() {
	needs := new(big.Rat)
	for i := range r.others {
		needs.Add(needs, r.last[i].Need)
	}
	if needs.Sign() <= 0 || r.pool.Sign() <= 0 {
		return
	}
	part := new(big.Rat).Quo(r.pool, needs)
	if part.Cmp(whole(1)) > 0 {
		part = whole(1)
	}
	for i := range r.others {
		give := CutRat(new(big.Rat).Mul(part, r.last[i].Need))
		r.granted[i] = new(big.Rat).Add(r.granted[i], give)
		r.pool = new(big.Rat).Sub(r.pool, give)
	}
}

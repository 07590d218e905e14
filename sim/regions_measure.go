package sim

import (
	"math/big"

	"github.com/weir-cli/weir/limit"
)

// reclaim is a Region taking over a part of another's share.
type reclaim struct {
	by, of int
	at     Micros
}

// regionMeasure watches a run of Regions. All sums are exact; limit.CutRat
// keeps them so to 2^-128 where demand never rests.
type regionMeasure struct {
	limit, dt, perStep *big.Rat
	step               Micros

	sum                        *big.Rat // of shares of Regions that are up
	highest, lowest            extreme
	withLost                   *big.Rat // of shares, also of Regions that are lost
	highestLost, lowestLost    extreme  // of that
	belowLost                  *big.Rat // share-seconds of that below the limit
	pool, inFlight             *big.Rat // most in pools, most granted and not taken
	below                      *big.Rat // share-seconds below the limit
	checks, violations         int64
	balanced                   bool // conservation holds now
	lost                       bool
	history                    [][]shareSince
	rebalances                 int64
	reclaims                   []reclaim
	admitted, demanded         *big.Rat
	each                       []*big.Rat // admitted of each Region
	excess                     regionExcess
	busiest                    regionWindow
	bound                      regionBound
	second, highestInSecond    *big.Rat   // of the second under way
	eachSecond                 []*big.Rat // of the second under way
	lastSecond, busiestAligned *big.Rat
	columns                    *regionColumns // nil keeps none
}

// shareSince is a share and when it began.
type shareSince struct {
	at    Micros
	share *big.Rat
}

// extreme is an extreme sum of shares and when it was first met.
type extreme struct {
	sum *big.Rat
	at  Micros
}

// meet keeps v when it is beyond the extreme; sign is 1 for the highest.
func (e *extreme) meet(v *big.Rat, at Micros, sign int) {
	if e.sum == nil || v.Cmp(e.sum) == sign {
		e.sum, e.at = v, at
	}
}

func newRegionMeasure(w *regionRun) *regionMeasure {
	n := len(w.regions)
	m := &regionMeasure{
		limit: w.rules.Limit, dt: w.p.Step.rat(), step: w.p.Step,
		pool: new(big.Rat), inFlight: new(big.Rat), below: new(big.Rat), belowLost: new(big.Rat),
		history: make([][]shareSince, n), admitted: new(big.Rat), demanded: new(big.Rat),
		second: new(big.Rat), lastSecond: new(big.Rat), busiestAligned: new(big.Rat),
		highestInSecond: new(big.Rat),
	}
	for range n {
		m.each = append(m.each, new(big.Rat))
		m.eachSecond = append(m.eachSecond, new(big.Rat))
	}
	m.perStep = new(big.Rat).Mul(m.limit, m.dt)
	m.excess = newRegionExcess(m.perStep)
	m.busiest = newRegionWindow(Second, m.step)
	m.bound = regionBound{from: w.p.BoundFrom, margin: new(big.Rat).SetInt64(w.p.Margin), over: new(big.Rat)}
	return m
}

// shares looks at shares, pools and grants after a rebalance or a fault.
func (m *regionMeasure) shares(w *regionRun) {
	shares, pools, grants, reclaimed := limit.RegionSum(w.regions)
	held := new(big.Rat).Add(shares, pools)
	held.Add(held, grants).Sub(held, reclaimed)
	m.balanced = held.Cmp(m.limit) == 0
	m.highestLost.meet(shares, w.now, 1)
	m.sum, m.withLost = shares, shares
	for i, r := range w.regions {
		if w.down[i] {
			m.sum = new(big.Rat).Sub(m.sum, r.Share())
		}
		if h := m.history[i]; len(h) == 0 || h[len(h)-1].share.Cmp(r.Share()) != 0 {
			m.history[i] = append(h, shareSince{w.now, r.Share()})
		}
	}
	m.pool = maxRat(m.pool, pools)
	m.inFlight = maxRat(m.inFlight, grants)
}

// flow lets n steps flow and takes the measures of each.
func (m *regionMeasure) flow(w *regionRun, n int64) {
	m.highest.meet(m.sum, w.now, 1)
	m.lowest.meet(m.sum, w.now, -1)
	m.lowestLost.meet(m.withLost, w.now, -1)
	m.highestInSecond = maxRat(m.highestInSecond, m.sum)
	if w.now%Second == 0 {
		m.columns.begin(w)
	}
	m.checks += n
	if !m.balanced {
		m.violations += n
	}
	steps := new(big.Rat).SetInt64(n)
	m.below = m.addGap(m.below, m.sum, steps)
	m.belowLost = m.addGap(m.belowLost, m.withLost, steps)
	runs := make([][]limit.FluidRun, len(w.regions))
	for i, r := range w.regions {
		demand := new(big.Rat).Mul(w.demands[i].now(), m.dt)
		m.demanded = new(big.Rat).Add(m.demanded, demand.Mul(demand, steps))
		if w.down[i] {
			runs[i] = []limit.FluidRun{{Steps: n, Each: new(big.Rat)}}
			continue
		}
		runs[i] = w.fluids[i].Flow(r.Share(), w.demands[i].now(), m.dt, w.p.Bucket.rat(), n)
		for _, run := range runs[i] {
			part := new(big.Rat).Mul(run.Each, new(big.Rat).SetInt64(run.Steps))
			m.each[i] = limit.CutRat(part.Add(part, m.each[i]))
			part = new(big.Rat).Mul(run.Each, new(big.Rat).SetInt64(run.Steps))
			m.eachSecond[i] = limit.CutRat(part.Add(part, m.eachSecond[i]))
		}
	}
	for at := w.now; n > 0; {
		k, each := headRun(runs, n)
		m.steps(at, k, each)
		at += Micros(k) * m.step
		n -= k
		if at%Second == 0 || at == w.p.Duration {
			m.endSecond()
		}
	}
}

// addGap adds to total how far sum is below the limit, for that many steps.
func (m *regionMeasure) addGap(total, sum, steps *big.Rat) *big.Rat {
	if sum.Cmp(m.limit) >= 0 {
		return total
	}
	gap := new(big.Rat).Sub(m.limit, sum)
	return limit.CutRat(gap.Mul(gap, steps).Mul(gap, m.dt).Add(gap, total))
}

// headRun takes the longest run of steps off the front in which no Region
// changes, and what all of them admit in each.
func headRun(runs [][]limit.FluidRun, n int64) (k int64, each *big.Rat) {
	k, each = n, new(big.Rat)
	for _, r := range runs {
		k = min(k, r[0].Steps)
		each.Add(each, r[0].Each)
	}
	for i, r := range runs {
		if r[0].Steps -= k; r[0].Steps == 0 {
			runs[i] = r[1:]
		}
	}
	return k, each
}

// steps takes k steps from at on that admit each.
func (m *regionMeasure) steps(at Micros, k int64, each *big.Rat) {
	all := new(big.Rat).Mul(each, new(big.Rat).SetInt64(k))
	m.admitted = limit.CutRat(new(big.Rat).Add(m.admitted, all))
	m.second = limit.CutRat(all.Add(all, m.second))
	m.excess.add(at, k, each, m.step)
	m.busiest.add(at, k, each)
	m.bound.add(at, k, new(big.Rat).Sub(each, m.perStep), m.step)
}

// endSecond closes the aligned second that ends.
func (m *regionMeasure) endSecond() {
	m.columns.end(m)
	m.lastSecond = m.second
	m.busiestAligned = maxRat(m.busiestAligned, m.second)
	m.second, m.highestInSecond = new(big.Rat), new(big.Rat)
	for i := range m.eachSecond {
		m.eachSecond[i] = new(big.Rat)
	}
}

// settled is the time from which every share of a Region that is up stays
// near its final target, and whether there is one.
func (m *regionMeasure) settled(w *regionRun) (since Micros, ok bool) {
	for i, h := range m.history {
		if w.down[i] {
			continue
		}
		target := w.finalTarget(i)
		slack := new(big.Rat).Mul(target, w.p.Within.of)
		for k := len(h) - 1; k >= 0; k-- {
			off := new(big.Rat).Sub(h[k].share, target)
			if off.Abs(off).Cmp(slack) <= 0 {
				continue
			}
			if k == len(h)-1 {
				return 0, false
			}
			since = max(since, h[k+1].at)
			break
		}
	}
	return since, true
}

func maxRat(a, b *big.Rat) *big.Rat {
	if b.Cmp(a) > 0 {
		return b
	}
	return a
}

func wholeRat(n int) *big.Rat { return new(big.Rat).SetInt64(int64(n)) }

package sim

import (
	"cmp"
	"context"
	"math/big"
	"slices"

	"github.com/weir-cli/weir/limit"
)

// regionRun is one run of Regions.
type regionRun struct {
	p       *regionsParams
	rules   *limit.RegionRules
	regions []*limit.Region
	fluids  []limit.Fluid
	demands []*regionDemand
	records []regionRecords
	down    []bool // lost
	far     []bool // named by the fault, which has begun
	faulty  bool   // the fault has begun
	parts   []*big.Rat
	changes []regionChange // not yet made, in order of time

	now     Micros
	measure *regionMeasure
}

// regionDemand is a Region's demand over time.
type regionDemand struct {
	at  []Micros // when each began; the first has always been
	was []*big.Rat
}

func (d *regionDemand) now() *big.Rat { return d.was[len(d.was)-1] }

// mean is the mean over [t-span, t). It forgets what was before.
func (d *regionDemand) mean(t, span Micros) *big.Rat {
	for len(d.at) > 1 && d.at[1] <= t-span {
		d.at, d.was = d.at[1:], d.was[1:]
	}
	sum := new(big.Rat)
	for i, was := range d.was {
		from, to := t-span, t
		if i > 0 {
			from = d.at[i]
		}
		if i+1 < len(d.at) {
			to = min(to, d.at[i+1])
		}
		if from < to {
			sum.Add(sum, new(big.Rat).Mul(was, (to-from).rat()))
		}
	}
	return sum.Quo(sum, span.rat())
}

// regionRecords are the records of one Region that may yet be read.
type regionRecords struct {
	at      []Micros
	what    []*limit.RegionRecord
	crossed *limit.RegionRecord // newest that crosses the cut, once there is one
}

// readable is the newest record of before t that is delay old; older ones are
// forgotten. Since time never runs back, no reader can want them.
func (r *regionRecords) readable(t, delay Micros) *limit.RegionRecord {
	n := 0
	for n < len(r.at) && r.at[n] < t && r.at[n]+delay <= t {
		n++
	}
	if n > 1 {
		r.at, r.what = r.at[n-1:], r.what[n-1:]
	}
	if n == 0 {
		return nil
	}
	return r.what[0]
}

// newRegionRun starts all Regions; p is valid.
func newRegionRun(p *regionsParams) *regionRun {
	n := len(p.Demands)
	w := &regionRun{
		p: p, rules: p.rules(), fluids: make([]limit.Fluid, n), records: make([]regionRecords, n),
		down: make([]bool, n), far: make([]bool, n), changes: slices.Clone(p.Changes),
	}
	slices.SortStableFunc(w.changes, func(a, b regionChange) int { return cmp.Compare(a.At, b.At) })
	start := make([]*big.Rat, n)
	for i, d := range p.Demands {
		start[i] = d.rat()
		w.demands = append(w.demands, &regionDemand{[]Micros{0}, []*big.Rat{start[i]}})
	}
	for i := range n {
		r, err := limit.NewRegion(w.rules, i, start)
		if err != nil {
			panic(err) // Validate lets nothing through that the rules refuse
		}
		w.regions = append(w.regions, r)
		if start[i].Cmp(r.Share()) < 0 {
			w.fluids[i].Tokens.Mul(r.Share(), p.Bucket.rat())
		}
	}
	w.parts = w.sideParts()
	w.measure = newRegionMeasure(w)
	w.measure.shares(w)
	return w
}

// sideParts is the part of a silent Region's share that each Region takes.
func (w *regionRun) sideParts() []*big.Rat {
	parts := make([]*big.Rat, len(w.regions))
	named := len(w.p.Fault.Regions)
	for i := range parts {
		side := len(parts) - named
		if slices.Contains(w.p.Fault.Regions, regionName(i)) {
			side = named
		}
		if parts[i] = w.p.Reclaim.Part.of; parts[i] == nil {
			parts[i] = big.NewRat(1, int64(side))
		}
	}
	return parts
}

// run steps through time. Each step: changes of demand due now, rebalances
// due now, then flow; steps between two of these are taken together.
func (w *regionRun) run(ctx context.Context, progress func(float64)) error {
	for beat := 0; w.now < w.p.Duration; beat++ {
		if beat%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if progress != nil {
				progress(float64(w.now) / float64(w.p.Duration))
			}
		}
		w.change()
		if w.rebalances() {
			w.measure.shares(w)
		}
		next := w.next()
		w.measure.flow(w, int64((next-w.now)/w.p.Step))
		w.now = next
	}
	return nil
}

// change makes the changes of demand and the fault that are due.
func (w *regionRun) change() {
	for len(w.changes) > 0 && w.changes[0].At <= w.now {
		c := w.changes[0]
		w.changes = w.changes[1:]
		d := w.demands[regionIndex(c.Region, len(w.regions))]
		d.at, d.was = append(d.at, c.At), append(d.was, c.Demand.rat())
	}
	f := w.p.Fault
	if f.Kind == faultNone || w.faulty || f.At > w.now {
		return
	}
	w.faulty = true
	for i := range w.regions {
		w.far[i] = slices.Contains(f.Regions, regionName(i))
		w.down[i] = w.far[i] && f.Kind == faultLost
		// What became readable before the fault; at it is too late.
		w.records[i].crossed = w.records[i].readable(f.At-1, w.p.ReadDelay)
	}
	w.measure.lost = w.measure.lost || f.Kind == faultLost
	w.measure.shares(w)
}

// rebalances lets every Region rebalance that is due, in order.
func (w *regionRun) rebalances() (any bool) {
	for i, r := range w.regions {
		if w.down[i] || w.untilRebalance(i) != 0 {
			continue
		}
		any = true
		move := r.Rebalance(w.demands[i].mean(w.now, w.p.Averaging), w.sights(i))
		w.records[i].at = append(w.records[i].at, w.now)
		w.records[i].what = append(w.records[i].what, &move.Record)
		w.measure.rebalances++
		for _, of := range move.Reclaimed {
			w.measure.reclaims = append(w.measure.reclaims, reclaim{i, of, w.now})
		}
	}
	return any
}

// untilRebalance is the time until Region i is due, 0 for now.
func (w *regionRun) untilRebalance(i int) Micros {
	first, every := w.p.Offsets[i], w.p.Rebalance
	if w.now <= first {
		return first - w.now
	}
	return (every - (w.now-first)%every) % every
}

// sights are what Region i sees of the others now.
func (w *regionRun) sights(i int) []limit.RegionSight {
	sights := make([]limit.RegionSight, len(w.regions))
	for j := range sights {
		if j == i {
			continue
		}
		s := &sights[j]
		if w.faulty && w.p.Fault.Kind == faultCutOff && w.far[i] != w.far[j] {
			s.Record = w.records[j].crossed
		} else {
			s.Record = w.records[j].readable(w.now, w.p.ReadDelay)
		}
		s.Part = w.parts[i]
		s.Unhealthy = w.down[j] && w.now >= w.p.Fault.At+w.p.Reclaim.HealthDelay
	}
	return sights
}

// next is when something is due again: a change, the fault, a rebalance, the
// end of a whole second, or the end.
func (w *regionRun) next() Micros {
	next := min(w.p.Duration, w.now-w.now%Second+Second)
	sooner := func(at Micros) {
		if at > w.now {
			next = min(next, at)
		}
	}
	if len(w.changes) > 0 {
		sooner(w.changes[0].At)
	}
	if w.p.Fault.Kind != faultNone {
		sooner(w.p.Fault.At)
	}
	sooner(w.p.BoundFrom)
	for i := range w.regions {
		if !w.down[i] {
			left := w.untilRebalance(i)
			if left == 0 {
				left = w.p.Rebalance
			}
			sooner(w.now + left)
		}
	}
	return next
}

// finalTarget is the target of Region i for the demands in force now: its own
// and those of the live Regions that it can still hear of; of the others, the
// last that it read.
func (w *regionRun) finalTarget(i int) *big.Rat {
	r := w.regions[i]
	demands, live := make([]*big.Rat, len(w.regions)), make([]bool, len(w.regions))
	for j := range demands {
		demands[j], live[j] = w.demands[j].now(), r.Live(j)
		if j != i && (w.down[j] || w.far[i] != w.far[j]) {
			demands[j] = r.Last(j).Demand
		}
	}
	return w.rules.Target(i, demands, live)
}

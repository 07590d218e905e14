package sim

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// maxSearch bounds the runs of one search.
const maxSearch = 100_000

// regionCase is a set of changes of demand with a name.
type regionCase struct {
	Name    string         `yaml:"name" about:"stands in the names of the figures"`
	Changes []regionChange `yaml:"changes" about:"changes of demand"`
}

// regionSearchParams are the parameters of kind regions-search.
type regionSearchParams struct {
	regionWorld `yaml:",inline"`
	Choices     []Micros     `yaml:"choices" about:"offsets that each Region may have"`
	Designs     []string     `yaml:"designs" about:"grants, jump"`
	Cases       []regionCase `yaml:"cases" about:"changes of demand to try"`
}

// regionSearchKind tries every assignment of offsets to Regions.
func regionSearchKind() Kind {
	return Kind{
		Name:    "regions-search",
		About:   "Every assignment of rebalance offsets to Regions, and the worst that comes of it",
		Rules:   regionRules,
		Figures: regionSearchFigures(),
		New:     func() Params { return newRegionSearch() },
	}
}

func newRegionSearch() *regionSearchParams {
	p := &regionSearchParams{
		regionWorld: newRegionWorld(),
		Choices:     newRegions().Offsets,
		Designs:     []string{designGrants, designJump},
		Cases: []regionCase{
			{"move", []regionChange{{0, "C", regionRates(7_200)[0]}}},
			{"race", []regionChange{{0, "A", regionRates(1_200)[0]}, {0, "B", regionRates(7_200)[0]}, {0, "C", regionRates(7_200)[0]}}},
		},
	}
	p.Duration = 120 * Second
	return p
}

// Validate refuses what cannot be searched.
func (p *regionSearchParams) Validate() error {
	if err := p.regionWorld.validate(); err != nil {
		return err
	}
	if len(p.Choices) == 0 {
		return &ParamError{"choices", "is empty", "choices: [0s, 1.7s, 3.3s]"}
	}
	for i, at := range p.Choices {
		if err := p.onStep(indexPath("choices", i), at, 0); err != nil {
			return err
		}
	}
	if len(p.Designs) == 0 {
		return &ParamError{"designs", "is empty", "designs: [grants, jump]"}
	}
	for i, d := range p.Designs {
		if d != designGrants && d != designJump || slices.Contains(p.Designs[:i], d) {
			return &ParamError{indexPath("designs", i), fmt.Sprintf("%q is not a design, or is named twice", d), "grants or jump"}
		}
	}
	if len(p.Cases) == 0 {
		return &ParamError{"cases", "is empty", "cases: [{name: move, changes: [{at: 0s, region: C, demand: 7200}]}]"}
	}
	for i, c := range p.Cases {
		at := indexPath("cases", i)
		switch {
		case c.Name == "" || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "":
			return &ParamError{at + ".name", fmt.Sprintf("%q is not made of small letters, digits and _", c.Name), "move"}
		case slices.ContainsFunc(p.Cases[:i], func(b regionCase) bool { return b.Name == c.Name }):
			return &ParamError{at + ".name", fmt.Sprintf("%q is there twice", c.Name), ""}
		}
		if err := p.changes(at+".changes", c.Changes); err != nil {
			return err
		}
	}
	if runs := p.runs(); runs > maxSearch {
		return &ParamError{"choices", fmt.Sprintf("give more than %d runs", maxSearch), "fewer choices or Regions"}
	}
	return nil
}

// runs is how many runs there are, at most a little above maxSearch.
func (p *regionSearchParams) runs() int {
	runs := len(p.Designs) * len(p.Cases)
	for range p.Demands {
		if runs > maxSearch {
			break
		}
		runs *= len(p.Choices)
	}
	return runs
}

// regionWorst is the worst of each measure over some runs.
type regionWorst struct {
	runs, above, unsettled, violations int64
	highest, lowest                    extreme
	offsets                            []Micros // of the highest
	excess, busiest, below             *big.Rat
	settled                            Micros
}

func newRegionWorst() *regionWorst {
	return &regionWorst{excess: new(big.Rat), busiest: new(big.Rat), below: new(big.Rat)}
}

func (b *regionWorst) add(w *regionRun) {
	m := w.measure
	b.runs++
	if m.highest.sum.Cmp(m.limit) > 0 {
		b.above++
	}
	if b.highest.sum == nil || m.highest.sum.Cmp(b.highest.sum) > 0 {
		b.offsets = w.p.Offsets
	}
	b.highest.meet(m.highest.sum, m.highest.at, 1)
	b.lowest.meet(m.lowest.sum, m.lowest.at, -1)
	b.excess = maxRat(b.excess, m.excess.best)
	b.busiest = maxRat(b.busiest, m.busiest.best)
	b.below = maxRat(b.below, m.below)
	b.violations += m.violations
	if since, ok := m.settled(w); ok {
		b.settled = max(b.settled, since)
	} else {
		b.unsettled++
	}
}

func (b *regionWorst) report(o *Outcome, prefix string) {
	if b.runs == 0 {
		return // interrupted before the first
	}
	o.Set(prefix+"highest_sum_of_shares", nearest(b.highest.sum))
	for i, at := range b.offsets {
		o.Set(prefix+"highest_with_offset_"+lowerName(i)+"_s", at.Seconds())
	}
	o.Set(prefix+"lowest_sum_of_shares", nearest(b.lowest.sum))
	o.Set(prefix+"largest_excess", nearest(b.excess))
	o.Set(prefix+"busiest_second", nearest(b.busiest))
	o.Set(prefix+"most_share_seconds_below_limit", nearest(b.below))
	o.Set(prefix+"latest_settled_s", b.settled.Seconds())
	o.Set(prefix+"unsettled", float64(b.unsettled))
	o.Set(prefix+"runs", float64(b.runs))
	o.Set(prefix+"runs_above_limit", float64(b.above))
	o.Set(prefix+"conservation_violations", float64(b.violations))
}

// Run runs every assignment for every design and case.
func (p *regionSearchParams) Run(ctx context.Context, o *Outcome) error {
	all, done := p.runs(), 0
	defer func() { o.Set("runs", float64(done)) }()
	for _, design := range p.Designs {
		for _, c := range p.Cases {
			worst := newRegionWorst()
			for offsets := range p.assignments {
				one := newRegions()
				one.regionWorld, one.Design, one.Offsets, one.Changes = p.regionWorld, design, offsets, c.Changes
				w := newRegionRun(one)
				if err := w.run(ctx, nil); err != nil {
					worst.report(o, design+"_"+c.Name+"_")
					return err
				}
				worst.add(w)
				if done++; o.Progress != nil {
					o.Progress(float64(done) / float64(all))
				}
			}
			worst.report(o, design+"_"+c.Name+"_")
		}
	}
	return nil
}

// assignments are all ways to give each Region one of the choices, the last
// Region's changing fastest.
func (p *regionSearchParams) assignments(yield func([]Micros) bool) {
	at := make([]int, len(p.Demands))
	for {
		offsets := make([]Micros, len(at))
		for i, k := range at {
			offsets[i] = p.Choices[k]
		}
		if !yield(offsets) {
			return
		}
		i := len(at) - 1
		for ; i >= 0; i-- {
			if at[i]++; at[i] < len(p.Choices) {
				break
			}
			at[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// regionSearchFigures lists the figures of the default designs and cases;
// other cases have figures named alike.
func regionSearchFigures() []FigureInfo {
	list := []FigureInfo{{"runs", "runs", "assignments of offsets that were run, over all designs and cases"}}
	p := newRegionSearch()
	for _, design := range p.Designs {
		for _, c := range p.Cases {
			prefix, of := design+"_"+c.Name+"_", fmt.Sprintf(", over all assignments, design %s, case %s", design, c.Name)
			add := func(name, unit, meaning string) {
				list = append(list, FigureInfo{prefix + name, unit, meaning + of})
			}
			add("highest_sum_of_shares", "1/s", "highest sum of shares")
			for i := range p.Demands {
				add("highest_with_offset_"+lowerName(i)+"_s", "s", "offset of Region "+regionName(i)+" in the first assignment that meets the highest sum")
			}
			add("lowest_sum_of_shares", "1/s", "lowest sum of shares")
			add("largest_excess", "units", "largest admitted - limit x time of any interval")
			add("busiest_second", "units", "most admitted in any second")
			add("most_share_seconds_below_limit", "units", "most share-seconds below the limit")
			add("latest_settled_s", "s", "latest time from which every share stays near its final target")
			add("unsettled", "runs", "runs in which a share does not end near its final target")
			add("runs", "runs", "runs")
			add("runs_above_limit", "runs", "runs in which the sum of shares is ever above the limit")
			add("conservation_violations", "steps", "steps at which shares + pools + grants not yet taken differ from the limit")
		}
	}
	return list
}

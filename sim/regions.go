package sim

import (
	"context"
	"math/big"

	"github.com/weir-cli/weir/limit"
)

// regionWorld is what the kinds about Regions have in common: one limit
// divided among Regions whose traffic flows.
type regionWorld struct {
	Limit     regionRate   `yaml:"limit" about:"units a second that all Regions may admit together"`
	Floor     regionRate   `yaml:"floor" about:"least target of a live Region, a second"`
	MaxRaise  regionRate   `yaml:"max_raise" about:"most that a share rises by at one rebalance, a second"`
	Demands   []regionRate `yaml:"demands" about:"demand of Region A, B, … at the start, a second"`
	Bucket    Micros       `yaml:"bucket" about:"a Region's bucket holds its share of this long"`
	Step      Micros       `yaml:"step" about:"length of a step"`
	Duration  Micros       `yaml:"duration" about:"length of the run"`
	Rebalance Micros       `yaml:"rebalance" about:"time between two rebalances of a Region"`
	ReadDelay Micros       `yaml:"read_delay" about:"time from writing a record until others can read it"`
	Averaging Micros       `yaml:"averaging" about:"a Region's demand is its mean over this long"`
	Within    fraction     `yaml:"within" about:"a share this near to its final target has settled"`
	BoundFrom Micros       `yaml:"bound_from" about:"from when on admissions are held against limit x time + bound_margin"`
	Margin    int64        `yaml:"bound_margin" about:"units above limit x time that are tolerated"`
}

// regionChange sets the demand of a Region.
type regionChange struct {
	At     Micros     `yaml:"at" about:"when the demand changes"`
	Region string     `yaml:"region" about:"A, B, …"`
	Demand regionRate `yaml:"demand" about:"new demand, a second"`
}

// regionFault loses Regions or cuts them off from the others.
type regionFault struct {
	Kind    string   `yaml:"kind" about:"none, lost (the Regions stop) or cut-off (they run on alone)"`
	Regions []string `yaml:"regions" about:"which Regions"`
	At      Micros   `yaml:"at" about:"from when on"`
}

// regionReclaim is how Regions take over shares of silent ones.
type regionReclaim struct {
	Rule        string     `yaml:"rule" about:"freeze, two-signals or silence"`
	Silent      int        `yaml:"silent" about:"a Region is silent when its record was found again this often in a row"`
	HealthDelay Micros     `yaml:"health_delay" about:"time until the health check says that a lost Region is unhealthy"`
	Part        regionPart `yaml:"part" about:"part of the share that each takes: side (an equal part for each Region on its side) or a fraction"`
}

// regionsParams are the parameters of kind regions.
type regionsParams struct {
	regionWorld `yaml:",inline"`
	Design      string         `yaml:"design" about:"grants (named grants) or jump (straight to the target)"`
	Offsets     []Micros       `yaml:"offsets" about:"first rebalance of Region A, B, …"`
	Changes     []regionChange `yaml:"changes" about:"changes of demand"`
	Fault       regionFault    `yaml:"fault"`
	Reclaim     regionReclaim  `yaml:"reclaim"`
}

const (
	designGrants = "grants"
	designJump   = "jump"
	faultNone    = "none"
	faultLost    = "lost"
	faultCutOff  = "cut-off"
)

var regionRules = []string{
	"fluid flow in steps: changes of demand, then rebalances in the order A, B, C, then flow",
	"targets: the floor and what the floors leave in proportion to demand",
	"named grants, records readable with a delay, silent Regions and their reclaim",
	"exact fractions throughout",
}

// regionsKind is one limit in several Regions.
func regionsKind() Kind {
	return Kind{
		Name:    "regions",
		About:   "One limit divided among Regions that read of each other with a delay",
		Rules:   regionRules,
		Figures: regionFigures(),
		Plots:   []string{"sum_of_shares", "share_*", "admitted"},
		New:     func() Params { return newRegions() },
	}
}

func newRegions() *regionsParams {
	return &regionsParams{
		regionWorld: newRegionWorld(),
		Design:      designGrants,
		Offsets:     []Micros{0, 17 * Second / 10, 33 * Second / 10},
		Fault:       regionFault{Kind: faultNone, At: 300 * Second},
		Reclaim:     regionReclaim{Rule: "freeze", Silent: 3, HealthDelay: 30 * Second, Part: regionPart{fraction{text: bySide}}},
	}
}

func newRegionWorld() regionWorld {
	return regionWorld{
		Limit: regionRate{PerSecond(10_000).Rate}, Floor: regionRate{PerSecond(500).Rate}, MaxRaise: regionRate{PerSecond(1_000).Rate},
		Demands: regionRates(7_200, 3_600, 1_200),
		Bucket:  2 * Second, Step: Second / 100, Duration: 300 * Second,
		Rebalance: 5 * Second, ReadDelay: Second, Averaging: 5 * Second,
		Within: newFraction(1, 100), Margin: 20_000,
	}
}

var reclaimRules = map[string]limit.RegionReclaim{
	"freeze":      limit.RegionFreeze,
	"two-signals": limit.RegionTwoSignals,
	"silence":     limit.RegionSilence,
}

// rules are those of the mechanism.
func (p *regionsParams) rules() *limit.RegionRules {
	return &limit.RegionRules{
		Limit: p.Limit.rat(), Floor: p.Floor.rat(), MaxRaise: p.MaxRaise.rat(),
		Silent: p.Reclaim.Silent, Reclaim: reclaimRules[p.Reclaim.Rule], Jump: p.Design == designJump,
	}
}

// Run simulates.
func (p *regionsParams) Run(ctx context.Context, o *Outcome) error {
	w := newRegionRun(p)
	w.measure.columns = newRegionColumns(len(p.Demands))
	err := w.run(ctx, o.Progress)
	w.report(o)
	if p.Design == designJump {
		o.Notes = append(o.Notes, "jumping to targets conserves nothing: conservation_violations counts the steps at which the sum of shares is not the limit")
	}
	return err
}

// rat is a time as an exact number of seconds.
func (m Micros) rat() *big.Rat { return big.NewRat(int64(m), int64(Second)) }

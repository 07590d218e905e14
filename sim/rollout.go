package sim

import (
	"cmp"
	"context"
	"slices"

	"github.com/weir-cli/weir/limit"
)

// Ways to roll a new rule out.
const (
	oneBucket  = "one-bucket"
	twoBuckets = "two-buckets"
	atOnce     = "at-once"
	lateCopy   = "late-copy"
	versionsUp = "versions-up"
)

// rollout is a rule change that reaches gateways one after the other while the
// trace runs through a central store.
type rollout struct {
	Trace    `yaml:",inline"`
	Rate     Rate   `yaml:"rate" about:"of rule v1"`
	Burst    int64  `yaml:"burst" about:"of rule v1"`
	NewRate  Rate   `yaml:"new_rate" about:"of rule v2"`
	NewBurst int64  `yaml:"new_burst" about:"of rule v2"`
	Design   string `yaml:"design" about:"one-bucket: each check brings its gateway's rule; two-buckets: one for each version; at-once: one bucket, every gateway at rollout_from; late-copy: one bucket, and a late copy of v1 takes a gateway back; versions-up: the same, and the copy is ignored"`
	From     Micros `yaml:"rollout_from" about:"when the first gateway uses v2"`
	Step     Micros `yaml:"rollout_step" about:"how much later each next gateway does"`
	Late     int64  `yaml:"late_gateway" about:"index of the gateway that a late copy reaches: G5 is 4"`
	LateFrom Micros `yaml:"late_from" about:"when the late copy comes"`
	LateTo   Micros `yaml:"late_to" about:"when that gateway gets v2 again"`
}

func rolloutKind() Kind {
	return Kind{
		Name:  "rule-rollout",
		About: "A new rule that reaches the gateways of a central bucket one by one",
		Rules: []string{
			"gateway g uses v2 from rollout_from + g*rollout_step on; a change counts before a call of the same instant",
			"a check refills with its rule's rate and caps at its rule's burst; amounts are in units that both rules share",
			"the second bucket of two-buckets is full at its first check",
		},
		Figures: append([]FigureInfo{
			{"admitted_in_rollout_first_10s", "requests", "what passes in the 10 s from rollout_from on"},
			{"admitted_in_rollout_after_10s", "requests", "what passes from then until the storm ends"},
			{"rollout_max_in_1s", "requests", "most that pass in any second, aligned or not, between rollout_from and the storm's end"},
			{"rollout_busiest_second", "requests", "most that pass in an aligned second between rollout_from and the storm's end"},
			{"late_copies_seen", "copies", "copies of an older version that came to a gateway"},
			{"admitted_in_rollout_second_N", "requests", "calls of the key that pass in aligned second N from rollout_from on, from 1"},
		}, tallyFigures...),
		New: func() Params {
			return &rollout{Trace: newTrace(), Rate: PerSecond(10), Burst: 20, NewRate: PerSecond(20), NewBurst: 40, Design: oneBucket,
				From: 120 * Second, Step: Second / 2, Late: 4, LateFrom: 140 * Second, LateTo: 180 * Second}
		},
	}
}

// Unused lists the parameters that mean nothing beside the others.
func (p *rollout) Unused() map[string]string {
	m := p.Trace.unused()
	if p.Spread != spreadRandom {
		m["seed"] = "means something with spread=random"
	}
	if p.Design != lateCopy && p.Design != versionsUp {
		for _, name := range []string{"late_gateway", "late_from", "late_to"} {
			m[name] = "means something with design=late-copy or versions-up"
		}
	}
	if p.Design == atOnce {
		m["rollout_step"] = "means nothing with design=at-once"
	}
	return m
}

func (p *rollout) Validate() error {
	if err := firstError(p.Trace.validate(),
		rateWithin("rate", p.Rate), countWithin("burst", p.Burst, 1, maxCalls),
		rateWithin("new_rate", p.NewRate), countWithin("new_burst", p.NewBurst, 1, maxCalls),
		oneOfNames("design", p.Design, oneBucket, twoBuckets, atOnce, lateCopy, versionsUp),
		spanWithin("rollout_from", p.From, 0, maxTime),
		spanWithin("rollout_step", p.Step, 0, 24*3600*Second),
		countWithin("late_gateway", p.Late, 0, max(p.Gateways-1, 0)),
		spanWithin("late_from", p.LateFrom, 0, maxTime),
		spanWithin("late_to", p.LateTo, p.LateFrom, maxTime),
	); err != nil {
		return err
	}
	_, _, err := p.rules()
	return paramOf(err, "")
}

// rules are both versions in one grain.
func (p *rollout) rules() (v1, v2 limit.BucketRule, err error) {
	a := limit.BucketSpec{Rate: p.Rate.Rate, Burst: limit.Whole(p.Burst), Follow: true}
	b := limit.BucketSpec{Rate: p.NewRate.Rate, Burst: limit.Whole(p.NewBurst), Follow: true}
	grain, err := limit.GrainFor(a, b)
	if err != nil {
		return v1, v2, err
	}
	if v1, err = a.In(grain); err != nil {
		return v1, v2, err
	}
	v2, err = b.In(grain)
	return v1, v2, err
}

// Document is how the run's events are read; v2 is the promise.
func (p *rollout) Document() Document {
	return traceDocument(&p.Trace, bucketPromise(p.NewRate, p.NewBurst))
}

// change is a copy of a version that reaches a gateway.
type change struct {
	at      Micros
	version int64
}

// changes are those of one gateway, in order.
func (p *rollout) changes(gateway int64) []change {
	step := p.Step
	if p.Design == atOnce {
		step = 0
	}
	list := []change{{p.From + Micros(gateway)*step, 2}}
	if gateway == p.Late && (p.Design == lateCopy || p.Design == versionsUp) {
		list = append(list, change{p.LateFrom, 1}, change{p.LateTo, 2})
		slices.SortStableFunc(list, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	}
	return list
}

func (p *rollout) Run(ctx context.Context, o *Outcome) error {
	v1, v2, err := p.rules()
	if err != nil {
		return err
	}
	rules := [...]*limit.BucketRule{1: &v1, 2: &v2}
	type gateway struct {
		held *limit.Versions[*limit.BucketRule]
		todo []change
	}
	gateways := make([]gateway, p.Gateways)
	for g := range gateways {
		gateways[g] = gateway{limit.NewVersions(1, &v1, p.Design == lateCopy), p.changes(int64(g))}
	}
	var (
		buckets [3]limit.Bucket // by version; one-bucket designs use the first
		t       = newTally(p.StormFrom, p.stormEnd())
		most    = newWindows(Second)
		seconds []int64
		early   int64
		later   int64
		rec     = o.recorder()
		f       = p.traffic(p.Length)
		c       call
	)
	for i := 1; f.next(&c); i++ {
		if i%checkEvery == 0 {
			if ctx.Err() != nil {
				break
			}
			if o.Progress != nil {
				o.Progress(float64(c.at) / float64(p.Length))
			}
		}
		g := &gateways[c.gateway]
		for len(g.todo) > 0 && g.todo[0].at <= c.at {
			g.held.Offer(g.todo[0].version, rules[g.todo[0].version])
			g.todo = g.todo[1:]
		}
		b := &buckets[0]
		if p.Design == twoBuckets {
			b = &buckets[g.held.Version()]
		}
		d := b.Take(g.held.Get(), int64(c.at)*1000, 1)
		t.calls[c.kind]++
		rec.record(&attempt{sent: c.at, decided: c.at, done: c.at, client: uint32(c.kind), gateway: c.gateway, group: uint16(c.kind), d: d})
		if !d.OK {
			t.refuse(c.kind, &d)
			continue
		}
		t.admit(c.kind, c.at)
		if c.at >= p.From && c.at < p.stormEnd() {
			most.add(c.at)
			bump(&seconds, int64(c.at/Second-p.From/Second))
			if c.at < p.From+10*Second {
				early++
			} else {
				later++
			}
		}
	}
	late := 0
	for g := range gateways {
		late += gateways[g].held.Late()
	}
	o.Set("admitted_in_rollout_first_10s", float64(early))
	o.Set("admitted_in_rollout_after_10s", float64(later))
	o.Set("rollout_max_in_1s", float64(most.spans[0].best))
	if len(seconds) > 0 {
		o.Set("rollout_busiest_second", float64(maxOf(seconds)))
	}
	o.Set("late_copies_seen", float64(late))
	o.setEach("admitted_in_rollout_second_%d", seconds)
	o.Series = append(o.Series, Series{Name: "admitted_per_rollout_second", From: (p.From / Second * Second).Seconds(), Step: 1, Values: floats(seconds)})
	t.report(o)
	return ctx.Err()
}

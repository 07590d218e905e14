package sim

import (
	"context"

	"github.com/weir-cli/weir/limit"
)

// firewall is a rule at the edge that counts by source address, looks now and
// then, and blocks late. The address sends the trace and another key's calls.
type firewall struct {
	Trace         `yaml:",inline"`
	NeighbourRate Rate   `yaml:"neighbour_rate" about:"calls of k-8 from the same address, evenly from time zero"`
	Threshold     int64  `yaml:"threshold" about:"a check that counts more than this starts blocking"`
	Window        Micros `yaml:"window" about:"how far back a check counts"`
	Every         Micros `yaml:"check_every" about:"checks are at multiples of this"`
	Delay         Micros `yaml:"delay" about:"from a check to what it changes"`
	CountBlocked  bool   `yaml:"count_blocked" about:"blocked requests count, too"`
}

func firewallKind() Kind {
	return Kind{
		Name:  "edge-firewall",
		About: "A rule at the edge that counts by address, looks now and then, and blocks late",
		Rules: []string{
			"a check at c counts what counted in [c - window, c), before any request at c",
			"the first check over the threshold blocks delay later; after that, the first one at or under it ends the block delay later",
			"at equal times: k-8, normal, page load, storm",
			"the count passes the threshold at the first request t for which (t - window, t] holds more",
		},
		Figures: []FigureInfo{
			{"count_passes_threshold_at_s", "s", "when the count first passes the threshold, since time zero"},
			{"check_over_at_s", "s", "the first check that finds it so"},
			{"blocking_from_s", "s", "when blocking begins"},
			{"blocking_until_s", "s", "when that block ends"},
			{"blocking_after_storm_began_s", "s", "from the storm's begin to blocking"},
			{"blocking_after_storm_ended_s", "s", "how long blocking goes on after the storm"},
			{"blocks", "blocks", "how often blocking began"},
			{"passed_before_block", "requests", "what passes from the storm's begin until blocking"},
			{"passed_before_block_storm", "requests", "of that, calls of the storm"},
			{"passed_before_block_normal", "requests", "of that, normal calls"},
			{"passed_before_block_page_load", "requests", "of that, calls of the page load"},
			{"passed_before_block_other_key", "requests", "of that, calls of k-8"},
			{"blocked", "requests", "what is blocked"},
			{"blocked_storm", "requests", "of that, calls of the storm"},
			{"blocked_normal", "requests", "of that, normal calls"},
			{"blocked_page_load", "requests", "of that, calls of the page load"},
			{"blocked_other_key", "requests", "of that, calls of k-8"},
			{"passed", "requests", "what passes over the whole run"},
		},
		New: func() Params {
			t := newTrace()
			t.Length = 600 * Second
			return &firewall{Trace: t, NeighbourRate: PerSecond(20), Threshold: 3000, Window: 60 * Second, Every: 10 * Second, Delay: 30 * Second, CountBlocked: true}
		},
	}
}

// Unused lists the parameters that mean nothing: gateways have no part in it.
func (p *firewall) Unused() map[string]string {
	m := p.Trace.unused()
	for _, name := range []string{"gateways", "spread", "spread_over", "seed"} {
		m[name] = "means nothing here: the edge stands before all gateways"
	}
	return m
}

func (p *firewall) spec() limit.PolledSpec {
	return limit.PolledSpec{Threshold: p.Threshold, Window: p.Window.duration(), Every: p.Every.duration(), Delay: p.Delay.duration(), OnlyPassed: !p.CountBlocked}
}

func (p *firewall) Validate() error {
	return firstError(p.Trace.validate(),
		rateWithin("neighbour_rate", p.NeighbourRate),
		countWithin("threshold", p.Threshold, 0, maxCalls),
		spanWithin("window", p.Window, 1, maxTime),
		spanWithin("check_every", p.Every, 1, maxTime),
		spanWithin("delay", p.Delay, 0, maxTime))
}

// Document is how the run's events are read.
func (p *firewall) Document() Document {
	d := traceDocument(&p.Trace, nil)
	d.Names.Key = func(i uint32) string { return [2]string{"k-7", "k-8"}[i] }
	d.Names.Target = func(uint16) string { return "edge" }
	return d
}

var blockNames = [callKinds]string{"_other_key", "_normal", "_page_load", "_storm"}

func (p *firewall) Run(ctx context.Context, o *Outcome) error {
	rule, err := limit.NewPolled(p.spec())
	if err != nil {
		return err
	}
	var (
		f               = p.traffic(p.Length)
		neighbour       = evenly(0, p.Length, p.NeighbourRate)
		rec             = o.recorder()
		counted         = newWindows(p.Window)
		passes          = never
		before, blocked [callKinds]int64
		passed          int64
		c               call
	)
	for i := 1; ; i++ {
		if neighbour.at <= f.peek() && neighbour.at != never {
			c = call{at: neighbour.at, kind: otherCall}
			neighbour.pop()
		} else if !f.next(&c) {
			break
		}
		hit := rule.Ask(int64(c.at) * 1000)
		if !hit || p.CountBlocked {
			counted.add(c.at)
			if passes == never && counted.spans[0].best > p.Threshold {
				passes = c.at
			}
		}
		if hit {
			blocked[c.kind]++
		} else {
			passed++
			if c.at >= p.StormFrom && len(rule.Blocks()) == 0 {
				before[c.kind]++
			}
		}
		if rec != nil {
			key := uint32(0)
			if c.kind == otherCall {
				key = 1
			}
			rec.record(&attempt{sent: c.at, decided: c.at, done: c.at, key: key, client: uint32(c.kind), group: uint16(c.kind),
				d: limit.Decision{OK: !hit, RetryAfter: limit.Unknown}})
		}
		if i%checkEvery == 0 {
			if ctx.Err() != nil {
				break
			}
			if o.Progress != nil {
				o.Progress(float64(c.at) / float64(p.Length))
			}
		}
	}
	if ctx.Err() == nil {
		rule.Advance(int64(p.Length) * 1000)
	}
	if passes != never {
		o.Set("count_passes_threshold_at_s", passes.Seconds())
	}
	if over := rule.Over(); len(over) > 0 {
		o.Set("check_over_at_s", float64(over[0])/1e9)
	}
	blocks := rule.Blocks()
	if len(blocks) > 0 {
		o.Set("blocking_from_s", float64(blocks[0].From)/1e9)
		o.Set("blocking_after_storm_began_s", float64(blocks[0].From)/1e9-p.StormFrom.Seconds())
		if end := blocks[0].Until; end > 0 {
			o.Set("blocking_until_s", float64(end)/1e9)
			o.Set("blocking_after_storm_ended_s", float64(end)/1e9-p.stormEnd().Seconds())
		}
	}
	o.Set("blocks", float64(len(blocks)))
	var allBefore, allBlocked int64
	for k := range callKinds {
		allBefore += before[k]
		allBlocked += blocked[k]
		o.Set("passed_before_block"+blockNames[k], float64(before[k]))
		o.Set("blocked"+blockNames[k], float64(blocked[k]))
	}
	o.Set("passed_before_block", float64(allBefore))
	o.Set("blocked", float64(allBlocked))
	o.Set("passed", float64(passed))
	return ctx.Err()
}

package sim

import (
	"context"

	"github.com/weir-cli/weir/limit"
)

// race is calls that read a bucket, decide, and write back, against calls
// whose whole check is one step in the store.
type race struct {
	Rate     Rate   `yaml:"rate" about:"of the bucket"`
	Burst    int64  `yaml:"burst" about:"of the bucket"`
	At       Micros `yaml:"at" about:"when the first call is sent"`
	Tokens   int64  `yaml:"tokens" about:"what the bucket holds then"`
	Calls    int64  `yaml:"calls" about:"calls, each from a gateway of its own"`
	Spacing  Micros `yaml:"spacing" about:"time between two calls"`
	GetAfter Micros `yaml:"get_after" about:"from sending to the GET in the store"`
	SetAfter Micros `yaml:"set_after" about:"from the GET to the SET in the store"`
}

func raceKind() Kind {
	return Kind{
		Name:  "race",
		About: "Read, decide and write back in three steps, against one atomic check",
		Rules: []string{
			"a GET returns the tokens refilled to its own time; a call that read at least one is allowed",
			"its SET writes one less, or what it read, with the GET's time; SETs overwrite",
			"at equal times a step that was set off earlier runs first",
			"the atomic check runs at the GET's time",
		},
		Figures: []FigureInfo{
			{"calls", "requests", "calls sent"},
			{"three_step_allowed", "requests", "calls that the three-step form allows"},
			{"three_step_tokens_left", "tokens", "whole tokens in the bucket after the last SET"},
			{"atomic_allowed", "requests", "calls that the atomic form allows"},
			{"atomic_tokens_left", "tokens", "whole tokens in the bucket after the last check"},
		},
		New: func() Params {
			return &race{Rate: PerSecond(10), Burst: 20, At: 240 * Second, Tokens: 5, Calls: 15, Spacing: 33, GetAfter: 500, SetAfter: 1000}
		},
	}
}

func (p *race) bucket() limit.BucketSpec {
	return limit.BucketSpec{Rate: p.Rate.Rate, Burst: limit.Whole(p.Burst), Follow: true}
}

func (p *race) Validate() error {
	if err := firstError(
		rateWithin("rate", p.Rate),
		countWithin("burst", p.Burst, 1, maxCalls),
		spanWithin("at", p.At, 0, maxTime),
		countWithin("tokens", p.Tokens, 0, p.Burst),
		countWithin("calls", p.Calls, 1, 1_000_000),
		spanWithin("spacing", p.Spacing, 0, 60*Second),
		spanWithin("get_after", p.GetAfter, 0, maxTime),
		spanWithin("set_after", p.SetAfter, 0, maxTime),
	); err != nil {
		return err
	}
	_, err := p.bucket().Rule()
	return paramOf(err, "")
}

func (p *race) Run(ctx context.Context, o *Outcome) error {
	rule, err := p.bucket().Rule()
	if err != nil {
		return err
	}
	grain := int64(rule.Grain())
	start := func() (b limit.Bucket) {
		b.Set(&rule, int64(p.At)*1000, p.Tokens*grain)
		return b
	}
	get := func(i int64) Micros { return p.At + Micros(i)*p.Spacing + p.GetAfter }

	// Three steps. GETs and SETs are two streams in order. At equal times the
	// GET was set off get_after ago, when its call was sent, and the SET
	// set_after ago, at its GET.
	b := start()
	allowed := int64(0)
	last := get(0)
	write := make([]int64, p.Calls) // units, by call
	setFirst := p.SetAfter >= p.GetAfter
	for g, s := int64(0), int64(0); s < p.Calls; {
		if ctx.Err() != nil {
			break
		}
		setAt := get(s) + p.SetAfter
		if g < p.Calls && (g == s || get(g) < setAt || get(g) == setAt && !setFirst) {
			units := b.Level(&rule, int64(get(g))*1000)
			write[g] = units
			if units >= grain {
				allowed++
				write[g] = units - grain
			}
			g++
			continue
		}
		b.Set(&rule, int64(get(s))*1000, write[s])
		last = get(s)
		s++
	}
	o.Set("calls", float64(p.Calls))
	o.Set("three_step_allowed", float64(allowed))
	o.Set("three_step_tokens_left", float64(b.Level(&rule, int64(last)*1000)/grain))

	b, allowed = start(), 0
	for i := range p.Calls {
		if b.Take(&rule, int64(get(i))*1000, 1).OK {
			allowed++
		}
	}
	o.Set("atomic_allowed", float64(allowed))
	o.Set("atomic_tokens_left", float64(b.Level(&rule, int64(get(p.Calls-1))*1000)/grain))
	return ctx.Err()
}

package sim

import (
	"context"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// windowEdge is calls around the edge of a minute through five limiters, each
// with a fresh key.
type windowEdge struct {
	Limit       int64  `yaml:"limit" about:"of the fixed window, the log and the counter"`
	Window      Micros `yaml:"window" about:"of the same three"`
	ShortLimit  int64  `yaml:"short_limit" about:"of the short fixed window"`
	ShortWindow Micros `yaml:"short_window" about:"of the short fixed window"`
	Rate        Rate   `yaml:"rate" about:"of the token bucket"`
	Burst       int64  `yaml:"burst" about:"of the token bucket"`
	Edge        Micros `yaml:"edge" about:"the instant around which the calls come"`
	Before      int64  `yaml:"calls_before" about:"calls before the edge"`
	BeforeFor   Micros `yaml:"before_for" about:"the time before the edge over which they are spread"`
	After       int64  `yaml:"calls_after" about:"calls from the edge on"`
	AfterFor    Micros `yaml:"after_for" about:"the time over which they are spread"`
}

func windowEdgeKind() Kind {
	k := Kind{
		Name:  "window-edge",
		About: "Calls around the edge of a window, through five limiters",
		Rules: []string{
			"call i of n over a time T comes at floor(i*T/n)",
			"windows are aligned to time zero; a log entry exactly one window old is gone",
			"every limiter sees the same calls with a fresh key",
		},
		New: func() Params {
			return &windowEdge{Limit: 600, Window: 60 * Second, ShortLimit: 10, ShortWindow: Second, Rate: PerSecond(10), Burst: 20,
				Edge: 60 * Second, Before: 600, BeforeFor: Second, After: 600, AfterFor: Second}
		},
	}
	k.Figures = append(k.Figures, FigureInfo{"calls", "requests", "calls that each limiter sees"})
	for _, l := range edgeLimiters {
		k.Figures = append(k.Figures,
			FigureInfo{l.name + "_admitted", "requests", "what passes " + l.about},
			FigureInfo{l.name + "_admitted_before_edge", "requests", "of that, before the edge"},
			FigureInfo{l.name + "_admitted_after_edge", "requests", "of that, from the edge on"},
			FigureInfo{l.name + "_max_in_1s", "requests", "most that passes " + l.about + " in any second"},
			FigureInfo{l.name + "_max_in_60s", "requests", "most that passes " + l.about + " in any 60 seconds"},
		)
	}
	return k
}

// edgeLimiters are the five, in the order of their figures.
var edgeLimiters = []struct {
	name, about string
	spec        func(p *windowEdge) limit.Spec
}{
	{"fixed_window", "the fixed window of limit per window", func(p *windowEdge) limit.Spec {
		return limit.Spec{Algorithm: limit.FixedWindow, Limit: p.Limit, Window: p.Window.duration()}
	}},
	{"sliding_log", "the sliding log of limit per window", func(p *windowEdge) limit.Spec {
		return limit.Spec{Algorithm: limit.SlidingLog, Limit: p.Limit, Window: p.Window.duration()}
	}},
	{"sliding_counter", "the sliding counter of limit per window", func(p *windowEdge) limit.Spec {
		return limit.Spec{Algorithm: limit.SlidingCounter, Limit: p.Limit, Window: p.Window.duration(), Nearest: true}
	}},
	{"short_window", "the fixed window of short_limit per short_window", func(p *windowEdge) limit.Spec {
		return limit.Spec{Algorithm: limit.FixedWindow, Limit: p.ShortLimit, Window: p.ShortWindow.duration()}
	}},
	{"token_bucket", "the token bucket", func(p *windowEdge) limit.Spec {
		return limit.Spec{Algorithm: limit.TokenBucket, Rate: p.Rate.Rate, Burst: p.Burst}
	}},
}

func (m Micros) duration() time.Duration { return time.Duration(m) * time.Microsecond }

func (p *windowEdge) Validate() error {
	if err := firstError(
		countWithin("limit", p.Limit, 1, maxCalls),
		spanWithin("window", p.Window, 1, maxTime),
		countWithin("short_limit", p.ShortLimit, 1, maxCalls),
		spanWithin("short_window", p.ShortWindow, 1, maxTime),
		rateWithin("rate", p.Rate),
		countWithin("burst", p.Burst, 1, maxCalls),
		spanWithin("edge", p.Edge, 0, maxTime),
		countWithin("calls_before", p.Before, 0, maxCalls),
		spanWithin("before_for", p.BeforeFor, 1, maxTime),
		countWithin("calls_after", p.After, 0, maxCalls),
		spanWithin("after_for", p.AfterFor, 1, maxTime),
	); err != nil {
		return err
	}
	if p.BeforeFor > p.Edge {
		return &ParamError{"before_for", p.BeforeFor.String() + " is longer than the time before the edge", "--set before_for=" + p.Edge.String()}
	}
	for _, l := range edgeLimiters {
		if _, err := l.spec(p).New(); err != nil {
			return paramOf(err, "")
		}
	}
	return nil
}

// Document gives each limiter a key of its name.
func (p *windowEdge) Document() Document {
	return Document{Length: p.Edge + p.AfterFor, Names: report.Names{
		Key:        func(i uint32) string { return edgeLimiters[i].name },
		Target:     func(uint16) string { return "store" },
		Population: func(uint16) string { return "callers" },
	}}
}

func (p *windowEdge) Run(ctx context.Context, o *Outcome) error {
	type run struct {
		l             limit.Limiter
		s             limit.State
		before, after int64
		most          *windows
		seconds       []int64
	}
	runs := make([]run, len(edgeLimiters))
	from := (p.Edge - p.BeforeFor) / Second
	for i, l := range edgeLimiters {
		var err error
		if runs[i].l, err = l.spec(p).New(); err != nil {
			return err
		}
		runs[i].most = newWindows(Second, 60*Second)
	}
	rec := o.recorder()
	n := int64(0)
	for _, half := range []stream{over(p.Edge-p.BeforeFor, p.BeforeFor, p.Before), over(p.Edge, p.AfterFor, p.After)} {
		for ; half.at != never; half.pop() {
			at := half.at
			if n++; n%checkEvery == 0 && ctx.Err() != nil {
				break
			}
			for i := range runs {
				r := &runs[i]
				d := r.l.Take(&r.s, int64(at)*1000, 1)
				if d.OK {
					if at < p.Edge {
						r.before++
					} else {
						r.after++
					}
					r.most.add(at)
					bump(&r.seconds, int64(at/Second-from))
				}
				rec.record(&attempt{sent: at, decided: at, done: at, key: uint32(i), d: d})
			}
		}
	}
	o.Set("calls", float64(n))
	for i, l := range edgeLimiters {
		r := &runs[i]
		o.Set(l.name+"_admitted", float64(r.before+r.after))
		o.Set(l.name+"_admitted_before_edge", float64(r.before))
		o.Set(l.name+"_admitted_after_edge", float64(r.after))
		o.Set(l.name+"_max_in_1s", float64(r.most.spans[0].best))
		o.Set(l.name+"_max_in_60s", float64(r.most.spans[1].best))
		o.Series = append(o.Series, Series{Name: l.name + "_admitted_per_second", From: float64(from), Step: 1, Values: floats(r.seconds)})
	}
	return ctx.Err()
}

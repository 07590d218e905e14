package sim

import (
	"context"
	"fmt"

	"github.com/weir-cli/weir/limit"
)

// exports is two dear calls that fall under a bucket of the plan and one of
// the route, charged together or one after the other.
type exports struct {
	Rate       Rate   `yaml:"rate" about:"of the plan's bucket"`
	Burst      int64  `yaml:"burst" about:"of the plan's bucket"`
	RouteRate  Rate   `yaml:"route_rate" about:"of the route's bucket"`
	RouteBurst int64  `yaml:"route_burst" about:"of the route's bucket"`
	NormalFrom Micros `yaml:"normal_from" about:"when normal traffic begins, with a full bucket"`
	NormalTo   Micros `yaml:"normal_to" about:"the last normal call"`
	NormalRate Rate   `yaml:"normal_rate" about:"normal calls, evenly"`
	Exports    int64  `yaml:"exports" about:"how many exports come"`
	At         Micros `yaml:"export_at" about:"when the first comes"`
	Spacing    Micros `yaml:"export_spacing" about:"time between two exports"`
	PlanCost   int64  `yaml:"plan_cost" about:"what an export costs in the plan's bucket"`
	RouteCost  int64  `yaml:"route_cost" about:"and in the route's"`
}

func exportsKind() Kind {
	k := Kind{
		Name:  "exports",
		About: "Calls that fall under two buckets: charged together, or one after the other",
		Rules: []string{
			"a normal call costs 1 in the plan's bucket and nothing in the route's",
			"all or nothing: both buckets are refilled, and charged only if neither is short; the wait is the largest of those that are",
			"two calls: the plan is charged first, and stays charged when the route refuses",
		},
		New: func() Params {
			return &exports{Rate: PerSecond(10), Burst: 20, RouteRate: Rate{limit.Rate{Units: 1, Per: 5_000_000_000}}, RouteBurst: 1,
				NormalFrom: 180 * Second, NormalTo: 240 * Second, NormalRate: PerSecond(5),
				Exports: 2, At: 240_100_000, Spacing: 1000, PlanCost: 10, RouteCost: 1}
		},
	}
	for _, form := range []struct{ name, about string }{{"together", "as all or nothing"}, {"apart", "as two calls, plan first"}} {
		k.Figures = append(k.Figures,
			FigureInfo{form.name + "_exports_admitted", "requests", "exports that pass " + form.about},
			FigureInfo{form.name + "_exports_refused", "requests", "exports that are refused " + form.about},
			FigureInfo{form.name + "_plan_tokens_left", "tokens", "what the plan's bucket holds after the last export, " + form.about},
			FigureInfo{form.name + "_route_tokens_left", "tokens", "what the route's bucket holds after the last export, " + form.about},
			FigureInfo{form.name + "_plan_tokens_lost", "tokens", "taken from the plan for exports that were refused, " + form.about},
			FigureInfo{form.name + "_export_N_admitted", "requests", "1 when export N passes, 0 when not, " + form.about},
			FigureInfo{form.name + "_export_N_retry_after_s", "s", "the Retry-After of export N when refused, " + form.about},
			FigureInfo{form.name + "_export_N_remaining", "tokens", "the remaining that export N is told, " + form.about},
			FigureInfo{form.name + "_normal_admitted", "requests", "normal calls that pass " + form.about},
		)
	}
	return k
}

func (p *exports) specs() (plan, route limit.BucketSpec) {
	return limit.BucketSpec{Rate: p.Rate.Rate, Burst: limit.Whole(p.Burst), Follow: true},
		limit.BucketSpec{Rate: p.RouteRate.Rate, Burst: limit.Whole(p.RouteBurst), Follow: true}
}

func (p *exports) Validate() error {
	if err := firstError(
		rateWithin("rate", p.Rate), countWithin("burst", p.Burst, 1, maxCalls),
		rateWithin("route_rate", p.RouteRate), countWithin("route_burst", p.RouteBurst, 1, maxCalls),
		rateWithin("normal_rate", p.NormalRate),
		spanWithin("normal_from", p.NormalFrom, 0, maxTime), spanWithin("normal_to", p.NormalTo, 0, maxTime),
		countWithin("exports", p.Exports, 0, 1_000_000),
		spanWithin("export_at", p.At, 0, maxTime), spanWithin("export_spacing", p.Spacing, 0, 24*3600*Second),
	); err != nil {
		return err
	}
	for _, c := range []struct {
		path       string
		cost, most int64
	}{{"plan_cost", p.PlanCost, p.Burst}, {"route_cost", p.RouteCost, p.RouteBurst}} {
		if c.cost < 1 || c.cost > c.most {
			return &ParamError{c.path, fmt.Sprintf("%d is not between 1 and the burst of %d, so no export could ever pass", c.cost, c.most),
				fmt.Sprintf("--set %s=%d", c.path, c.most)}
		}
	}
	plan, route := p.specs()
	if _, err := plan.Rule(); err != nil {
		return paramOf(err, "")
	}
	_, err := route.Rule()
	return paramOf(err, "route_")
}

func (p *exports) Run(ctx context.Context, o *Outcome) error {
	planSpec, routeSpec := p.specs()
	plan, err := planSpec.Rule()
	if err != nil {
		return err
	}
	route, err := routeSpec.Rule()
	if err != nil {
		return err
	}
	for _, together := range []bool{true, false} {
		var a, b limit.Bucket
		name := "apart"
		if together {
			name = "together"
		}
		take := func(now int64) limit.Decision {
			if together {
				d, _ := limit.All{{Bucket: &a, Rule: &plan, Cost: p.PlanCost}, {Bucket: &b, Rule: &route, Cost: p.RouteCost}}.Take(now)
				return d
			}
			d := a.Take(&plan, now, p.PlanCost)
			if !d.OK {
				return d
			}
			e := b.Take(&route, now, p.RouteCost)
			e.Remaining = min(d.Remaining, e.Remaining)
			return e
		}
		normal := evenly(p.NormalFrom, p.NormalTo+1, p.NormalRate)
		export := spaced(p.At, p.Exports, p.Spacing)
		var passes, admitted, refused, lost int64
		last := p.At
		for i := 1; normal.at != never || export.at != never; i++ {
			if i%checkEvery == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if normal.at <= export.at {
				if a.Take(&plan, int64(normal.at)*1000, 1).OK {
					passes++
				}
				normal.pop()
				continue
			}
			last = export.at
			before := a.Level(&plan, int64(last)*1000)
			d := take(int64(last) * 1000)
			prefix := fmt.Sprintf("%s_export_%d_", name, export.n+1)
			if d.OK {
				admitted++
				o.Set(prefix+"admitted", 1)
			} else {
				refused++
				lost += before - a.Level(&plan, int64(last)*1000)
				o.Set(prefix+"admitted", 0)
				if d.RetryAfter >= 0 {
					o.Set(prefix+"retry_after_s", float64(retryAfter(d.RetryAfter)))
				}
			}
			o.Set(prefix+"remaining", float64(d.Remaining))
			export.pop()
		}
		o.Set(name+"_exports_admitted", float64(admitted))
		o.Set(name+"_exports_refused", float64(refused))
		o.Set(name+"_plan_tokens_left", float64(a.Level(&plan, int64(last)*1000))/float64(plan.Grain()))
		o.Set(name+"_route_tokens_left", float64(b.Level(&route, int64(last)*1000))/float64(route.Grain()))
		o.Set(name+"_plan_tokens_lost", float64(lost)/float64(plan.Grain()))
		o.Set(name+"_normal_admitted", float64(passes))
	}
	return nil
}

package main

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

const (
	fleetGateways = 8
	fleetWorkers  = 4
	fleetLimit    = "50/s,burst=50"
)

func fleetShow() show {
	return show{name: "fleet", limit: fixedLimit(fleetLimit), gateways: fleetGateways, latency: 5 * time.Millisecond, spread: load.Sticky,
		settings: sharings(gateway.Local, gateway.ExactShares, gateway.Central, gateway.Sticky, gateway.DenyCache),
		profile: oneKey(profiles.Population{Clients: fleetWorkers, Behaviour: "fixed:20ms",
			Arrivals: profiles.Arrivals{Kind: profiles.Closed, Think: 5 * time.Millisecond, Stagger: 20 * time.Millisecond}}),
		scenes: []scene{
			{title: "Every gateway grants the whole limit", view: tui.Fleet, setting: "local",
				look: fmt.Sprintf("One customer is promised %s at %d gateways. Its %d workers keep their connections, so each stays with one gateway. Look at what each gateway admits.", fleetLimit, fleetGateways, fleetWorkers),
				tell: func(f *figures, _ []figures) string { return "Local counters: " + f.promise() + "." }},
			{title: "Every gateway grants its part of the limit", view: tui.Fleet, setting: "exact-shares", mark: "shares",
				look: fmt.Sprintf("Now each grants one %dth. The promise holds, and the parts of the gateways that nobody calls are lost. Look at how little passes.", fleetGateways),
				tell: func(f *figures, _ []figures) string {
					return fmt.Sprintf("Equal shares: %s, and %.0f%% of it was used.", f.promise(), 100*f.ofPromise())
				}},
			{title: "One bucket for all of them", view: tui.Fleet, setting: "central", mark: "one bucket",
				look: "Now all gateways ask one bucket. Look at the sums: all of what is promised passes, wherever it is asked for.",
				tell: func(f *figures, _ []figures) string {
					return fmt.Sprintf("One bucket: %s, and %.0f%% of it was used.", f.promise(), 100*f.ofPromise())
				}},
		}}
}

func fleetMoral(acts []figures) string {
	return fmt.Sprintf("of what was promised, local counters let %.2f times through, equal shares %.2f times, one bucket %.2f times.",
		acts[0].ofPromise(), acts[1].ofPromise(), acts[2].ofPromise())
}

const (
	outageRate  = 120
	outageLimit = "50/s,burst=50"
)

func outageShow() show {
	failing := func(m limit.FailMode) setting {
		return setting{"fail " + m.String(), func(c *gateway.Config) { c.Design, c.OnFailure = gateway.Central, m }}
	}
	local, open, closed := failing(limit.FailLocal), failing(limit.FailOpen), failing(limit.FailClosed)
	passed := func(name string) func(f *figures, _ []figures) string {
		return func(f *figures, _ []figures) string {
			return fmt.Sprintf("%s: %s of %s a second passed; %s.", name, f.perSecond(f.Totals.Admitted), f.perSecond(f.Totals.Offered), f.promise())
		}
	}
	return show{name: "outage", limit: fixedLimit(outageLimit), gateways: 4, redis: true,
		settings: []setting{local, open, closed},
		profile: oneKey(profiles.Population{Clients: 20, Behaviour: "give-up",
			Arrivals: profiles.Arrivals{Kind: profiles.Constant, Rate: outageRate}}),
		scenes: []scene{
			{title: "Four gateways, one bucket in Redis", setting: local.name,
				look: fmt.Sprintf("%d calls a second of one customer who is promised %s. Look at admitted: it keeps to the promise, the dotted line.", outageRate, outageLimit),
				tell: passed("With Redis")},
			{title: "Redis is gone: fail local", setting: local.name, mark: "down", down: true,
				look: "The server was stopped. Each gateway goes on with its part of the limit. Look at whether you can see it at all.",
				tell: passed("Fail local")},
			{title: "Redis is gone: fail open", setting: open.name, mark: "open", down: true,
				look: "The same outage, and gateways that let everything through for want of an answer. Look at admitted: no limit is left.",
				tell: passed("Fail open")},
			{title: "Redis is gone: fail closed", setting: closed.name, mark: "closed", down: true,
				look: "The same outage, and gateways that refuse what they cannot check. Look at admitted: the limiter's outage is everybody's.",
				tell: passed("Fail closed")},
			{title: "Redis is back", setting: local.name, mark: "back",
				look: "The server answers again, and each gateway goes back to its bucket by itself within a second. All buckets are full by then, Redis' and the gateways' own. Look at what that adds at the start.",
				tell: passed("With Redis again")},
		}}
}

func outageMoral(acts []figures) string {
	passes := func(i int) string { return acts[i].perSecond(acts[i].Totals.Admitted) }
	return fmt.Sprintf("of %s calls a second, with a promise of %s, %s passed with Redis and, without it, %s failing local, %s open and %s closed.",
		report.Count(outageRate), outageLimit, passes(0), passes(1), passes(2), passes(3))
}

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

// tour is a guided run, or several.
type tour struct {
	name, about string
	shows       []show
	moral       func(acts []figures) string
}

// show is one run with its acts, which share its time evenly.
type show struct {
	name     string
	limit    func(act time.Duration) string
	gateways int
	latency  time.Duration
	spread   load.Spread
	redis    bool // the gateways' store is a Redis, embedded
	settings []setting
	profile  func(act time.Duration) profiles.Population
	scenes   []scene
}

// scene is one act as it is written.
type scene struct {
	title, look string
	mark        string // of its beginning, in a word or two; "" in a run's first
	view        tui.View
	behaviour   string // of all clients; "" leaves it
	setting     string // of the gateways; "" leaves it
	down        bool   // Redis is not there
	// settles is how long what was under way takes to end; the act's figures
	// begin after it.
	settles time.Duration
	// tell says what was measured; before are the acts before this one.
	tell func(f *figures, before []figures) string
}

// acts is how many the tour has.
func (t *tour) acts() (n int) {
	for i := range t.shows {
		n += len(t.shows[i].scenes)
	}
	return n
}

// tours are all there are, in the order of the help.
func tours() []tour {
	return []tour{
		{"storm", "clients that retry at once, against gateways that count alone, together, and with backoff", []show{stormShow()}, stormMoral},
		{"herd", "clients that obey Retry-After to the letter come back together, until there is jitter", []show{herdShow()}, herdMoral},
		{"edge", "a fixed window at its edge, beside a sliding log and a sliding counter", []show{edgeShow()}, edgeMoral},
		{"fleet", "eight gateways that each grant the limit, divide it, or share it", []show{fleetShow()}, fleetMoral},
		{"outage", "the store goes away: fail local, open and closed, and back", []show{outageShow()}, outageMoral},
	}
}

// storyTour is what weir demo plays on a dashboard: the story of the plain one.
func storyTour() tour {
	storm, herd := stormShow(), herdShow()
	storm.scenes, herd.scenes = storm.scenes[:2], herd.scenes[:2]
	return tour{"", "", []show{storm, herd}, func(acts []figures) string {
		return herdMoral(acts[2:])
	}}
}

func fixedLimit(text string) func(time.Duration) string {
	return func(time.Duration) string { return text }
}

func oneKey(p profiles.Population) func(time.Duration) profiles.Population {
	p.Name, p.Keys = "callers", profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}
	return func(time.Duration) profiles.Population { return p }
}

// sharings are the designs that a tour switches between.
func sharings(list ...gateway.Design) []setting {
	var out []setting
	for _, d := range list {
		out = append(out, setting{d.String(), func(c *gateway.Config) { c.Design = d }})
	}
	return out
}

func stormShow() show {
	return show{name: "storm", limit: fixedLimit(stormLimit), gateways: demoGateways, latency: 100 * time.Millisecond,
		settings: sharings(gateway.Local, gateway.Central, gateway.ExactShares, gateway.Sticky, gateway.DenyCache),
		profile: oneKey(profiles.Population{Clients: 40, Behaviour: "storm",
			Arrivals: profiles.Arrivals{Kind: profiles.Closed, Stagger: 100 * time.Millisecond}}),
		scenes: []scene{
			{title: "A storm, and gateways that count for themselves", setting: "local", behaviour: "storm",
				look: fmt.Sprintf("One customer is promised %s. 40 workers retry at once when refused, over %d gateways with a bucket each. Look at what is admitted against the promise, the dotted line.", stormLimit, demoGateways),
				tell: func(f *figures, _ []figures) string { return "Counting alone: " + f.promise() + "." }},
			{title: "The same storm, and one bucket for all", setting: "central", mark: "one bucket",
				look: "The same workers and gateways with one bucket behind them. Admitted falls to the promise; look at what is refused below it: every refusal is asked again at once.",
				tell: func(f *figures, _ []figures) string {
					return fmt.Sprintf("One bucket: %s, with %.0f refusals for each call that passed.", f.promise(), f.refusalsEach())
				}},
			{title: "The same bucket, and clients that back off", behaviour: "full-jitter:100ms,10s", mark: "backoff",
				look: "Now each waits for longer after every refusal, by chance. Look at refused: it falls away, and admitted stays where it was.",
				tell: func(f *figures, before []figures) string {
					return fmt.Sprintf("With backoff %s a second passed, %s before, with %.1f refusals for each, %.0f before.",
						f.perSecond(f.Totals.Admitted), before[1].perSecond(before[1].Totals.Admitted), f.refusalsEach(), before[1].refusalsEach())
				}},
		}}
}

func stormMoral(acts []figures) string {
	return fmt.Sprintf("counting alone admitted %.1f times what is promised, one bucket %.2f times. Backoff took the refusals from %s to %s a second.",
		acts[0].ofPromise(), acts[1].ofPromise(), acts[1].perSecond(acts[1].Totals.Refused), acts[2].perSecond(acts[2].Totals.Refused))
}

// herdSettles is for a wait of a second to pass, after which all go by the new
// behaviour.
const herdSettles = 1200 * time.Millisecond

// A tour's herd is half of the story's: it is on a screen that is drawn by the
// same processors.
const (
	tourHerd      = 500
	tourHerdLimit = "50/s,burst=50"
)

func herdShow() show {
	peak := func(f *figures) string {
		return fmt.Sprintf("up to %s came back within 10 ms, %.0f times the mean, and %s a second passed",
			report.Count(f.Herd.Peak10ms), f.Herd.OverMean, f.perSecond(f.Totals.Admitted))
	}
	return show{name: "herd", limit: fixedLimit(tourHerdLimit), gateways: 1,
		settings: sharings(gateway.Central),
		profile: oneKey(profiles.Population{Clients: tourHerd, Behaviour: "retry-after",
			Arrivals: profiles.Arrivals{Kind: profiles.Closed, Think: 4 * time.Second}}),
		scenes: []scene{
			{title: "A herd", view: tui.Clients, behaviour: "retry-after",
				look: fmt.Sprintf("%s callers, a limit of %s. The refused are told to wait a second and obey to the letter. Look at the returns: everybody in the same hundredth of a second.", report.Count(tourHerd), tourHerdLimit),
				tell: func(f *figures, _ []figures) string { return "To the letter: " + peak(f) + "." }},
			{title: "The same herd, with jitter", view: tui.Clients, behaviour: "retry-after,spread", mark: "jitter", settles: herdSettles,
				look: "Now each comes back anywhere within the second that it was told. Look at the spike: it dissolves. (J is the same by hand.)",
				tell: func(f *figures, _ []figures) string { return "Spread: " + peak(f) + "." }},
			{title: "Jitter on top of the wait", view: tui.Clients, behaviour: "retry-after,jitter=0.5", mark: "wait + jitter", settles: herdSettles,
				look: "Spreading within the wait breaks the letter. Now each waits for what it was told and up to half of it more: nobody is early, and no herd forms.",
				tell: func(f *figures, before []figures) string {
					return fmt.Sprintf("On top of the wait: %s; %s came early, %s before.", peak(f), report.Count(f.Hints.Early), report.Count(before[len(before)-1].Hints.Early))
				}},
		}}
}

func herdMoral(acts []figures) string {
	a, b := &acts[0], &acts[1]
	return fmt.Sprintf("jitter took the peak from %s to %s returns in 10 ms. The limit let %s calls a second through without it and %s with it.",
		report.Count(a.Herd.Peak10ms), report.Count(b.Herd.Peak10ms), a.perSecond(a.Totals.Admitted), b.perSecond(b.Totals.Admitted))
}

// edgeWindow is the window of an edge tour with acts of that length: ten of them
// in an act, where it is long enough.
func edgeWindow(act time.Duration) time.Duration {
	return max((act / 10).Truncate(100*time.Millisecond), 250*time.Millisecond)
}

const edgeCount = 100

func edgeShow() show {
	windowed := func(a limit.Algorithm) setting {
		return setting{a.String(), func(c *gateway.Config) { c.Limit.Algorithm = a }}
	}
	tell := func(name string) func(f *figures, _ []figures) string {
		return func(f *figures, _ []figures) string {
			b := f.Bound
			if b == nil || b.WorstAdmitted == 0 {
				return name + ": nothing passed."
			}
			return fmt.Sprintf("%s: at most %d passed within one window, where %d may (these in %.2f s).",
				name, b.WorstAdmitted, edgeCount, max(b.WorstInterval.ToS-b.WorstInterval.FromS, 0))
		}
	}
	return show{name: "edge", gateways: 1,
		limit: func(act time.Duration) string {
			return fmt.Sprintf("sliding-log:limit=%d,window=%v", edgeCount, edgeWindow(act))
		},
		settings: []setting{windowed(limit.FixedWindow), windowed(limit.SlidingLog), windowed(limit.SlidingCounter)},
		profile: func(act time.Duration) profiles.Population {
			w := edgeWindow(act)
			return profiles.Population{Name: "callers", Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}, Clients: 20, Behaviour: "give-up",
				// Around every edge, what comes after one would have spent the window
				// that is before the next: only the first would show anything.
				Arrivals: profiles.Arrivals{Kind: profiles.Edge, Count: edgeCount, Spread: w / 10, Period: 2 * w, Aligned: true}}
		},
		scenes: []scene{
			{title: "A fixed window, at its edge", setting: "fixed-window",
				look: fmt.Sprintf("A customer may send %d in a window, and sends %d just before every second edge of the clock's windows and %d just after. Look at admitted: both pass, each time.", edgeCount, edgeCount, edgeCount),
				tell: tell("Fixed window")},
			{title: "The same calls, and a sliding log", setting: "sliding-log", mark: "sliding log",
				look: "The log keeps when each call passed, and looks back one window from now. Look at admitted: half of what it was, and what comes after the edge is refused.",
				tell: tell("Sliding log")},
			{title: "The same calls, and a sliding counter", setting: "sliding-counter", mark: "sliding counter",
				look: "Two counts in place of a log, and the old one fades. Look at how close that comes.",
				tell: tell("Sliding counter")},
		}}
}

func edgeMoral(acts []figures) string {
	worst := func(f *figures) int64 {
		if f.Bound == nil {
			return 0
		}
		return f.Bound.WorstAdmitted
	}
	return fmt.Sprintf("of a promise of %d in any window, the fixed window let %d through, the sliding log %d, the sliding counter %d.",
		edgeCount, worst(&acts[0]), worst(&acts[1]), worst(&acts[2]))
}

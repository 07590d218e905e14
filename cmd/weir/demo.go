package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/url"
	"runtime"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// act is one run of the story.
type act struct {
	title    string
	says     string // before the run
	gateways int
	design   gateway.Design
	limit    string
	latency  time.Duration
	profile  profiles.Profile
	tell     func(w io.Writer, r *report.Result, width int)
}

const (
	demoGateways = 20
	stormLimit   = "10/s,burst=20"
	herdLimit    = "100/s,burst=100"
	herdClients  = 1000
)

func demoActs() []act {
	storm := profiles.Profile{Name: "storm", Duration: 6 * time.Second, Populations: []profiles.Population{{
		Name: "workers", Clients: 40, Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}, Behaviour: "storm",
		Arrivals: profiles.Arrivals{Kind: profiles.Closed, Stagger: 100 * time.Millisecond}}}}
	herd := func(behaviour string) profiles.Profile {
		// Each caller has one call to make; the long pause keeps it at one.
		return profiles.Profile{Name: "herd", Duration: 6 * time.Second, Populations: []profiles.Population{{
			Name: "callers", Clients: herdClients, Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}, Behaviour: behaviour,
			Arrivals: profiles.Arrivals{Kind: profiles.Closed, Think: time.Hour}}}}
	}
	return []act{
		{title: "1. A storm, and gateways that count for themselves",
			says:     fmt.Sprintf("One customer is promised %s. 40 workers of theirs retry at once when refused, spread over %d gateways that each keep their own bucket.", stormLimit, demoGateways),
			gateways: demoGateways, design: gateway.Local, limit: stormLimit, latency: 100 * time.Millisecond, profile: storm, tell: tellStorm},
		{title: "2. The same storm, and one shared bucket",
			says:     fmt.Sprintf("The same workers, the same %d gateways, one bucket behind them.", demoGateways),
			gateways: demoGateways, design: gateway.Central, limit: stormLimit, latency: 100 * time.Millisecond, profile: storm, tell: tellStorm},
		{title: "3. A herd",
			says:     fmt.Sprintf("%s callers arrive at once at a limit of %s. The refused are told to wait a second, and all do exactly that.", report.Count(herdClients), herdLimit),
			gateways: 1, design: gateway.Central, limit: herdLimit, profile: herd("retry-after"), tell: tellHerd},
		{title: "4. The same herd, with jitter",
			says:     "Now each waits for somewhere between nothing and what it was told.",
			gateways: 1, design: gateway.Central, limit: herdLimit, profile: herd("retry-after,spread"), tell: tellHerd},
	}
}

// runDemo tells each act as it is played, not the whole story at its end.
// length is of all of it; 0 is as written.
func runDemo(ctx context.Context, a *app, c *console, seed int64, length time.Duration) error {
	style := newStyle(c.color(a))
	w := &errWriter{w: a.stdout}
	var herds []*report.Result
	acts := demoActs()
	for _, act := range acts {
		if length > 0 {
			act.profile.Duration = length / time.Duration(len(acts))
		}
		fmt.Fprintf(w, "%s\n%s\n\n", style.bold(act.title), fold(act.says, "", a.width()))
		if w.err != nil {
			return stdoutError(w.err)
		}
		r, err := act.play(ctx, a, c, seed)
		if err != nil {
			return err
		}
		if r.Interrupted {
			return errInterrupted
		}
		act.tell(w, r, a.width())
		fmt.Fprintln(w)
		herds = append(herds, r)
	}
	fmt.Fprintf(w, "%s\n\nTry it on a limiter of your own:\n  weir load http://127.0.0.1:8080/ --profile retry-storm --limit %s\n",
		fold(style.bold("So:")+" "+moral(herds[2], herds[3]), "", a.width()), stormLimit)
	return stdoutError(w.err)
}

// moral compares the herd without jitter with the one that has it.
func moral(plain, spread *report.Result) string {
	return fmt.Sprintf("jitter took the peak from %s to %s returns in 10 ms. The limit let %s calls through without it and %s with it.",
		report.Count(plain.Herd.Peak10ms), report.Count(spread.Herd.Peak10ms), report.Count(plain.Totals.Admitted), report.Count(spread.Totals.Admitted))
}

// play starts the act's gateways and sends its traffic at them.
func (p *act) play(ctx context.Context, a *app, c *console, seed int64) (*report.Result, error) {
	spec, err := limit.ParseSpec(p.limit)
	if err != nil {
		return nil, err
	}
	connections := min(p.profile.Populations[0].Clients*p.gateways, 1000)
	// Both ends of each are in this process.
	if err := enoughHandles(connections, 2*connections+p.gateways+spareHandles); err != nil {
		return nil, err
	}
	fleet, err := gateway.New(gateway.Config{Gateways: p.gateways, Limit: spec, Design: p.design, Latency: p.latency})
	if err != nil {
		return nil, err
	}
	if err := fleet.Start(); err != nil {
		return nil, reachError(err, "weir demo needs free ports on 127.0.0.1")
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = fleet.Stop(stop)
	}()
	promise := promiseOf(spec)
	r := &loadRun{app: a, name: p.profile.Name, profile: &p.profile, promise: &promise, seed: seed, threads: 1,
		limits: load.Limits{MaxWait: time.Minute}, attempts: 1_000_000, dropAfter: time.Second}
	if err := r.compile(a.now()); err != nil {
		return nil, err
	}
	r.http = httpdo.Config{Method: "GET", KeyHeader: "X-API-Key", Connections: connections, Timeout: 5 * time.Second}
	r.http.Refused.Status, _ = httpdo.ParseStatusSet("429")
	for i, s := range fleet.URLs() {
		u, err := url.Parse(s)
		if err != nil {
			return nil, err
		}
		r.http.Targets = append(r.http.Targets, u)
		r.names = append(r.names, fmt.Sprintf("g%d", i+1))
	}
	if c.progress(a) {
		r.progress = newProgress(a)
	}
	runtime.GC() // the last act's leftovers are not this one's
	return r.do(ctx)
}

func tellStorm(w io.Writer, r *report.Result, width int) {
	t, b := r.Totals, r.Bound
	fmt.Fprintf(w, "   offered   %8s   %s a second\n", report.Count(t.Offered), report.Count(int64(float64(t.Offered)/r.DurationS)))
	fmt.Fprintf(w, "   admitted  %8s   the promise allows %s in %.0f s\n", report.Count(t.Admitted), report.Count(int64(b.Allows)), r.DurationS)
	end := fmt.Sprintf("It held: at its worst %.1f below the bound.", -b.WorstExcess)
	if r.Verdict == report.Broken {
		end = "BROKEN, " + brokenBy(b) + "."
	}
	for _, f := range r.Findings {
		if f.ID == "local-counters" {
			end += fmt.Sprintf(" This is what %v separate buckets do: every gateway grants the whole limit.", f.Evidence["n"])
		}
	}
	fmt.Fprintln(w, fold(end, "   ", width))
}

func tellHerd(w io.Writer, r *report.Result, width int) {
	h := r.Herd
	fmt.Fprintf(w, "   returns   %8s\n", report.Count(h.Retries))
	fmt.Fprintf(w, "   peak      %8s in 10 ms, %.0f times the mean\n", report.Count(h.Peak10ms), h.OverMean)
	fmt.Fprintf(w, "   admitted  %8s of %s calls in %.0f s\n", report.Count(r.Totals.Admitted), report.Count(herdClients), r.DurationS)
	peak := int(math.Round((h.AtS - h.AroundFromS) * 100)) // bins of 10 ms
	shown := around(h.Around, peak, width-4)
	fmt.Fprintf(w, "   returns due around the peak, 10 ms a column, %.2f s in all:\n   %s\n", float64(len(shown))/100, sparkline(shown))
}

package main

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// Prediction and measurement on a loopback gateway agree within a few
// requests, for traffic that comes by a plan and for traffic that depends on
// what it was answered.
func TestPredictionHolds(t *testing.T) {
	one := profiles.Keys{Kind: profiles.OneKey, Prefix: "k-"}
	for _, c := range []struct {
		name  string
		limit string
		pop   profiles.Population
		slack int64
	}{
		{"planned", "50/s,burst=30", profiles.Population{Name: "p", Clients: 20, Keys: one, Behaviour: "give-up",
			Arrivals: profiles.Arrivals{Kind: profiles.Poisson, Rate: 150}}, 3},
		{"obedient workers", "20/s,burst=10", profiles.Population{Name: "p", Clients: 30, Keys: one, Behaviour: "retry-after",
			Arrivals: profiles.Arrivals{Kind: profiles.Closed, Stagger: 500 * time.Millisecond}}, 8},
		{"sliding log", "sliding-log:limit=40,window=1s", profiles.Population{Name: "p", Clients: 20, Keys: one, Behaviour: "give-up",
			Arrivals: profiles.Arrivals{Kind: profiles.Constant, Rate: 100}}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A busy machine can only pull the two apart: one good run of three shows
			// that the simulator is right.
			for try := range 3 {
				predicted, measured := predictAndMeasure(t, c.limit, c.pop)
				off := max(abs(predicted.Totals.Offered-measured.Totals.Offered), abs(predicted.Totals.Admitted-measured.Totals.Admitted),
					abs(predicted.Totals.Refused-measured.Totals.Refused))
				t.Logf("predicted %+v, measured %+v", predicted.Totals, measured.Totals)
				if measured.Totals.Refused == 0 {
					t.Fatal("nothing was refused, so nothing was tested")
				}
				if off <= c.slack {
					return
				}
				if try == 2 {
					t.Errorf("%d requests apart, want at most %d", off, c.slack)
				}
			}
		})
	}
}

func abs(n int64) int64 { return max(n, -n) }

func predictAndMeasure(t *testing.T, limitText string, pop profiles.Population) (predicted *report.Prediction, measured *report.Result) {
	t.Helper()
	spec, promise, err := parseLimit(limitText)
	if err != nil {
		t.Fatal(err)
	}
	fleet, err := gateway.New(gateway.Config{Gateways: 1, Limit: spec, Design: gateway.Central, Latency: 30 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := fleet.Start(); err != nil {
		t.Fatal(err)
	}
	defer fleet.Stop(context.Background())
	u, err := url.Parse(fleet.URLs()[0])
	if err != nil {
		t.Fatal(err)
	}
	a, _, _ := testApp()
	a.now = time.Now
	p := profiles.Profile{Name: "p", Duration: 2 * time.Second, Populations: []profiles.Population{pop}}
	r := &loadRun{app: a, name: "predict", profile: &p, promise: promise, spec: spec, seed: 1, threads: 1,
		limits: load.Limits{MaxWait: time.Minute}, attempts: 1_000_000, dropAfter: time.Second}
	if err := r.compile(time.Now()); err != nil {
		t.Fatal(err)
	}
	r.http = httpdo.Config{Targets: []*url.URL{u}, Method: "GET", KeyHeader: "X-API-Key", Connections: 100, Timeout: 5 * time.Second}
	r.http.Refused.Status, _ = httpdo.ParseStatusSet("429")
	measured, err = r.do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	o := &loadOptions{app: a}
	if err := o.predictFor(context.Background(), r, measured); err != nil {
		t.Fatal(err)
	}
	return measured.Prediction, measured
}

package main

import (
	"context"
	"net/url"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// The client's books and the fleet's agree to the request, per key, while the
// fleet cuts connections before and after it decides. WEIR_TEST_REQUESTS
// makes it as long as one likes.
func TestClientAndFleetAgree(t *testing.T) {
	requests := int64(10_000)
	if s := os.Getenv("WEIR_TEST_REQUESTS"); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		requests = n
	}
	for _, portable := range []bool{false, true} {
		t.Run(map[bool]string{false: "native", true: "portable"}[portable], func(t *testing.T) {
			spec, err := limit.ParseSpec("50/s,burst=100")
			if err != nil {
				t.Fatal(err)
			}
			fleet, err := gateway.New(gateway.Config{Gateways: 4, Limit: spec, Design: gateway.Central,
				Faults: gateway.Faults{Before: 0.005, After: 0.005, Seed: 1}})
			if err != nil {
				t.Fatal(err)
			}
			if err := fleet.Start(); err != nil {
				t.Fatal(err)
			}
			defer fleet.Stop(context.Background())
			a, _, _ := testApp()
			a.now = time.Now
			p := profiles.Profile{Name: "storm", Duration: time.Hour, Populations: []profiles.Population{{Name: "workers", Clients: 100,
				Keys: profiles.Keys{Kind: profiles.KeyCycle, Count: 20, Prefix: "k-"}, Behaviour: "storm", Arrivals: profiles.Arrivals{Kind: profiles.Closed}}}}
			r := &loadRun{app: a, name: "agree", profile: &p, seed: 1, threads: 2, attempts: requests, dropAfter: time.Second}
			if err := r.compile(time.Now()); err != nil {
				t.Fatal(err)
			}
			r.http = httpdo.Config{Method: "GET", KeyHeader: "X-API-Key", Connections: 200, Timeout: 20 * time.Second, Portable: portable}
			r.http.Refused.Status, _ = httpdo.ParseStatusSet("429")
			for _, s := range fleet.URLs() {
				u, err := url.Parse(s)
				if err != nil {
					t.Fatal(err)
				}
				r.http.Targets = append(r.http.Targets, u)
			}
			res, err := r.do(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			compareBooks(t, res, fleet.Counts(1000), requests)
		})
	}
}

func compareBooks(t *testing.T, r *report.Result, s gateway.Snapshot, requests int64) {
	t.Helper()
	c, f := r.Totals, s.Totals
	t.Logf("client %+v; fleet %+v", c, f)
	if c.Offered != requests || f.CutBefore == 0 || f.CutAfter == 0 {
		t.Errorf("offered %d of %d; cut %d before and %d after", c.Offered, requests, f.CutBefore, f.CutAfter)
	}
	if c.Offered != f.Offered+f.CutBefore || c.Admitted != f.Admitted-f.CutAfterAdmitted ||
		c.Refused != f.Refused-(f.CutAfter-f.CutAfterAdmitted) || c.Failed != f.CutBefore+f.CutAfter {
		t.Error("the totals disagree")
	}
	byKey := map[string]gateway.KeyCounts{}
	for _, k := range s.PerKey {
		byKey[k.Key] = k
	}
	if len(r.PerKey) != len(byKey) {
		t.Errorf("%d keys here, %d there", len(r.PerKey), len(byKey))
	}
	for _, k := range r.PerKey {
		g := byKey[k.Key]
		if k.Offered != g.Offered+g.CutBefore || k.Admitted != g.Admitted-g.CutAfterAdmitted ||
			k.Refused != g.Refused-(g.CutAfter-g.CutAfterAdmitted) {
			t.Errorf("key %s: %+v here, %+v there", k.Key, k, g)
		}
	}
}

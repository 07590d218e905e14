package report

import (
	"strings"
	"testing"
)

// One key that broke its promise is no keys.
func TestHeadlineCountsKeys(t *testing.T) {
	for broken, want := range map[int64]string{1: "; 1 key broke the promise, worst k-1 with 75", 2: "; 2 keys broke the promise, worst k-1 with 75"} {
		r := &Result{Verdict: Broken, Totals: Totals{Offered: 78, Admitted: 78},
			Bound: &Bound{Key: "k-1", Admitted: 75, Allows: 22.3, Ratio: 3.4, KeysJudged: 3, KeysBroken: broken}}
		if got := Headline(r); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

// nginx's limit_req answers 503 unless limit_req_status says otherwise, without
// Retry-After: that may be an outage as well, so the answer names both.
func TestHeadlineNamesAStatusThatMayBeARefusal(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		admitted, refused, failed int64
		status                    map[string]int64
		asks                      string // the status; "" asks nothing
	}{
		{"nginx", 70, 0, 15_841, map[string]int64{"200": 70, "503": 15_841}, "503"},
		{"a firewall", 70, 0, 90, map[string]int64{"200": 70, "403": 60, "500": 30}, "403"},
		{"refused as well", 70, 1, 90, map[string]int64{"200": 70, "429": 1, "503": 90}, ""},
		{"nothing comes through", 0, 0, 90, map[string]int64{"503": 90}, ""},
		{"a few", 70, 0, 9, map[string]int64{"200": 70, "503": 9}, ""},
		{"few of many", 2000, 0, 200, map[string]int64{"200": 2000, "503": 200}, ""},
		{"most of another kind", 70, 0, 90, map[string]int64{"200": 70, "503": 40, "500": 50}, ""},
		{"no limiter's", 70, 0, 180, map[string]int64{"200": 70, "404": 90, "401": 90}, ""},
	} {
		r := &Result{Status: tt.status}
		r.Totals.Offered, r.Totals.Admitted, r.Totals.Refused, r.Totals.Failed = tt.admitted+tt.refused+tt.failed, tt.admitted, tt.refused, tt.failed
		got, want := unrefused(r), ""
		if tt.asks != "" {
			want = "with status " + tt.asks + ": if that is how the limiter refuses, say --refused 429," + tt.asks
		}
		if !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q", tt.name, got)
		}
		r.Findings = []Finding{{ID: "refusals-as-failures"}}
		if got := unrefused(r); got != "" {
			t.Errorf("%s, which a finding says better: %q", tt.name, got)
		}
	}
	// With a promise and without, the answer asks.
	w := storm(gates(1, func() gate { return bucket(10, 20) }))
	w.edit = func(e *Event) {
		if e.Verdict == Refused {
			e.Verdict, e.Class, e.Status = Failed, BadStatus, 503
		}
	}
	events := w.run()
	for _, p := range []*Promise{tenPerSecond, nil} {
		if got := headline(run(Setup{Promise: p}, events)); !strings.Contains(got, "say --refused 429,503") {
			t.Errorf("promise %v: %s", p, got)
		}
	}
}

// limit_req with nodelay, and redis-cell, let burst + 1 through at once.
func TestOneMoreThanTheBurstIsExplained(t *testing.T) {
	of := func(p *Promise, g gate) string {
		w := storm(gates(1, func() gate { return g }))
		w.latency = msec
		for _, f := range run(Setup{Promise: p}, w.run()).Findings {
			if f.ID == "bound-broken" {
				return f.Text
			}
		}
		return ""
	}
	text := func(burst int64) string { return of(tenPerSecond, bucket(10, burst)) }
	if got := text(21); !strings.Contains(got, "burst=20 there lets 21 through at once") || !strings.Contains(got, "not one step") || strings.Contains(got, "Usual causes") {
		t.Errorf("one more: %q", got)
	}
	if got := text(25); !strings.Contains(got, "Usual causes") || strings.Contains(got, "limit_req") {
		t.Errorf("five more: %q", got)
	}
	if got := of(window600, fixedWindow(601, 60*sec)); !strings.Contains(got, "Usual causes") || strings.Contains(got, "limit_req") {
		t.Errorf("one more in a window: %q", got)
	}
}

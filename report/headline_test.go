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
	failing := func(share int) []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		n := 0
		w.edit = func(e *Event) {
			if e.Verdict != Refused {
				return
			}
			if n++; n%100 < share {
				e.Verdict, e.Class, e.Status = Failed, BadStatus, 503
			}
		}
		return w.run()
	}
	for _, p := range []*Promise{tenPerSecond, nil} {
		if got := headline(run(Setup{Promise: p}, failing(100))); !strings.Contains(got, "with status 503: if that is how the limiter refuses, say --refused 429,503") {
			t.Errorf("promise %v: %s", p, got)
		}
		if got := headline(run(Setup{Promise: p}, failing(50))); strings.Contains(got, "--refused") {
			t.Errorf("promise %v, refused as well: %s", p, got)
		}
	}
}

// limit_req with nodelay, and redis-cell, let burst + 1 through at once.
func TestOneMoreThanTheBurstIsExplained(t *testing.T) {
	text := func(burst int64) string {
		w := storm(gates(1, func() gate { return bucket(10, burst) }))
		w.latency = msec
		for _, f := range run(Setup{Promise: tenPerSecond}, w.run()).Findings {
			if f.ID == "bound-broken" {
				return f.Text
			}
		}
		return ""
	}
	if got := text(21); !strings.Contains(got, "burst=20 there lets 21 through at once") || strings.Contains(got, "Usual causes") {
		t.Errorf("one more: %q", got)
	}
	if got := text(25); !strings.Contains(got, "Usual causes") || strings.Contains(got, "limit_req") {
		t.Errorf("five more: %q", got)
	}
}

package gateway

import (
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redistest"
)

const twoRules = `
version: 7
rules:
  - name: requests
    per: key
    limits:
      - {default: true, limit: "1/h,burst=30"}
  - name: everybody
    per: all
    limits:
      - {default: true, limit: "1/h,burst=50"}
  - name: trial
    per: key
    mode: shadow
    limits:
      - {default: true, limit: "1/h,burst=5"}
`

// Rules, a store, refusals that gateways remember and a rule on trial: the
// scrape still equals the books, rule by rule and source by source.
func TestMetricsEqualTheBooksOnAStore(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		set, err := rules.Parse([]byte(twoRules), "two.yaml")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "meter")
		sink, err := OpenMeterFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f := started(t, Config{Gateways: 3, Rules: set, Design: DenyCache, Redis: r.Client(t), StoreTimeout: 10 * time.Second,
			Observe: Observe{Open: true, Log: io.Discard, LogSample: 0.5, Meter: sink}})
		storm(t, f, "k", 6, 10)
		storm(t, f, "l", 6, 10)
		if err := f.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
		all, books := scraped(t, f.Metrics()), f.Counts(0)
		balanced(t, books)
		if books.Totals.Admitted != 50 || books.Totals.Offered != 120 {
			t.Fatalf("books %+v", books.Totals)
		}
		const name = "weir_decisions_total"
		for source, want := range books.BySource {
			if got := sum(all, name, `source="`+source+`"`); got != want.Admitted+want.Refused {
				t.Errorf("source %s: %d, books %+v", source, got, want)
			}
		}
		for _, want := range books.Rules.ByRule {
			label := `rule="` + want.Rule + `"`
			if got := sum(all, name, label); got != want.Decided {
				t.Errorf("rule %s: %d, books %+v", want.Rule, got, want)
			}
			if got := sum(all, "weir_shadow_decisions_total", label); got != want.ShadowDecided {
				t.Errorf("shadow %s: %d, books %+v", want.Rule, got, want)
			}
		}
		if got := sum(all, name, `outcome="admitted"`); got != books.Totals.Admitted {
			t.Errorf("admitted %d, books %d", got, books.Totals.Admitted)
		}
		if got := all["weir_deny_cache_hits_total"]; int64(got) != books.BySource["deny-cache"].Refused || got == 0 {
			t.Errorf("%v refusals were remembered, books %+v", got, books.BySource)
		}
		if all["weir_rules_version"] != 7 || all["weir_deny_cache_size"] == 0 {
			t.Errorf("version %v, %v refusals in force", all["weir_rules_version"], all["weir_deny_cache_size"])
		}
		// Each decision and each trial by the store is one check.
		checks := sum(all, "weir_store_seconds_count", `outcome="answered"`)
		asked := books.BySource["store"]
		if trials := sum(all, "weir_shadow_decisions_total", ""); checks != asked.Admitted+asked.Refused+trials || trials == 0 {
			t.Errorf("%d checks, %+v decisions by the store and %d trials", checks, asked, trials)
		}
		if b, _ := readMeterFile(t, path); b.Units() != books.Totals.AdmittedUnits {
			t.Errorf("metered %d, books %d", b.Units(), books.Totals.AdmittedUnits)
		}
	})
}

func TestLeasesAreCounted(t *testing.T) {
	f := started(t, Config{Gateways: 2, Limit: spec(t, "1/h,burst=100"), Design: Leases, Observe: Observe{Open: true}})
	storm(t, f, "k", 2, 5)
	f.background.wait()
	before := scraped(t, f.Metrics())
	if before["weir_lease_grants_total"] == 0 || before["weir_lease_held_tokens"] == 0 || before["weir_lease_given_back_tokens_total"] != 0 {
		t.Errorf("while it runs: %v granted, %v held, %v given back", before["weir_lease_grants_total"], before["weir_lease_held_tokens"], before["weir_lease_given_back_tokens_total"])
	}
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	after := scraped(t, f.Metrics())
	if after["weir_lease_held_tokens"] != 0 || after["weir_lease_given_back_tokens_total"] != before["weir_lease_held_tokens"] {
		t.Errorf("stopped: %v held, %v given back of %v", after["weir_lease_held_tokens"], after["weir_lease_given_back_tokens_total"], before["weir_lease_held_tokens"])
	}
}

// The store dies: its errors, the breaker and health say so, and it all clears
// up when the store is back.
func TestAStoreThatDiesIsSeen(t *testing.T) {
	r := redistest.Server(t)
	f := started(t, Config{Limit: spec(t, "1/h,burst=1000"), Design: Central, Redis: r.Client(t), StoreTimeout: 10 * time.Second, Observe: Observe{Open: true}})
	ask := func(n int) {
		t.Helper()
		if got := storm(t, f, "k", 1, n); got.failed > 0 {
			t.Fatalf("%v", got)
		}
	}
	health := func() string {
		t.Helper()
		res, err := http.Get(f.URLs()[0] + "/-/healthz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	ask(3)
	if h := health(); !strings.Contains(h, `"status":"ok"`) || !strings.Contains(h, `"store":"answers"`) {
		t.Errorf("well: %s", h)
	}
	r.Kill()
	ask(10)
	all := scraped(t, f.Metrics())
	if sum(all, "weir_store_errors_total", "") == 0 || all["weir_breaker_openings_total"] != 1 || sum(all, "weir_breaker_open", "") != 1 {
		t.Errorf("dead: %d errors, %v openings", sum(all, "weir_store_errors_total", ""), all["weir_breaker_openings_total"])
	}
	if h := health(); !strings.Contains(h, `"status":"degraded"`) || !strings.Contains(h, `"store":"fails"`) || !strings.Contains(h, "breaker") {
		t.Errorf("dead: %s", h)
	}
	r.Restart()
	for deadline := time.Now().Add(30 * time.Second); sum(scraped(t, f.Metrics()), "weir_breaker_open", "") != 0; ask(1) {
		if time.Now().After(deadline) {
			t.Fatal("the breaker stayed open")
		}
	}
	if h := health(); !strings.Contains(h, `"status":"ok"`) {
		t.Errorf("back: %s", h)
	}
}

package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/journal"
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// scraped reads what a handler of metrics answers: each line's name and labels
// to its value.
func scraped(t testing.TB, h http.Handler) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("%d %v", w.Code, w.Header())
	}
	return parsed(t, w.Body.String())
}

func parsed(t testing.TB, text string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(text) {
		if line[0] == '#' {
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all[name] = n
	}
	return all
}

// sum adds up the series of a name whose labels have the given text.
func sum(all map[string]float64, name, label string) (n int64) {
	for k, v := range all {
		if (k == name || strings.HasPrefix(k, name+"{")) && strings.Contains(k, label) {
			n += int64(v)
		}
	}
	return n
}

// After a storm on several gateways the metrics, the books and what was sent
// are the same numbers, and no label tells who called.
func TestMetricsEqualTheBooks(t *testing.T) {
	for _, d := range []Design{Local, Sticky, Central} {
		t.Run(d.String(), func(t *testing.T) {
			f := started(t, Config{Gateways: 3, Limit: spec(t, "1/h,burst=20"), Design: d, Observe: Observe{Open: true}})
			storm(t, f, "secret-key", 12, 10)
			storm(t, f, "another", 3, 2)
			res, err := http.Get(f.URLs()[1] + "/-/metrics")
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			all, books := parsed(t, string(text)), f.Counts(0).Totals
			const name = "weir_decisions_total"
			if got, want := sum(all, name, `outcome="admitted"`), books.Admitted; got != want || want == 0 {
				t.Errorf("admitted %d, books %d", got, want)
			}
			if got, want := sum(all, name, `outcome="refused"`), books.Refused; got != want || want == 0 {
				t.Errorf("refused %d, books %d", got, want)
			}
			if got := sum(all, name, `source="memory"`); got != books.Offered || got != 126 {
				t.Errorf("by memory %d, offered %d", got, books.Offered)
			}
			if got := sum(all, "weir_decision_seconds_count", ""); got != books.Offered {
				t.Errorf("timed %d, offered %d", got, books.Offered)
			}
			if all["weir_requests_in_flight"] != 0 {
				t.Errorf("%v in flight", all["weir_requests_in_flight"])
			}
			if m := regexp.MustCompile(`secret|another|127\.0\.0\.1|go_|process_`).FindString(string(text)); m != "" {
				t.Errorf("%q stands in the metrics", m)
			}
		})
	}
}

func TestMetricsAreOffUnlessWanted(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=20")})
	res, err := http.Get(f.URLs()[0] + "/-/metrics")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != 404 || f.Metrics() != nil {
		t.Errorf("status %d", res.StatusCode)
	}
}

// ruled is a verdict of a rule.
func ruled(name string, ok bool, by Source) *verdict {
	v := &verdict{By: &rules.Rule{Name: name}, Limit: &rules.Limit{Spec: limit.Spec{Rate: limit.Rate{Units: 80, Per: time.Second}, Burst: 80}, From: "plan gold"}, Source: by}
	v.OK = ok
	return v
}

func observed(t testing.TB, o Observe) *observer {
	t.Helper()
	now := int64(1_000_000_000_000)
	w, err := newObserver(o, 2, 10, false, func() int64 { return now }, func() internals {
		return internals{DenyHits: 7, LeaseHeld: 9, Shadow: []RuleCounts{{Rule: "trial", ShadowDecided: 5, ShadowRefused: 2, ShadowMissed: 1}, {Rule: "requests"}}}
	})
	if err != nil {
		t.Fatal(err)
	}
	w.start(time.Hour)
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func TestEventsBecomeFigures(t *testing.T) {
	w := observed(t, Observe{Metrics: true})
	for range 3 {
		w.decided(0, 1, ruled("requests", true, FromLease), &caller{Key: "k"}, 1, 40*time.Microsecond)
	}
	w.decided(1, 1, ruled("requests", false, FromDenyCache), &caller{Key: "k"}, 1, 0)
	w.decided(1, 1, ruled("exports", false, FromClosed), &caller{Key: "k"}, 1, 0)
	w.decided(1, 1, &verdict{}, &caller{}, 1, 0)
	w.stored(0, "", time.Millisecond, "")
	w.stored(0, "", 50*time.Millisecond, "timeout")
	w.stored(1, "10.0.0.1:7000", time.Millisecond, "timeout")
	w.breaker(0, "", true)
	w.breaker(1, "", true)
	w.breaker(1, "", true) // no news
	w.breaker(0, "", false)
	w.breaker(0, "10.0.0.1:7000", true)
	w.rulesLoaded(7, nil)
	w.rulesLoaded(0, errors.New("line 3: no"))
	w.arrived()
	got := scraped(t, w.metrics.handler)
	for name, want := range map[string]float64{
		`weir_decisions_total{outcome="admitted",rule="requests",source="lease"}`:     3,
		`weir_decisions_total{outcome="refused",rule="requests",source="deny-cache"}`: 1,
		`weir_decisions_total{outcome="refused",rule="exports",source="closed"}`:      1,
		`weir_decisions_total{outcome="refused",rule="none",source="memory"}`:         1,
		`weir_shadow_decisions_total{outcome="admitted",rule="trial"}`:                3,
		`weir_shadow_missed_total{rule="trial"}`:                                      1,
		`weir_shadow_decisions_total{outcome="refused",rule="trial"}`:                 2,
		`weir_decision_seconds_bucket{source="lease",le="0.0001"}`:                    3,
		`weir_decision_seconds_bucket{source="lease",le="1e-05"}`:                     0,
		`weir_store_seconds_count{node="store",outcome="answered"}`:                   1,
		`weir_store_seconds_count{node="store",outcome="failed"}`:                     1,
		`weir_store_seconds_count{node="10.0.0.1:7000",outcome="failed"}`:             1,
		`weir_store_errors_total{kind="timeout"}`:                                     2,
		`weir_store_errors_total{kind="refused"}`:                                     0,
		`weir_breaker_open{node="store"}`:                                             1,
		`weir_breaker_open{node="10.0.0.1:7000"}`:                                     1,
		`weir_breaker_openings_total`:                                                 3,
		`weir_rules_version`:                                                          7,
		`weir_rules_age_seconds`:                                                      0,
		`weir_rules_reload_failures_total`:                                            1,
		`weir_requests_in_flight`:                                                     1,
		`weir_deny_cache_hits_total`:                                                  7,
		`weir_lease_held_tokens`:                                                      9,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (%v), want %v", name, v, ok, want)
		}
	}
}

// Whatever rule files and clusters come up with, the number of series has an
// end, and the counts are all there.
func TestLabelsAreBounded(t *testing.T) {
	w := observed(t, Observe{Metrics: true})
	const n = 3 * maxRuleLabels
	for i := range n {
		w.decided(0, 1, ruled(fmt.Sprint("rule-", i), true, FromStore), &caller{}, 1, 0)
		w.stored(0, fmt.Sprint("10.0.0.1:", i), 0, fmt.Sprint("kind-", i))
	}
	again := ruled("rule-0", true, FromStore) // a new set, the old name
	w.decided(0, 1, again, &caller{}, 1, 0)
	got := scraped(t, w.metrics.handler)
	count := func(name string) (series int) {
		for k := range got {
			if strings.HasPrefix(k, name+"{") {
				series++
			}
		}
		return series
	}
	if c := count("weir_decisions_total"); c != maxRuleLabels+1 || sum(got, "weir_decisions_total", "") != n+1 {
		t.Errorf("%d series of rules, %d decisions", c, sum(got, "weir_decisions_total", ""))
	}
	if got[`weir_decisions_total{outcome="admitted",rule="rule-0",source="store"}`] != 2 {
		t.Error("a rule's counter began anew with a set that names it again")
	}
	if c := count("weir_store_seconds_count"); c > 2*(maxNodeLabels+1) {
		t.Errorf("%d series of nodes", c)
	}
	if c := count("weir_store_errors_total"); c != maxKindLabels+1 || sum(got, "weir_store_errors_total", "") != n {
		t.Errorf("%d kinds, %d errors", c, sum(got, "weir_store_errors_total", ""))
	}
}

// A customer is held, and the log says by what.
func TestTheDecisionLogSaysWhy(t *testing.T) {
	var out bytes.Buffer
	w, err := newObserver(Observe{Log: &out}, 2, 10, true, func() int64 { return 1 }, func() internals { return internals{} })
	if err != nil {
		t.Fatal(err)
	}
	w.rulesLoaded(3, nil)
	w.breaker(1, "", true)
	for range 5 {
		w.decided(1, 1, ruled("requests", false, FromDenyCache), &caller{Key: "k-7", Plan: "gold", Address: "10.0.0.9"}, 1, 0)
		w.decided(1, 1, ruled("requests", true, FromStore), &caller{Key: "k-7", Plan: "gold"}, 2, 0)
	}
	if err := w.close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "k-7") || strings.Contains(out.String(), "10.0.0.9") {
		t.Errorf("a key or an address stands in %s", out.String())
	}
	q := journal.NewInquiry(ShownNames("k-7"), time.Time{}, time.Time{})
	for line := range strings.Lines(out.String()) {
		l := journal.Parse([]byte(line))
		if l == nil {
			t.Fatalf("no line of a journal: %s", line)
		}
		q.Add(l)
	}
	a := q.Answer()
	if len(a.Spells) != 1 || len(a.Breakers) != 1 || a.Name != hashed("k-7") || a.Plan != "gold" {
		t.Fatalf("%+v", a)
	}
	s := a.Spells[0]
	if s.Name != "requests" || s.Limit != "80/s,burst=80" || s.Rule.From != "plan gold" || s.Version != 3 ||
		s.Refused != 5 || s.RefusedBy["deny-cache"] != 5 || s.AdmittedUnits != 10 {
		t.Errorf("%+v", s)
	}
}

// A log on a full disk costs no request, and is told of in the end.
func TestAnObserverThatCannotWriteSaysSo(t *testing.T) {
	w, err := newObserver(Observe{Log: fullDisk{}, LogSample: 1}, 1, 10, false, func() int64 { return 1 }, func() internals { return internals{} })
	if err != nil {
		t.Fatal(err)
	}
	w.decided(0, 1, &verdict{}, &caller{}, 1, 0)
	var o *OutputError
	if err := w.close(); !errors.As(err, &o) || err.Error() != "the decision log: no space left" {
		t.Errorf("got %v", err)
	}
	if err := w.close(); err != nil {
		t.Errorf("the second time %v", err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestANilObserverSeesNothing(t *testing.T) {
	var w *observer
	w.arrived()
	w.decided(0, 1, &verdict{}, &caller{}, 1, 0)
	w.stored(0, "", 0, "x")
	w.breaker(0, "", true)
	w.rulesLoaded(1, nil)
	w.answered()
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

func TestHealth(t *testing.T) {
	const second = int64(time.Second)
	now := 100 * second
	for _, tt := range []struct {
		why      string
		happened func(w *watch)
		stopping bool
		status   string
		reason   string
		store    string
	}{
		{"nothing has happened yet", func(*watch) {}, false, healthy, "", "unasked"},
		{"the store answers", func(w *watch) { w.stored(0, now-2, "timeout"); w.stored(0, now-1, "") }, false, healthy, "", "answers"},
		{"it has failed since", func(w *watch) { w.stored(0, now-2, ""); w.stored(0, now-1, "timeout") }, false, degraded, "store failed: timeout", "fails"},
		{"another gateway's store failed", func(w *watch) { w.stored(1, now, "timeout"); w.breaker(1, "", true) }, false, healthy, "", "unasked"},
		{"its breaker is open", func(w *watch) { w.breaker(0, "", true) }, false, degraded, "breaker for store is open", "unasked"},
		{"and closed again", func(w *watch) { w.breaker(0, "", true); w.breaker(0, "", false) }, false, healthy, "", "unasked"},
		{"newer rules are wrong", func(w *watch) { w.loaded(3, 1, nil); w.loaded(0, 2, errors.New("line 3: \x1b[2J")) }, false, degraded, `not taken: line 3: \x1b[2J`, "unasked"},
		{"it stops", func(w *watch) { w.breaker(0, "", true) }, true, unhealthy, "it is stopping", "unasked"},
	} {
		w := watch{gateways: make([]watched, 2)}
		tt.happened(&w)
		h := w.health(0, now, true, tt.stopping)
		if h.Status != tt.status || h.Store != tt.store || h.Gateway != 1 || (len(h.Reasons) == 0) != (tt.status == healthy) ||
			!strings.Contains(strings.Join(h.Reasons, "; "), tt.reason) {
			t.Errorf("%s: %+v", tt.why, h)
		}
	}
}

func TestHealthz(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=20")})
	get := func() (int, Health) {
		t.Helper()
		r := httptest.NewRequest("GET", "/-/healthz", nil)
		r.RemoteAddr = "127.0.0.1:9"
		w := httptest.NewRecorder()
		f.Handler(0).ServeHTTP(w, r)
		var h Health
		if err := json.Unmarshal(w.Body.Bytes(), &h); err != nil {
			t.Fatalf("%v in %s", err, w.Body)
		}
		return w.Code, h
	}
	if code, h := get(); code != 200 || h.Status != healthy || h.Store != "none" {
		t.Errorf("well: %d %+v", code, h)
	}
	f.RulesChecked(0, &OldRulesError{1, 2})
	if code, h := get(); code != 200 || h.Status != healthy {
		t.Errorf("after a late copy: %d %+v", code, h)
	}
	f.RulesChecked(0, errors.New("line 3: no"))
	if code, h := get(); code != 200 || h.Status != degraded {
		t.Errorf("after a broken copy: %d %+v", code, h)
	}
	f.RulesChecked(0, nil)
	if code, h := get(); code != 200 || h.Status != healthy {
		t.Errorf("mended: %d %+v", code, h)
	}
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if code, h := get(); code != 503 || h.Reasons[0] != "it is stopping" {
		t.Errorf("stopping: %d %+v", code, h)
	}
}

// BenchmarkObserve is what a decision pays for being seen.
func BenchmarkObserve(b *testing.B) {
	for name, o := range map[string]Observe{
		"metrics": {Metrics: true},
		"log":     {Log: io.Discard, LogSample: 0.001},
		"meter":   {Meter: &flaky{}},
		"all":     {Metrics: true, Log: io.Discard, LogSample: 0.001, Meter: &flaky{}},
	} {
		b.Run(name, func(b *testing.B) {
			w := observed(b, o)
			v, c := ruled("requests", true, FromStore), &caller{Key: "k-7", Plan: "gold"}
			b.ReportAllocs()
			for b.Loop() {
				w.decided(0, 1, v, c, 1, 40*time.Microsecond)
			}
		})
	}
}

// What a cluster calls its nodes may be anything.
func TestHostileNodeNames(t *testing.T) {
	o := observed(t, Observe{Metrics: true})
	for _, node := range []string{"\xff\xfe:6379", "a\nb\x1b[2J:1", ""} {
		o.stored(0, node, time.Millisecond, "")
		o.stored(0, node, time.Millisecond, "timeout")
		o.breaker(0, node, true)
	}
	if all := scraped(t, o.metrics.handler); sum(all, "weir_breaker_open", "") != 3 {
		t.Errorf("%v", all)
	}
}

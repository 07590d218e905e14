package gateway

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/report"
)

func bucket(text string, units int64, per time.Duration, burst int64) *report.Promise {
	return &report.Promise{Text: text, Units: units, Per: int64(per), Burst: burst}
}

// judged stops a fleet and asks for its result.
func judged(t *testing.T, f *Fleet) *report.Result {
	t.Helper()
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	r, err := f.Result(report.Meta{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	c := f.Counts(0).Totals
	if got := r.Totals; got.Offered != c.Offered || got.Admitted != c.Admitted || got.Refused != c.Refused {
		t.Errorf("the result says %+v, the books %+v", got, c)
	}
	var second report.Totals
	for _, s := range r.PerSecond {
		second.Offered += s.Offered
		second.Admitted += s.Admitted
		second.Refused += s.Refused
	}
	if second.Offered != c.Offered || second.Admitted != c.Admitted || second.Refused != c.Refused {
		t.Errorf("the seconds add up to %+v, the books %+v", second, c)
	}
	return r
}

func TestResultJudgesTheDesign(t *testing.T) {
	for design, want := range map[Design]string{Local: report.Broken, Central: report.Held, Sticky: report.Held, ExactShares: report.Held} {
		f := started(t, Config{Gateways: 4, Limit: spec(t, "10/s,burst=40"), Design: design, Judge: bucket("10/s,burst=40", 10, time.Second, 40)})
		storm(t, f, "k", 8, 50)
		r := judged(t, f)
		if r.Source != "serve" || r.Verdict != want || r.Bound.Promise != f.cfg.Limit.String() {
			t.Errorf("%v: %s by %+v, want %s", design, r.Verdict, r.Bound, want)
		}
		if len(r.PerKey) != 1 || r.PerKey[0].Key != "k" || len(r.PerTarget) != 4 {
			t.Errorf("%v: keys %+v, gateways %+v", design, r.PerKey, r.PerTarget)
		}
		if r.RetryAfter.Seen != r.Totals.Refused || r.Status["429"] != r.Totals.Refused {
			t.Errorf("%v: hints %+v, status %v, refused %d", design, r.RetryAfter, r.Status, r.Totals.Refused)
		}
	}
}

func TestResultOfAWrongFleet(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5"), Judge: bucket("1/h,burst=5", 1, time.Hour, 5), HashKeys: true,
		Wrong: Wrong{Race: 50 * time.Millisecond, NoRetryAfter: true, Status503: true}, Faults: Faults{Before: 0.2}})
	storm(t, f, "secret", 16, 3)
	r := judged(t, f)
	found := map[string]bool{}
	for _, x := range r.Findings {
		found[x.ID] = true
	}
	for _, id := range []string{"bound-broken", "retry-after-missing", "status-not-429"} {
		if !found[id] {
			t.Errorf("no finding %s in %v", id, found)
		}
	}
	notes := strings.Join(r.Notes, "\n")
	if !strings.Contains(notes, "race=50ms,no-retry-after,status-503") || !strings.Contains(notes, "cut on purpose") {
		t.Errorf("notes %s", notes)
	}
	if r.PerKey[0].Key != hashed("secret") {
		t.Errorf("the result shows the key %q", r.PerKey[0].Key)
	}
}

func TestResultStartsAfreshAtAReset(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5"), Judge: bucket("1/h,burst=5", 1, time.Hour, 5)})
	storm(t, f, "a", 1, 3)
	f.Reset()
	storm(t, f, "b", 1, 2)
	if r := judged(t, f); r.Totals.Offered != 2 || r.PerKey[0].Key != "b" {
		t.Errorf("%+v", r.Totals)
	}
}

func TestResultNeedsRecording(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5")})
	if _, err := f.Result(report.Meta{}); !errors.Is(err, ErrNotRecorded) {
		t.Error(err)
	}
}

package tui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-cli/weir/report"
)

// One events file gives the same numbers as a text, as JSON and on the
// dashboard.
func TestThreeReadersAgree(t *testing.T) {
	text, err := os.ReadFile(savedRun)
	if err != nil {
		t.Fatal(err)
	}
	saved, err := report.NewEventReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Rebuild(saved, nil)
	if err != nil {
		t.Fatal(err)
	}
	var asText, asJSON bytes.Buffer
	if err := report.WriteText(&asText, r, report.TextOptions{Width: 160}); err != nil {
		t.Fatal(err)
	}
	if err := report.WriteJSON(&asJSON, r); err != nil {
		t.Fatal(err)
	}
	back, err := report.ReadResult(bytes.NewReader(asJSON.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	tape, filmed := openRun(t, false)
	if x, y := mustJSON(t, r), mustJSON(t, filmed); x != y {
		t.Errorf("the film's result is another one:\n%s\n%s", x, y)
	}
	screens := ""
	for v := range views {
		m := newModel(tape, Options{View: v})
		m.w, m.h = 200, 60
		screens += m.screen().plainText()
	}
	k := back.PerKey[0]
	for _, f := range []struct {
		what             string
		want             string // from the JSON
		inText, onScreen string // %s is the figure
	}{
		{"offered", report.Count(back.Totals.Offered), `offered %s =`, `offered %s `},
		{"admitted", report.Count(back.Totals.Admitted), `= admitted %s \+`, `admitted %s `},
		{"refused", report.Count(back.Totals.Refused), `\+ refused %s `, `refused %s `},
		{"failed", report.Count(back.Totals.Failed), `failed %s`, `failed %s`},
		{"retries", report.Count(back.Totals.Retries), `retries %s,`, `retries +%s\n`},
		{"429", report.Count(back.Status["429"]), `429 × %s`, `429 +%s\n`},
		{"hints", report.Count(back.RetryAfter.Seen), `seen %s,`, `seen +%s\n`},
		{"herd", report.Count(back.Herd.Peak10ms), `at most %s retries due in 10 ms`, `most in 10 ms +%s\n`},
		{"fairness", fmt.Sprintf("%.3f", back.Fairness.Jain), `Jain %s over`, `Jain %s`},
		{"clients", report.Count(back.Fairness.Clients), `over %s clients`, `of %s clients`},
		{"late", fmt.Sprintf("%.2f", back.Sender.LateMS.P99), `late p99 %s ms`, `late p99 +%s ms`},
		{"p99", fmt.Sprintf("%.2f", back.Latency.FromDue.P99), `from due .* %s `, `from due .* %s `},
		{"admitted p50", fmt.Sprintf("%.2f", back.Latency.Admitted.P50), `admitted +%s `, `admitted +%s `},
		{"key", fmt.Sprintf("%d", k.Admitted), k.Key + ` +797 +%s`, k.Key + ` .* %s +232 +797`},
		{"most", fmt.Sprint(k.MaxIn["1s"]), k.Key + ` .* %s `, k.Key + ` .* %s `},
		{"excess", fmt.Sprintf("%.0f", k.WorstExcess), k.Key + ` .*%s`, `worst excess +\+%s`},
		{"target", "302", `10\.0\.0\.2:80 +351 +%s`, `10\.0\.0\.2:80 +%s`},
	} {
		value := regexp.QuoteMeta(f.want)
		if re := fmt.Sprintf(f.inText, value); !regexp.MustCompile(re).MatchString(asText.String()) {
			t.Errorf("%s: the text has no %q", f.what, re)
		}
		if re := fmt.Sprintf(f.onScreen, value); !regexp.MustCompile(re).MatchString(screens) {
			t.Errorf("%s: no screen has %q", f.what, re)
		}
	}
	for _, f := range back.Findings {
		if !strings.Contains(asText.String(), f.ID) || !strings.Contains(screens, f.ID) {
			t.Errorf("finding %s is not everywhere", f.ID)
		}
	}
	// The chart adds up to the sums.
	snap := tape.Snapshot()
	for name, trail := range map[string]report.Trail{"fine": snap.Detail.Fine, "whole": snap.Detail.Whole} {
		var sum report.Totals
		for _, k := range trail.Ticks {
			sum.Offered += int64(k.Offered)
			sum.Admitted += int64(k.Admitted)
			sum.Refused += int64(k.Refused)
			sum.Failed += int64(k.Failed)
		}
		if n := back.Totals; sum.Offered != n.Offered || sum.Admitted != n.Admitted || sum.Refused != n.Refused || sum.Failed != n.Failed {
			t.Errorf("%s trail adds up to %+v, the result has %+v", name, sum, n)
		}
	}
	for _, per := range []int64{1e8, 5e8, 1e9, 5e9} {
		line := timelineOf(snap.Detail, snap.At, 1000, per)
		var sum float64
		for _, c := range line.cols {
			sum += c.admitted * float64(line.span) / float64(line.per)
		}
		if got := int64(sum + 0.5); got != back.Totals.Admitted {
			t.Errorf("columns of %s add up to %d admitted, the result has %d", lasting(per), got, back.Totals.Admitted)
		}
	}
}

func mustJSON(t *testing.T, r *report.Result) string {
	t.Helper()
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Every frame of a film balances, and nothing in it goes back.
func TestFramesBalance(t *testing.T) {
	tape, r := openRun(t, true)
	var last report.Totals
	var at int64
	for i, f := range tape.frames {
		n := f.Totals
		if n.Offered != n.Admitted+n.Refused+n.Failed+n.InFlight || n.Offered < last.Offered || n.Admitted < last.Admitted || f.At <= at {
			t.Fatalf("frame %d at %d: %+v after %+v at %d", i, f.At, n, last, at)
		}
		if f.Detail.Waiting < 0 || f.Detail.Waiting > 40 {
			t.Errorf("frame %d: %d of 40 clients wait", i, f.Detail.Waiting)
		}
		last, at = n, f.At
	}
	if last != r.Totals {
		t.Errorf("the last frame has %+v, the result %+v", last, r.Totals)
	}
	if len(tape.frames) < 100 {
		t.Errorf("only %d frames", len(tape.frames))
	}
}

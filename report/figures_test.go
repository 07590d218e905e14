package report

import (
	"math"
	"reflect"
	"testing"
)

func TestRetryAfterIsCounted(t *testing.T) {
	c := NewCollector(Setup{})
	s := c.Shard()
	rec := func(v Verdict, has Has, wait int64) {
		e := at(1, 2, v)
		e.Has |= has
		e.RetryAfter = wait
		s.Record(&e)
	}
	rec(Refused, HasRetryAfter, sec)
	rec(Refused, HasRetryAfter, sec+20*msec) // falls into the same row
	rec(Refused, HasRetryAfter, 1500*msec)
	rec(Refused, HasRetryAfter|Obeyed, 90*sec)
	rec(Refused, 0, 0)
	rec(Refused, BadRetryAfter, 0)
	rec(Refused, HasRetryAfter|Suspect|Early|Capped, 0)
	rec(Admitted, Obeyed, 0)
	rec(Admitted, Early, 0)
	rec(Admitted, HasRetryAfter, sec) // not a refusal: not counted
	got := c.Finish(Meta{}).RetryAfter
	want := RetryAfter{Seen: 5, Missing: 1, Invalid: 1, Suspect: 1, Values: map[string]int64{"0": 1, "1": 2, "1.5": 1, "90": 1},
		LongestS: 90, Obeyed: 2, ObeyedThenAdmitted: 1, Early: 2, Capped: 1}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestWaitsAreBounded(t *testing.T) {
	var h hintCount
	for i := range int64(1000) {
		h.value(i * sec)
	}
	r := h.result()
	if len(r.Values) != hintValues+1 || r.Values["other"] != 1000-hintValues {
		t.Errorf("%d rows, other %d", len(r.Values), r.Values["other"])
	}
}

func TestHerd(t *testing.T) {
	var h herdCount
	for range 300 {
		h.add(5*sec+3*msec, 5*sec+12*msec) // due in one bin, left in the next
	}
	for i := range int64(100) {
		h.add(sec+i*40*msec, sec+i*40*msec)
	}
	r := h.result()
	// 400 retries over the 401 bins from 1 s to 5 s.
	want := round(300/(400/401.0), 2)
	if r.Peak10ms != 300 || r.AtS != 5 || r.OverMean != want || r.PeakSent10ms != 300 || r.SentAtS != 5.01 {
		t.Errorf("%+v, want over_mean %v", r, want)
	}
	if r.AroundFromS != 4 || r.Around[100] != 300 {
		t.Errorf("from %v: %v", r.AroundFromS, r.Around)
	}
	var one herdCount
	for range 100 {
		one.add(sec, sec)
	}
	if m := one.overMean(); m != 100 {
		t.Errorf("a single wave is %v times the mean of its second, want 100", m)
	}
	h.add(herdBins*herdBin, 0)
	if h.over != 1 {
		t.Error("beyond the last bin")
	}
}

func TestFairness(t *testing.T) {
	for _, c := range []struct {
		name              string
		offered, admitted []int
		jain              float64
		starved           int64
	}{
		{"all alike", []int{20, 20, 20}, []int{5, 5, 5}, 1, 0},
		{"one has it all", []int{20, 20, 20, 20}, []int{8, 0, 0, 0}, 0.25, 3},
		{"too few attempts to call it starving", []int{9, 10}, []int{0, 0}, 1, 1},
		{"admitted at the tenth", []int{10}, []int{1}, 1, 0},
		{"admitted after the tenth", []int{15}, []int{1}, 1, 0},
	} {
		var f fairCount
		for i := range c.offered {
			var cl clientStat
			for n := range c.offered[i] {
				f.add(&cl, n >= c.offered[i]-c.admitted[i]) // admitted last
			}
		}
		if math.Abs(f.jain()-c.jain) > 1e-9 || f.starved != c.starved {
			t.Errorf("%s: jain %v, starved %d", c.name, f.jain(), f.starved)
		}
	}
}

func TestTrust(t *testing.T) {
	for _, c := range []struct {
		planned, dropped, late int64
		want                   Trust
	}{
		{0, 0, 0, Good},
		{1000, 0, 10 * msec, Good},
		{1000, 0, 10*msec + 1, Degraded},
		{1000, 1, 0, Degraded},
		{1000, 50, 0, Degraded},
		{1000, 51, 0, Bad},
		{1000, 0, 2 * sec, Degraded},
		{1000, 0, 2*sec + 1, Bad},
	} {
		if got, why := trust(c.planned, c.dropped, c.late); got != c.want || why == "" {
			t.Errorf("%+v: %s, %q", c, got, why)
		}
	}
}

// TestSnapshotAgreesWithResult: what a viewer sees last is what the result says.
func TestSnapshotAgreesWithResult(t *testing.T) {
	w := storm(gates(20, func() gate { return bucket(10, 20) }))
	w.tell = roundUp
	c := NewCollector(Setup{Promise: tenPerSecond})
	s := c.Shard()
	for _, e := range w.run() {
		s.Record(&e)
	}
	before := c.Latest()
	r := c.Finish(Meta{})
	got := c.Latest()
	if before.Totals.Offered != 0 {
		t.Error("a published snapshot changed")
	}
	for _, p := range []struct {
		name string
		a, b any
	}{
		{"totals", got.Totals, r.Totals}, {"verdict", got.Verdict, r.Verdict}, {"bound", got.Bound, r.Bound},
		{"keys", got.Keys, r.PerKey}, {"targets", got.Targets, r.PerTarget}, {"status", got.Status, r.Status},
		{"errors", got.Errors, r.Errors}, {"hints", got.Hints, r.RetryAfter}, {"herd", got.Herd, r.Herd},
		{"fairness", got.Fairness, r.Fairness}, {"latency", got.Latency, r.Latency}, {"series", got.Series, r.PerSecond},
	} {
		if !reflect.DeepEqual(p.a, p.b) {
			t.Errorf("%s: snapshot %+v, result %+v", p.name, p.a, p.b)
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"k-7":             "k-7",
		"tab\there":       `tab\there`,
		"\x1b[31mred":     `\x1b[31mred`,
		"a\u202eb":        `a\u202eb`,
		"bad\xff\xfebyte": `bad\xff\xfebyte`,
		"née 日本":          "née 日本",
		"\U000e0041":      `\U000e0041`,
		"\ufffd":          "\ufffd",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if n := len([]rune(Clean(string(make([]rune, 500))))); n > nameMax*4+1 {
		t.Errorf("%d characters of a long name", n)
	}
}

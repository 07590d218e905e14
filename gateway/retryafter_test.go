package gateway

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

func TestParseRetryAfter(t *testing.T) {
	for s, want := range map[string]RetryAfter{
		"exact":      {},
		"jitter=0.5": {Share: 0.5},
		"jitter=3s":  {Up: 3 * time.Second},
		"slots":      {Slots: true},
		"slots=5m":   {Slots: true, Reach: 5 * time.Minute},
	} {
		if got, err := ParseRetryAfter(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "slots=", "slots=0s", "slots=25h", "jitter", "jitter=", "jitter=0", "jitter=-1", "jitter=NaN", "jitter=11", "jitter=2h", "jitter=-1s", "exact=1", "later"} {
		if got, err := ParseRetryAfter(s); err == nil {
			t.Errorf("%q is taken as %+v", s, got)
		}
	}
}

// refusedBy is a refusal by one rule.
func refusedBy(name, text string, t testing.TB, wait time.Duration) *verdict {
	set := rules.FromLimit(spec(t, text))
	set.Rules[0].Name = name
	d := limit.Decision{Limit: capacity(set.Rules[0].Limits[0].Spec), RetryAfter: wait, ResetAfter: wait}
	return &verdict{Decision: d, By: set.Rules[0], Limit: set.Rules[0].Limits[0],
		Hits: []hitState{{Rule: set.Rules[0], Limit: set.Rules[0].Limits[0], Subject: "k", Cost: 1, Decision: d}}}
}

func waits(w *waiter, v *verdict, n int) []time.Duration {
	var all []time.Duration
	for range n {
		all = append(all, w.wait(v, 1e18))
	}
	return all
}

func TestWaits(t *testing.T) {
	const ms, exact = time.Millisecond, 250 * time.Millisecond
	v := refusedBy("orders", "10/s,burst=20", t, exact)
	make := func(r RetryAfter, gateways, n int, d Design) *waiter {
		return newWaiter(Config{RetryAfter: r, Seed: 7, Gateways: gateways, Design: d}, n)
	}
	for _, d := range waits(make(RetryAfter{}, 1, 0, Local), v, 5) {
		if d != exact {
			t.Errorf("exact: %v", d)
		}
	}
	for name, r := range map[string]RetryAfter{"share": {Share: 2}, "up": {Up: 500 * ms}} {
		got := waits(make(r, 1, 0, Local), v, 400)
		if least, most := slices.Min(got), slices.Max(got); least < exact || most > exact+500*ms || least > exact+50*ms || most < exact+450*ms {
			t.Errorf("%s: from %v to %v", name, least, most)
		}
		if again := waits(make(r, 1, 0, Local), v, 400); !slices.Equal(got, again) {
			t.Errorf("%s: the same seed draws something else", name)
		}
		if other := waits(make(r, 2, 1, Local), v, 400); slices.Equal(got, other) {
			t.Errorf("%s: two gateways draw the same", name)
		}
	}
	// Slots in whole seconds: what comes in a second has one slot, and eight
	// tokens come in what is left of the first.
	got := waits(make(RetryAfter{Slots: true}, 1, 0, Local), v, 21)
	for i, d := range got {
		if want := time.Duration(1+(i+2)/10) * time.Second; d != want {
			t.Errorf("slot %d in %v, want %v", i, d, want)
		}
	}
	// In milliseconds they are spaced at the rate.
	for i, d := range waits(make(RetryAfter{Slots: true, Millis: true}, 1, 0, Local), v, 20) {
		if want := exact + time.Duration(i)*100*ms; d != want {
			t.Errorf("slot %d in %v, want %v", i, d, want)
		}
	}
	// Gateways that share a store hand out every other slot.
	var both []time.Duration
	for n := range 2 {
		both = append(both, waits(make(RetryAfter{Slots: true, Millis: true}, 2, n, Central), v, 10)...)
	}
	slices.Sort(both)
	for i, d := range both {
		if want := exact + time.Duration(i)*100*ms; d != want {
			t.Errorf("slot %d of two gateways in %v, want %v", i, d, want)
		}
	}
	// What time does not bring has no slot.
	for _, wait := range []time.Duration{limit.Never, limit.Unknown} {
		if got := make(RetryAfter{Slots: true}, 1, 0, Local).wait(refusedBy("c", "concurrency:limit=3", t, wait), 0); got != wait {
			t.Errorf("%v became %v", wait, got)
		}
	}
	if got := make(RetryAfter{Slots: true}, 1, 0, Local).wait(refusedBy("w", "fixed-window:limit=4,window=1m", t, 30*time.Second), 0); got != 30*time.Second {
		t.Errorf("a window's first slot is in %v", got)
	}
}

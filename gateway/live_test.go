package gateway

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// versioned is one rule for everybody by key, in a version.
func versioned(t testing.TB, version int64, text string) *rules.Set {
	t.Helper()
	s := rules.FromLimit(spec(t, text))
	s.Version = version
	return s
}

// rolled sends a storm of 400/s over 20 gateways in virtual time, while a plan
// changes from 10/s,20 to 20/s,40 in 10 s, and returns what passed of it in
// those seconds.
func rolled(t *testing.T, c Config) (before, during int) {
	t.Helper()
	c.Gateways, c.Design, c.Rollout = 20, Central, 10*time.Second
	c.Rules = versioned(t, 1, "10/s,burst=20")
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	start := f.now()
	for i := range 400 * 20 {
		now := start + int64(i)*int64(time.Second)/400
		if i == 400*10 {
			if err := f.setRules(versioned(t, 2, "20/s,burst=40"), now); err != nil {
				t.Fatal(err)
			}
		}
		if askAt(f, i%20, "k", now, 1).OK {
			if i < 400*10 {
				before++
			} else {
				during++
			}
		}
	}
	for _, g := range f.gateways {
		if v := g.current(start + int64(20*time.Second)).set.Version; v != 2 {
			t.Errorf("gateway %d is at version %d", g.n+1, v)
		}
	}
	return before, during
}

func TestRulesRollOut(t *testing.T) {
	before, during := rolled(t, Config{})
	if before < 119 || before > 120 {
		t.Errorf("%d passed in ten seconds of 10/s,20", before)
	}
	// The old rule lets 100 pass in these ten seconds, the new one 200, and
	// the bucket was empty.
	if during < 100 || during > 200 {
		t.Errorf("%d passed while the rule changed, want 100 to 200", during)
	}
	// A bucket for each version: the new one begins full, and both are used.
	_, wrong := rolled(t, Config{Wrong: Wrong{VersionInKey: true}})
	if wrong < during+40 || wrong <= 200 {
		t.Errorf("with the version in the key %d passed, with one bucket %d", wrong, during)
	}
}

// What is promised of one bucket holds under any algorithms before and after.
func TestCarriedStateIsNeverFuller(t *testing.T) {
	texts := []string{"10/s,burst=20", "20/s,burst=40", "3/s,burst=5", "gcra:rate=7/s,burst=9", "leaky-meter:rate=10/s,burst=20",
		"leaky-queue:rate=5/s,queue=9", "fixed-window:limit=10,window=1s", "fixed-window:limit=20,window=1s",
		"sliding-log:limit=10,window=1s", "sliding-counter:limit=30,window=1s", "concurrency:limit=4"}
	for _, a := range texts {
		for _, b := range texts {
			from, to := limiter(t, a), limiter(t, b)
			for used := int64(0); used <= capacity(from.Spec()); used++ {
				for _, later := range []time.Duration{0, 37 * time.Millisecond, 1234567 * time.Nanosecond} {
					var s limit.State
					begun := int64(5e18 / 4)
					from.Take(&s, begun, used)
					now := begun + int64(later)
					had := from.Take(&s, now, 0)
					next := carry(&s, from, to, now)
					got := to.Take(&next, now, 0)
					if most := min(had.Remaining, got.Limit); got.Remaining > most && used > 0 && !grows(a, b) {
						t.Fatalf("%s with %d left became %s with %d left", a, had.Remaining, b, got.Remaining)
					}
					if bucket := from.Spec().Rate.Units > 0 && to.Spec().Rate.Units > 0; bucket && got.Remaining < min(had.Remaining, got.Limit)-1 {
						t.Fatalf("%s with %d left became %s with %d left", a, had.Remaining, b, got.Remaining)
					}
				}
			}
		}
	}
}

// grows reports whether what a limit has counted in its window, and not what is
// left of it, goes over to the next.
func grows(a, b string) bool {
	from, to := parse(a), parse(b)
	return from.Algorithm == to.Algorithm && from.Window == to.Window && from.Limit < to.Limit ||
		from.Rate.Units == 0 || to.Rate.Units == 0
}

func parse(text string) limit.Spec {
	s, err := limit.ParseSpec(text)
	if err != nil {
		panic(err)
	}
	return s
}

func limiter(t *testing.T, text string) limit.Limiter {
	t.Helper()
	l, err := spec(t, text).New()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Gateways that disagree about a limit for half an hour give nobody anything,
// and take nothing away: here they only write it in two ways.
func TestCarryingToAndFro(t *testing.T) {
	one, two := versioned(t, 1, "7/s,burst=13"), versioned(t, 2, "14/2s,burst=13")
	if one.Limits()[0].Spec == two.Limits()[0].Spec {
		t.Fatal("both are one limit")
	}
	f, err := New(Config{Gateways: 2, Design: Central, Rules: one, Rollout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	start := f.now()
	if err := f.setRules(two, start); err != nil {
		t.Fatal(err)
	}
	admitted := 0
	for i := range 7000 {
		if askAt(f, i%2, "k", start+int64(i)*int64(time.Millisecond), 1).OK {
			admitted++
		}
	}
	if a, b := f.gateways[0].rules.Load().set, f.gateways[1].rules.Load().set; a != two || b != one {
		t.Fatal("the gateways agree")
	}
	if admitted != 61 { // 13 + 7*6.999, less a nanosecond for each change
		t.Errorf("%d passed in 7 s of 7/s,13", admitted)
	}
}

func TestOldRulesComeTooLate(t *testing.T) {
	f, err := New(Config{Rules: versioned(t, 3, "1/h,burst=1")})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []int64{3, 2} {
		var old *OldRulesError
		if err := f.SetRules(versioned(t, v, "1/h,burst=9")); !errors.As(err, &old) || old.InForce != 3 {
			t.Errorf("version %d: %v", v, err)
		}
	}
	if err := f.SetRules(versioned(t, 4, "1/h,burst=2")); err != nil {
		t.Fatal(err)
	}
	if v := f.Rules().Version; v != 4 {
		t.Errorf("version %d", v)
	}
	if n := f.Counts(0).Rules; n.Version != 4 || n.Gateways != 1 {
		t.Errorf("%+v", n)
	}
	// A set that cannot work leaves what is in force.
	bad := rules.FromLimit(limit.Spec{})
	bad.Version = 5
	if err := f.SetRules(bad); err == nil || f.Rules().Version != 4 {
		t.Errorf("%v, version %d", err, f.Rules().Version)
	}
}

// No request is dropped or counted twice while rules change under it.
func TestRulesChangeUnderLoad(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		f := onRedis(t, r, Config{Gateways: 4, Rules: versioned(t, 1, "1/h,burst=100"), StoreTimeout: 30 * time.Second})
		var admitted, sent atomic.Int64
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for range 100 {
					sent.Add(1)
					if v := askAt(f, g, "k", f.now(), 1); v.OK {
						admitted.Add(1)
					} else if v.Source != FromStore {
						t.Errorf("decided by %v", v.Source)
					}
				}
			})
		}
		for v := int64(2); v < 40; v++ {
			if err := f.SetRules(versioned(t, v, fmt.Sprintf("1/h,burst=%d", 100-v))); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
		if n := admitted.Load(); n < 60 || n > 100 {
			t.Errorf("%d of %d passed under bursts from 100 down to 61", n, sent.Load())
		}
	})
}

// Rules that are not taken leave nothing behind.
func TestRefusedRulesAreNotInTheBooks(t *testing.T) {
	f, err := New(Config{Rules: versioned(t, 1, "1/h,burst=1"), Design: Central, Redis: noRedis()})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, f)
	next := versioned(t, 2, "concurrency:limit=2000000000000000")
	next.Rules[0].Name = "other"
	if err := f.SetRules(next); err == nil {
		t.Fatal("taken, though Redis cannot count so far")
	}
	if by := f.Counts(0).Rules.ByRule; len(by) != 1 || by[0].Rule != "default" {
		t.Errorf("%+v", by)
	}
}

func TestPromiseCountsItsRules(t *testing.T) {
	text := "version: 3\nrules:\n  - name: a\n    per: key\n    limits: [{default: true, limit: 1/s}]\n"
	for want, text := range map[string]string{
		"1 rule, version 3":  text,
		"2 rules, version 3": text + "  - name: b\n    per: address\n    limits: [{default: true, limit: 1/s}]\n",
	} {
		f, err := New(Config{Rules: set(t, text)})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.promise(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

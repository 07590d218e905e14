package limittest

import (
	"slices"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Suite is what is tested and how fine it is.
type Suite struct {
	// New returns an empty Taker for a valid spec. For a concurrency limit it
	// must be a Releaser.
	New func(tb testing.TB, spec limit.Spec) Taker
	// Algorithms are those that New can make; nil means all.
	Algorithms []limit.Algorithm
	// Grain is the resolution of the Taker's clock; 0 means 1 ns. Instants in
	// the tests are multiples of it, and waits may be up to the next multiple.
	Grain time.Duration
	// Epoch is the instant that the tests count from, a multiple of an hour.
	// Instants below it are used only when it is 0, the default.
	Epoch int64
}

// Run runs every test on every algorithm of the suite.
func Run(t *testing.T, s Suite) {
	for _, a := range s.algorithms() {
		t.Run(a.String(), func(t *testing.T) {
			t.Run("steps", func(t *testing.T) { s.steps(t, a) })
			for _, text := range specs[a] {
				spec := mustParse(t, text)
				t.Run(text, func(t *testing.T) {
					t.Run("first-use", func(t *testing.T) { s.firstUse(t, spec) })
					t.Run("impossible-cost", func(t *testing.T) { s.impossibleCost(t, spec) })
					t.Run("reference", func(t *testing.T) { s.reference(t, spec) })
					t.Run("bound", func(t *testing.T) { s.bound(t, spec) })
					if a != limit.Concurrency {
						t.Run("waits", func(t *testing.T) { s.waits(t, spec) })
						t.Run("clock-back", func(t *testing.T) { s.clockBack(t, spec) })
					}
					t.Run("race", func(t *testing.T) { s.race(t, spec) })
				})
			}
		})
	}
	for _, twin := range []limit.Algorithm{limit.GCRA, limit.LeakyMeter} {
		if s.has(twin) && s.has(limit.TokenBucket) {
			t.Run(twin.String()+"-is-token-bucket", func(t *testing.T) { s.twins(t, twin) })
		}
	}
	if s.has(limit.TokenBucket) && s.Epoch == 0 {
		t.Run("keys-are-separate", s.separateKeys)
	}
}

// specs are the limits that the tests use. Windows divide an hour; bursts are
// small enough to run out often.
var specs = map[limit.Algorithm][]string{
	limit.TokenBucket:    {"10/s,burst=20", "7/m,burst=3", "1/s,burst=1"},
	limit.GCRA:           {"gcra:rate=10/s,burst=20", "gcra:rate=7/m,burst=3", "gcra:rate=1/s,burst=1"},
	limit.FixedWindow:    {"fixed-window:limit=10,window=1s", "fixed-window:limit=1,window=1m"},
	limit.SlidingLog:     {"sliding-log:limit=10,window=1s", "sliding-log:limit=1,window=1m"},
	limit.SlidingCounter: {"sliding-counter:limit=10,window=1s", "sliding-counter:limit=7,window=1m"},
	limit.LeakyQueue:     {"leaky-queue:rate=10/s,queue=20", "leaky-queue:rate=7/m,queue=0"},
	limit.LeakyMeter:     {"leaky-meter:rate=10/s,burst=20", "leaky-meter:rate=7/m,burst=3"},
	limit.Concurrency:    {"concurrency:limit=10", "concurrency:limit=1"},
}

func (s Suite) algorithms() []limit.Algorithm {
	if s.Algorithms == nil {
		return limit.Algorithms()
	}
	return s.Algorithms
}

func (s Suite) has(a limit.Algorithm) bool { return slices.Contains(s.algorithms(), a) }

func (s Suite) grain() int64 { return max(1, int64(s.Grain)) }

// at is an instant of a test's story, cut to the grain.
func (s Suite) at(d time.Duration) int64 {
	return s.Epoch + int64(d)/s.grain()*s.grain()
}

// equal compares a decision with the exact one; waits may be longer by less
// than a grain.
func (s Suite) equal(got, want limit.Decision) bool {
	near := func(got, want time.Duration) bool {
		return got == want || want > 0 && got > want && got-want < s.Grain
	}
	return got.OK == want.OK && got.Limit == want.Limit && got.Remaining == want.Remaining &&
		near(got.RetryAfter, want.RetryAfter) && near(got.ResetAfter, want.ResetAfter) && near(got.Delay, want.Delay)
}

func mustParse(tb testing.TB, text string) limit.Spec {
	tb.Helper()
	spec, err := limit.ParseSpec(text)
	if err != nil {
		tb.Fatal(err)
	}
	return spec
}

// must is a Taker whose errors end the test.
type must struct {
	tb testing.TB
	t  Taker
}

func (s Suite) make(tb testing.TB, spec limit.Spec) must { return must{tb, s.New(tb, spec)} }

func (m must) take(key string, now, cost int64) limit.Decision {
	m.tb.Helper()
	d, err := m.t.Take(key, now, cost)
	if err != nil {
		m.tb.Fatalf("take of %d at %d: %v", cost, now, err)
	}
	return d
}

func (m must) release(key string, now, cost int64) {
	m.tb.Helper()
	r, ok := m.t.(Releaser)
	if !ok {
		m.tb.Fatalf("%T is for a concurrency limit but has no Release", m.t)
	}
	if err := r.Release(key, now, cost); err != nil {
		m.tb.Fatalf("release of %d at %d: %v", cost, now, err)
	}
}

// most is the highest cost that can pass.
func most(spec limit.Spec) int64 {
	switch spec.Algorithm {
	case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
		return spec.Burst
	case limit.LeakyQueue:
		return spec.Queue + 1
	}
	return spec.Limit
}

// scale is a time in which a used key changes: that of one token or window.
func scale(spec limit.Spec) int64 {
	switch {
	case spec.Rate.Units > 0:
		return int64(spec.Rate.Per) / spec.Rate.Units
	case spec.Window > 0:
		return int64(spec.Window)
	}
	return int64(time.Second)
}

package limit_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// TestCounted: a state made from counts that were kept aside decides as the
// one that did the counting.
func TestCounted(t *testing.T) {
	for _, a := range []limit.Algorithm{limit.FixedWindow, limit.SlidingCounter} {
		spec := limit.Spec{Algorithm: a, Limit: 10, Window: time.Second}
		l, err := spec.New()
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, uint64(a)))
		var kept limit.State
		counts, now := map[int64]int64{}, int64(0)
		for i := range 2000 {
			now += r.Int64N(int64(200 * time.Millisecond))
			n := now / int64(spec.Window)
			cost := r.Int64N(4)
			made := spec.Counted(now, counts[n-1], counts[n])
			got, want := l.Take(&made, now, cost), l.Take(&kept, now, cost)
			if got != want {
				t.Fatalf("%v, call %d, cost %d at %d: %+v, the counting state says %+v", a, i, cost, now, got, want)
			}
			if got.OK {
				counts[n] += cost
			}
		}
	}
}

func TestCountedBeyondTheLimit(t *testing.T) {
	spec := limit.Spec{Algorithm: limit.SlidingCounter, Limit: 10, Window: time.Second}
	l, err := spec.New()
	if err != nil {
		t.Fatal(err)
	}
	s := spec.Counted(1_500_000_000, 99, 99)
	if d := l.Take(&s, 1_500_000_000, 1); d.OK || d.Remaining != 0 || d.RetryAfter != 600*time.Millisecond {
		t.Errorf("a count above the limit: %+v", d)
	}
	s = spec.Counted(1_500_000_000, -5, -5)
	if d := l.Take(&s, 1_500_000_000, 10); !d.OK {
		t.Errorf("a count below zero: %+v", d)
	}
	bucket := limit.Spec{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: 3}
	b, err := bucket.New()
	if err != nil {
		t.Fatal(err)
	}
	s = bucket.Counted(0, 3, 3)
	if d := b.Take(&s, 0, 3); !d.OK {
		t.Errorf("a bucket has no counts: %+v", d)
	}
}

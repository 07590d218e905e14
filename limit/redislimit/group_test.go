package redislimit

import (
	"context"
	"slices"
	"testing"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// A request under limits in several slots of a cluster takes all or none, with
// what the store can give back.
func TestGroups(t *testing.T) {
	set := redistest.Cluster(t, 3, 0)
	s := storeOn(t, set.Client(t), Options{})
	ctx := context.Background()
	left := func(p Part) int64 { t.Helper(); return take(t, s, p.costing(0)).Remaining }
	named := func(subject, text string, cost int64) Part {
		p := part(t, subject, text, cost)
		p.ID = "holder-" + subject
		return p
	}

	t.Run("all or none", func(t *testing.T) {
		key, address, all := named("k-1", "1/h,burst=10", 2), named("192.0.2.1", "gcra:rate=1/h,burst=5", 1), named("all", "leaky-meter:rate=1/h,burst=3", 1)
		parts := []Part{key, address, all}
		if n := len(groupParts(parts)); n != 3 {
			t.Fatalf("%d groups", n)
		}
		for i := range int64(3) {
			a := take(t, s, parts...)
			if !a.OK || a.By != 2 || a.Remaining != 2-i || a.Limit != 3 || a.Parts[0].Remaining != 8-2*i || a.Parts[1].Remaining != 4-i || a.At == 0 {
				t.Fatalf("check %d: %+v", i, a)
			}
		}
		for range 3 {
			a := take(t, s, parts...)
			if a.OK || a.By != 2 || a.RetryAfter <= 0 || a.Parts[0].Remaining != 4 || a.Parts[1].Remaining != 2 || !a.Parts[0].OK {
				t.Fatalf("the third is short: %+v", a)
			}
		}
		if a, b, c := left(key), left(address), left(all); a != 4 || b != 2 || c != 0 {
			t.Errorf("%d, %d and %d left of 4, 2 and 0", a, b, c)
		}
	})

	t.Run("one can never pass", func(t *testing.T) {
		key, all := named("k-2", "1/h,burst=10", 1), named("all-2", "1/h,burst=3", 4)
		a := take(t, s, key, all)
		if a.OK || a.By != 1 || a.RetryAfter != limit.Never || left(key) != 10 {
			t.Errorf("%+v; %d left of 10", a, left(key))
		}
		if a := take(t, s, key, all.costing(-1)); a.OK || a.RetryAfter != limit.Never || left(key) != 10 {
			t.Errorf("a negative cost: %+v; %d left of 10", a, left(key))
		}
	})

	t.Run("what keeps what it took goes last", func(t *testing.T) {
		window, key := named("k-3", "fixed-window:limit=10,window=1h", 1), named("k-4", "1/h,burst=1", 1)
		slots := named("k-5", "concurrency:limit=2", 1)
		groups := groupParts([]Part{window, key, slots})
		if !slices.Equal(groups[2], []int{0}) {
			t.Fatalf("the window's group is not the last of %v", groups)
		}
		if a := take(t, s, window, key, slots); !a.OK {
			t.Fatalf("%+v", a)
		}
		for range 3 {
			if a := take(t, s, window, key, slots); a.OK || a.By != 1 {
				t.Fatalf("the bucket is short: %+v", a)
			}
		}
		if n := left(window); n != 9 {
			t.Errorf("%d left in the window of 10, one was admitted", n)
		}
		if n := left(slots); n != 1 {
			t.Errorf("%d slots are free of 2, one is held", n)
		}
		if err := s.Release(ctx, window, key, slots); err != nil {
			t.Fatal(err)
		}
		if n := left(slots); n != 2 {
			t.Errorf("%d slots are free of 2 after release", n)
		}
	})

	t.Run("parts of one slot go together", func(t *testing.T) {
		a, b, c := named("k-6", "1/h,burst=10", 1), named("k-6", "1/h,burst=10", 1), named("k-7", "1/h,burst=10", 1)
		b.Key = Key("", "k-6", "orders")
		before := s.Stats()
		take(t, s, a, c, b)
		if n := s.Stats().Checks - before.Checks; n != 2 {
			t.Errorf("%d calls for parts in two slots", n)
		}
	})
}

func TestRelease(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		s, ctx := storeOn(t, r.Client(t), Options{}), context.Background()
		one, two := part(t, "k", "concurrency:limit=1", 1), part(t, "all", "concurrency:limit=1", 1)
		one.ID, two.ID = "a", "a"
		for range 3 {
			if a := take(t, s, one, two); !a.OK {
				t.Fatalf("%+v", a)
			}
			if a := take(t, s, one.of("b")); a.OK || a.RetryAfter != limit.Unknown {
				t.Fatalf("a second holder of one slot: %+v", a)
			}
			for range 2 {
				if err := s.Release(ctx, one, two); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Kill()
		if err := s.Release(ctx, one, two); err == nil {
			t.Error("released on a dead server")
		}
		failure(t, s.Release(ctx, Part{}), KindUnexpected)
	})
}

func (p Part) of(id string) Part {
	p.ID = id
	return p
}

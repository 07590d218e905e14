package inspect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// weirSpecs are limits of each algorithm that a few calls a second use up.
var weirSpecs = []string{
	"10/s,burst=20", "7/m,burst=3", "gcra:rate=10/s,burst=20", "gcra:rate=3/7s,burst=5",
	"leaky-meter:rate=10/s,burst=7", "leaky-queue:rate=5/s,queue=9",
	"fixed-window:limit=10,window=3s", "sliding-counter:limit=10,window=3s", "sliding-log:limit=10,window=3s",
}

// What is predicted from the state is what the limiter then answers: whether a
// call passes, how long it waits, and what is left after it.
func TestWeirsOwnNextAnswer(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		for i, text := range weirSpecs {
			t.Run(text, func(t *testing.T) { followWeir(t, c, text, uint64(i)) })
		}
	})
}

func followWeir(t *testing.T, c redis.UniversalClient, text string, seed uint64) {
	ctx := context.Background()
	spec, err := limit.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	rule, err := redislimit.Compile(spec)
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1_795_978_030_880_559_000)
	store := redislimit.NewStore(c, redislimit.Options{Clock: func() int64 { return now }, Timeout: 10 * time.Second})
	defer store.Close()
	key := redislimit.Key("rl", "k-7", fmt.Sprint("r", seed))
	reader := NewReader(c, ReaderOptions{})
	rnd := rand.New(rand.NewPCG(seed, 7))
	// Leaky queues look like meters until they are told.
	var told *limit.Spec
	if spec.Algorithm == limit.LeakyQueue {
		told = &spec
	}
	read := func() *Reading {
		snap, err := reader.Get(ctx, key)
		if err != nil {
			t.Fatal(err)
		}
		e := snap.Entries[0]
		if !e.Exists() {
			return nil
		}
		// The key's life passes on the real clock, the state on ours.
		snap.Entries[0].TTL = time.Hour
		found := Identify(&e, Builtin(), now)
		if len(found) == 0 || found[0].Sure != Certain || found[0].Layout.Writer != "weir" {
			t.Fatalf("whose is %+v? %v", e, found)
		}
		r, err := Decode(found[0].Layout, snap.Entries, now, told)
		if err != nil {
			t.Fatal(err)
		}
		if r.Limit == nil || *r.Limit != spec && told == nil {
			t.Fatalf("the limit is read as %v", r.Limit)
		}
		return &r
	}
	refused := 0
	for step := range 150 {
		now += rnd.Int64N(3) * rnd.Int64N(int64(300*time.Millisecond)) / 1000 * 1000
		if step%40 == 39 {
			now -= rnd.Int64N(int64(2*time.Second)) / 1000 * 1000 // the clock steps back
		}
		cost := 1 + rnd.Int64N(4)*rnd.Int64N(4)
		before := read()
		a, err := store.Take(ctx, redislimit.Part{Key: key, Rule: rule, Cost: cost})
		if err != nil {
			t.Fatal(err)
		}
		if before != nil {
			wait, known := before.Wait(cost)
			if !known || (wait == 0) != a.OK || !a.OK && wait != a.RetryAfter {
				t.Fatalf("step %d: a call of %d waits %v, predicted %v (known %v)", step, cost, a.RetryAfter, wait, known)
			}
		}
		if !a.OK {
			refused++
		}
		after := read()
		if after == nil {
			t.Fatalf("step %d: the key is gone", step)
		}
		if *after.Remaining != a.Remaining || *after.Capacity != a.Limit {
			t.Fatalf("step %d: %d of %d left, read as %d of %d", step, a.Remaining, a.Limit, *after.Remaining, *after.Capacity)
		}
		if full := time.Duration(*after.FullAt - now); spec.Algorithm != limit.FixedWindow && full != a.ResetAfter {
			t.Fatalf("step %d: full in %v, read as %v", step, a.ResetAfter, full)
		}
	}
	if refused < 10 {
		t.Errorf("only %d calls were refused", refused)
	}
}

func TestWeirsConcurrency(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		ctx := context.Background()
		c := server.Client(t)
		spec, _ := limit.ParseSpec("concurrency:limit=6")
		rule, err := redislimit.Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		now := int64(1_795_978_030_880_559_000)
		store := redislimit.NewStore(c, redislimit.Options{Clock: func() int64 { return now }, Timeout: 10 * time.Second})
		defer store.Close()
		reader := NewReader(c, ReaderOptions{})
		key := redislimit.Key("rl", "k-7", "slots")
		rnd := rand.New(rand.NewPCG(3, 3))
		held := map[string]bool{}
		for step := range 200 {
			now += rnd.Int64N(int64(90 * time.Second))
			id := fmt.Sprint("id-", step)
			snap, err := reader.Get(ctx, key)
			if err != nil {
				t.Fatal(err)
			}
			cost := 1 + rnd.Int64N(3)
			var wait time.Duration
			known := false
			if snap.Entries[0].Exists() {
				r, err := Decode(Find(Builtin(), "weir-concurrency"), snap.Entries, now, nil)
				if err != nil {
					t.Fatal(err)
				}
				wait, known = r.Wait(cost)
				if !known {
					t.Fatalf("step %d: %+v", step, snap.Entries[0])
				}
			}
			a, err := store.Take(ctx, redislimit.Part{Key: key, Rule: rule, Cost: cost, ID: id})
			if err != nil {
				t.Fatal(err)
			}
			if known && (wait == 0) != a.OK || known && !a.OK && wait != a.RetryAfter {
				t.Fatalf("step %d: %v, predicted %v", step, a.RetryAfter, wait)
			}
			if a.OK {
				held[id] = true
			}
			for id := range held {
				if rnd.IntN(3) == 0 {
					if err := store.Release(ctx, redislimit.Part{Key: key, Rule: rule, Cost: 100, ID: id}); err != nil {
						t.Fatal(err)
					}
					delete(held, id)
				}
			}
		}
	})
}

func TestWeirsPlainWindows(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		ctx := context.Background()
		c := server.Client(t)
		for _, text := range []string{"fixed-window:limit=10,window=3s", "sliding-counter:limit=10,window=3s"} {
			spec, _ := limit.ParseSpec(text)
			now := int64(1_795_978_030_880_559_000)
			clock := func() int64 { return now }
			take := func(cost int64) (limit.Decision, error) {
				if spec.Algorithm == limit.FixedWindow {
					p, err := redislimit.NewPlainFixedWindow(c, spec, clock)
					if err != nil {
						return limit.Decision{}, err
					}
					return p.Take(ctx, "rl:{k-7}:plain", cost)
				}
				p, err := redislimit.NewPlainSlidingCounter(c, spec, clock)
				if err != nil {
					return limit.Decision{}, err
				}
				return p.Take(ctx, "rl:{k-8}:plain", cost)
			}
			id := "k-7"
			if spec.Algorithm == limit.SlidingCounter {
				id = "k-8"
			}
			rnd := rand.New(rand.NewPCG(5, 5))
			reader := NewReader(c, ReaderOptions{})
			l := Find(Builtin(), "weir-plain")
			for step := range 120 {
				now += rnd.Int64N(3) * rnd.Int64N(int64(500*time.Millisecond))
				w := int64(spec.Window)
				name := func(n int64) string { return fmt.Sprintf("rl:{%s}:plain:%d", id, n) }
				snap, err := reader.Get(ctx, name(now/w), name(now/w-1))
				if err != nil {
					t.Fatal(err)
				}
				r, err := Decode(l, snap.Entries, now, &spec)
				if err != nil {
					t.Fatal(err)
				}
				cost := 1 + rnd.Int64N(3)
				d, err := take(cost)
				if err != nil {
					t.Fatal(err)
				}
				if wait, known := r.Wait(cost); !known || (wait == 0) != d.OK || !d.OK && wait != d.RetryAfter {
					t.Fatalf("%s, step %d: %v, predicted %v", text, step, d.RetryAfter, wait)
				}
			}
		}
	})
}

package limit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func refusal(wait time.Duration) limit.Decision { return limit.Decision{RetryAfter: wait} }

func TestDenyCacheStoresOnlyRefusals(t *testing.T) {
	c := limit.NewDenyCache[string](10)
	for _, d := range []limit.Decision{{OK: true, Remaining: 0}, refusal(limit.Never), refusal(limit.Unknown), refusal(0)} {
		c.Learn("k-7", 0, 1, d)
	}
	c.Learn("k-7", 0, 0, refusal(time.Second)) // a peek
	if c.Len() != 0 {
		t.Fatalf("%d stored", c.Len())
	}
	c.Learn("k-7", 0, 2, refusal(time.Second))
	for _, ask := range []struct {
		now, cost int64
		wait      time.Duration
		refused   bool
	}{
		{0, 2, time.Second, true},
		{-second, 3, 2 * time.Second, true}, // a clock behind
		{400 * ms, 5, 600 * time.Millisecond, true},
		{400 * ms, 1, 0, false}, // may well pass
		{second - 1, 2, 1, true},
		{second, 2, 0, false},
		{0, 2, 0, false}, // gone
	} {
		if wait, refused := c.Refused("k-7", ask.now, ask.cost); wait != ask.wait || refused != ask.refused {
			t.Errorf("%+v: %v, %v", ask, wait, refused)
		}
	}
	c.Learn("k-7", second, 1, refusal(time.Second))
	c.Learn("k-7", second, 1, refusal(5*time.Second)) // replaces
	if wait, _ := c.Refused("k-7", second, 1); wait != 5*time.Second || c.Len() != 1 {
		t.Errorf("%v, %d keys", wait, c.Len())
	}
	if !c.Forget("k-7") || c.Forget("k-7") || c.Len() != 0 {
		t.Error("not forgotten once")
	}
}

func TestDenyCacheIsBounded(t *testing.T) {
	c := limit.NewDenyCache[int](3)
	for i, wait := range []time.Duration{5, 2, 9} {
		c.Learn(i, 0, 1, refusal(wait))
	}
	c.Learn(3, 0, 1, refusal(1)) // over soonest: not worth a place
	c.Learn(4, 0, 1, refusal(7)) // in place of 1
	for key, want := range []bool{true, false, true, false, true} {
		if _, refused := c.Refused(key, 0, 1); refused != want {
			t.Errorf("key %d refused is %v", key, refused)
		}
	}
	if n := c.Sweep(7); n != 2 || c.Len() != 1 {
		t.Errorf("%d dropped, %d left", n, c.Len())
	}
	none := limit.NewDenyCache[int](-1)
	none.Learn(1, 0, 1, refusal(1))
	var zero limit.DenyCache[int]
	zero.Learn(1, 0, 1, refusal(1))
	if _, refused := zero.Refused(1, 0, 1); refused || none.Len() != 0 {
		t.Error("a cache of no size holds something")
	}
}

func TestDenyCacheAtTheEndsOfTime(t *testing.T) {
	c := limit.NewDenyCache[int](3)
	c.Learn(1, math.MaxInt64-1, 1, refusal(math.MaxInt64))
	if wait, refused := c.Refused(1, math.MinInt64, 1); !refused || wait != math.MaxInt64 {
		t.Errorf("%v, %v", wait, refused)
	}
	c.Learn(2, math.MinInt64, 1, refusal(math.MaxInt64))
	if _, refused := c.Refused(2, -2, 1); !refused {
		t.Error("forgotten before its time")
	}
	if _, refused := c.Refused(2, -1, 1); refused {
		t.Error("kept beyond its time")
	}
}

// A cache beside a list of what it was told, with the soonest searched for.
func TestDenyCacheModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	c := limit.NewDenyCache[int](16)
	model := map[int][2]int64{} // until, cost
	now := int64(0)
	hits := 0
	for i := range 50_000 {
		now += rnd.Int64N(3)
		key, cost := rnd.IntN(60), 1+rnd.Int64N(3)
		m, known := model[key]
		if known && now >= m[0] && rnd.IntN(2) == 0 {
			c.Refused(key, now, cost)
			delete(model, key)
			continue
		}
		if rnd.IntN(3) > 0 {
			wait, refused := c.Refused(key, now, cost)
			want := known && now < m[0] && cost >= m[1]
			if refused != want || refused && int64(wait) != m[0]-now {
				t.Fatalf("call %d: %v, %v of %v at %d", i, wait, refused, m, now)
			}
			if known && now >= m[0] {
				delete(model, key)
			}
			if refused {
				hits++
			}
			continue
		}
		wait := 1 + rnd.Int64N(200)
		until := now + wait
		c.Learn(key, now, cost, refusal(time.Duration(wait)))
		if !known && len(model) == 16 {
			soonest := int64(math.MaxInt64)
			for _, m := range model {
				soonest = min(soonest, m[0])
			}
			if soonest > until {
				continue
			}
			// Of several that are over at the same time any may go: ask.
			gone := -1
			for k, m := range model {
				if m[0] != soonest {
					continue
				}
				if _, there := c.Refused(k, math.MinInt64, math.MaxInt64); !there {
					gone = k
				}
			}
			if gone < 0 {
				t.Fatalf("call %d: none of the soonest made way", i)
			}
			delete(model, gone)
		}
		model[key] = [2]int64{until, cost}
		if c.Len() != len(model) {
			t.Fatalf("call %d: %d keys, want %d", i, c.Len(), len(model))
		}
	}
	if hits < 1000 {
		t.Errorf("%d hits: a poor trial", hits)
	}
}

// It never refuses what the store would admit, and a flood costs one store
// call per wait.
func TestDenyCacheBesideTheBucket(t *testing.T) {
	r := &in(t, bucketSpec(10, time.Second, 20))[0]
	var cached, plain limit.Bucket
	c := limit.NewDenyCache[string](8)
	calls, admitted := 0, 0
	for i := range int64(48_000) {
		now := i * 2_500_000
		want := plain.Take(r, now, 1)
		wait, refused := c.Refused("k-7", now, 1)
		d := refusal(wait)
		if !refused {
			calls++
			d = cached.Take(r, now, 1)
			c.Learn("k-7", now, 1, d)
		}
		if d.OK != want.OK || d.RetryAfter != want.RetryAfter {
			t.Fatalf("call %d: %+v with the cache, %+v without", i, d, want)
		}
		if d.OK {
			admitted++
		}
	}
	if admitted != 1219 || calls > 2*admitted {
		t.Errorf("%d admitted with %d calls to the store", admitted, calls)
	}
}

func BenchmarkDenyCache(b *testing.B) {
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = fmt.Sprintf("key-%d", i)
	}
	b.Run("refused", func(b *testing.B) {
		c := limit.NewDenyCache[string](len(keys))
		for i, k := range keys {
			c.Learn(k, 0, 1, refusal(time.Duration(1+i)*time.Hour))
		}
		b.ReportAllocs()
		for i := range b.N {
			c.Refused(keys[i%1024], 1, 1)
		}
	})
	b.Run("learn-full", func(b *testing.B) {
		c := limit.NewDenyCache[string](len(keys) / 10)
		b.ReportAllocs()
		for i := range b.N {
			c.Learn(keys[i%len(keys)], int64(i), 1, refusal(time.Second))
		}
	})
}

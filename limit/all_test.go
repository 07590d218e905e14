package limit_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// A plan of 10/s,20 and a route of one call in 5 s: an export costs 10 of the
// plan and 1 of the route.
func TestExports(t *testing.T) {
	rules := in(t, bucketSpec(10, time.Second, 20), bucketSpec(1, 5*time.Second, 1))
	var plan, route limit.Bucket
	export := limit.All{{Bucket: &plan, Rule: &rules[0], Cost: 10}, {Bucket: &route, Rule: &rules[1], Cost: 1}}
	for i, step := range []struct {
		now  int64
		want limit.Decision
		by   int
	}{
		{0, limit.Decision{OK: true, Limit: 1, ResetAfter: 5 * time.Second}, 1},
		{ms, limit.Decision{Limit: 1, RetryAfter: 4999 * time.Millisecond, ResetAfter: 4999 * time.Millisecond}, 1},
		{5 * second, limit.Decision{OK: true, Limit: 1, ResetAfter: 5 * time.Second}, 1},
	} {
		if d, by := export.Take(step.now); d != step.want || by != step.by {
			t.Errorf("step %d: %+v by %d, want %+v by %d", i, d, by, step.want, step.by)
		}
	}
	// The refused export of the second step took nothing from the plan.
	if d := plan.Take(&rules[0], 5*second, 0); d.Remaining != 10 {
		t.Errorf("%+v", d)
	}
}

func TestAllOverBurst(t *testing.T) {
	follow := bucketSpec(10, time.Second, 20)
	follow.Follow = true
	rules := in(t, follow, bucketSpec(10, time.Second, 20))
	var a, b limit.Bucket
	a.Take(&rules[0], 10*second, 20)
	before := a
	d, by := limit.All{{&a, &rules[0], 1}, {&b, &rules[1], 21}}.Take(9 * second)
	if d.OK || d.RetryAfter != limit.Never || by != 1 || d.Remaining != 0 || d.Limit != 20 {
		t.Errorf("%+v by %d", d, by)
	}
	if a != before || b != (limit.Bucket{}) {
		t.Error("written although refused for good")
	}
	if d, by := (limit.All{{&b, &rules[1], -1}}).Take(0); d.RetryAfter != limit.Never || by != 0 || b != (limit.Bucket{}) {
		t.Errorf("a negative cost: %+v by %d", d, by)
	}
	if d, by := (limit.All{}).Take(0); !d.OK || by != -1 {
		t.Errorf("no bucket: %+v by %d", d, by)
	}
}

// A part without a cost is looked at for what remains, and is never short.
func TestAllLooksWithoutCost(t *testing.T) {
	rules := in(t, bucketSpec(10, time.Second, 20), bucketSpec(10, time.Second, 5))
	var a, b limit.Bucket
	b.Take(&rules[1], 0, 5)
	before := b
	d, by := limit.All{{&a, &rules[0], 2}, {&b, &rules[1], 0}}.Take(0)
	if !d.OK || d.Remaining != 0 || by != 1 || b != before {
		t.Errorf("%+v by %d", d, by)
	}
}

// All beside the rational model, with random costs, rules and clocks.
func TestAllModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	specs := []limit.BucketSpec{bucketSpec(10, time.Second, 20), bucketSpec(7, 3*time.Second, 5), bucketSpec(5, time.Minute, 3)}
	specs[1].Follow = true
	specs[2].TTL = 30 * time.Second
	rules := in(t, specs...)
	buckets, models := make([]limit.Bucket, 3), make([]modelBucket, 3)
	now, admitted := int64(0), 0
	for i := range 20_000 {
		now += rnd.Int64N(second) - second/10
		all := limit.All{}
		var which []int
		for _, j := range rnd.Perm(3)[:1+rnd.IntN(3)] {
			which = append(which, j)
			all = append(all, limit.Part{Bucket: &buckets[j], Rule: &rules[j], Cost: 1 + rnd.Int64N(4)})
		}
		got, _ := all.Take(now)

		want := limit.Decision{OK: true, Remaining: 1 << 60}
		levels, over := make([]*big.Rat, len(all)), false
		for k, j := range which {
			over = over || all[k].Cost > specs[j].Burst.Num
			tokens, at := models[j].refill(specs[j], now)
			if missing := new(big.Rat).Sub(big.NewRat(all[k].Cost, 1), tokens); missing.Sign() > 0 {
				want.OK = false
				want.RetryAfter = max(want.RetryAfter, models[j].wait(specs[j], missing, now, at))
			}
			levels[k] = tokens
		}
		if over {
			want.OK, want.RetryAfter = false, limit.Never
		}
		for k, j := range which {
			if _, at := models[j].refill(specs[j], now); !over {
				models[j].tokens, models[j].last = levels[k], at
			}
			if want.OK {
				models[j].tokens = new(big.Rat).Sub(levels[k], big.NewRat(all[k].Cost, 1))
				levels[k] = models[j].tokens
			}
			want.Remaining = min(want.Remaining, new(big.Int).Div(levels[k].Num(), levels[k].Denom()).Int64())
		}
		if got.OK != want.OK || got.RetryAfter != want.RetryAfter || got.Remaining != want.Remaining {
			t.Fatalf("call %d at %d, %v: %+v, want %+v", i, now, which, got, want)
		}
		if got.OK {
			admitted++
		}
	}
	if admitted < 1000 || admitted > 19_000 {
		t.Errorf("%d of 20,000 admitted: a poor trial", admitted)
	}
}

func BenchmarkAll(b *testing.B) {
	rules := in(b, bucketSpec(10, time.Second, 20), bucketSpec(1, 5*time.Second, 1))
	var plan, route limit.Bucket
	all := limit.All{{&plan, &rules[0], 10}, {&route, &rules[1], 1}}
	b.ReportAllocs()
	for i := range b.N {
		all.Take(int64(i) * 1000)
	}
}

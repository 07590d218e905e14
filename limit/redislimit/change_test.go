package redislimit

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// grainOf and mostOf are what Compile chose for a bucket.
func grainOf(t *testing.T, r *Rule) (grain int64) {
	t.Helper()
	if _, err := fmt.Sscan(r.numbers[1], &grain); err != nil {
		t.Fatal(err)
	}
	return grain
}

// A bucket under rules that take turns, as while a change is rolled out, holds
// what limit.Bucket holds in a grain that is exact for all of them: the same
// decisions when the grains of Redis divide one another, and otherwise never
// more.
func TestChangedRules(t *testing.T) {
	sets := []struct {
		exact bool
		rules []string
	}{
		{true, []string{"10/s,burst=20", "20/s,burst=40"}},
		{true, []string{"10/s,burst=20", "10/s,burst=5", "10/s,burst=50"}},
		{true, []string{"3/s,burst=10", "7/m,burst=9", "1/m,burst=30"}}, // grains 1e6 and 6e7
		{true, []string{"1/s,burst=1", "1000/s,burst=100000"}},
		{false, []string{"100000/d,burst=10", "7/m,burst=9", "3/7s,burst=12"}},
		{false, []string{"11/13s,burst=10", "5/17s,burst=7"}},
	}
	each(t, func(t *testing.T, c redis.UniversalClient) {
		for i, set := range sets {
			for _, a := range []limit.Algorithm{limit.TokenBucket, limit.GCRA, limit.LeakyMeter} {
				t.Run(fmt.Sprint(a, set.rules), func(t *testing.T) {
					changeRules(t, c, a, set.rules, set.exact, uint64(i))
				})
			}
		}
	})
}

func changeRules(t *testing.T, c redis.UniversalClient, a limit.Algorithm, texts []string, exact bool, seed uint64) {
	var rules []*Rule
	var specs []limit.BucketSpec
	for _, text := range texts {
		rule := compile(t, text)
		specs = append(specs, rule.spec.Bucket())
		spec := rule.spec
		spec.Algorithm = a
		rule, err := Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		rules = append(rules, rule)
	}
	grain, err := limit.GrainFor(specs...)
	if err != nil {
		t.Fatal(err)
	}
	pure := make([]limit.BucketRule, len(specs))
	for i := range specs {
		if pure[i], err = specs[i].In(grain); err != nil {
			t.Fatal(err)
		}
	}
	s := outlive(t, scriptFor([]Part{{Rule: rules[0]}}))
	r := rand.New(rand.NewPCG(seed, 2))
	clock := pace{now: epoch, high: epoch}
	key := fmt.Sprintf("rl:{change}:%v-%d", a, seed)
	var b limit.Bucket
	which, differ := 0, 0
	for i := range 400 {
		now := clock.step(r)
		if r.IntN(5) == 0 {
			which = r.IntN(len(rules))
		}
		cost := randomCost(r, rules[which].most)
		was := b
		want := b.Take(&pure[which], now, cost)
		want.RetryAfter, want.ResetAfter = inMicros(want.RetryAfter), inMicros(want.ResetAfter)
		got, err := checkWith(c, s, now, Part{Key: key, Rule: rules[which], Cost: cost})
		if err != nil {
			t.Fatal(err)
		}
		if got.Decision == want {
			continue
		}
		if exact {
			t.Fatalf("call %d, cost %d under %v at %d:\n got %+v\nwant %+v", i, cost, rules[which].spec, now, got.Decision, want)
		}
		// A unit lower may cost a token at most, and time for that unit.
		differ++
		if got.OK && !want.OK || got.Remaining > want.Remaining || got.RetryAfter < want.RetryAfter && want.RetryAfter > 0 {
			t.Fatalf("call %d, cost %d under %v at %d gives more:\n got %+v\nwant %+v", i, cost, rules[which].spec, now, got.Decision, want)
		}
		if got.OK != want.OK {
			// Go on from the same decision.
			b = was
			b.Take(&pure[which], now, rules[which].most+1)
		}
	}
	if differ > 200 {
		t.Errorf("%d of 400 decisions differ", differ)
	}
}

// TestConversion: from one grain to another, exactly when one divides the
// other, and otherwise at most a unit lower.
func TestConversion(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		r := rand.New(rand.NewPCG(7, 7))
		var kept, finer, coarser, odd, huge int
		for i := range 600 {
			spec := limit.Spec{Burst: 1 + r.Int64N(1<<(1+r.IntN(40))), Rate: limit.Rate{Units: 1 + r.Int64N(1000), Per: time.Duration(1+r.Int64N(1e9)) * 1000}}
			rule, err := Compile(spec)
			if err != nil {
				continue // too many for such a rate
			}
			to := grainOf(t, rule)
			from := 1 + r.Int64N(1<<(1+r.IntN(50)))
			switch r.IntN(4) {
			case 0:
				from = to * (1 + r.Int64N(50))
			case 1:
				from = 1_000_000
			}
			n := r.Int64N(min(maxExact/from, rule.most)*from + 1)
			key := fmt.Sprintf("rl:{conversion}:%d", i)
			ctx := t.Context()
			if err := c.HSet(ctx, key, "n", n, "g", from, "t", epoch/1000, "b", rule.most, "r", 1).Err(); err != nil {
				t.Fatal(err)
			}
			// Refused because it is above the burst, which writes the level.
			mustCheck(t, c, epoch, Part{Key: key, Rule: rule, Cost: rule.most + 1})
			var got struct {
				N int64 `redis:"n"`
				G int64 `redis:"g"`
			}
			if err := c.HMGet(ctx, key, "n", "g").Scan(&got); err != nil {
				t.Fatal(err)
			}
			if got.G != to && got.G != from {
				t.Fatalf("a grain of %d met one of %d and became %d", from, to, got.G)
			}
			want := mulDiv(n, got.G, from)
			exact := got.G%from == 0 || from%got.G == 0
			if got.N > want || got.N < want-1 || exact && got.N != want {
				t.Errorf("%d of 1/%d token became %d of 1/%d, want %d", n, from, got.N, got.G, want)
			}
			switch {
			case got.G == from:
				kept++
			case got.G%from == 0:
				finer++
			case from%got.G == 0:
				coarser++
			case mulDiv(from, got.G, maxExact) > 0:
				huge++
			default:
				odd++
			}
		}
		if min(kept, finer, coarser, odd, huge) < 5 {
			t.Errorf("too few of a kind: %d kept, %d finer, %d coarser, %d odd, %d huge", kept, finer, coarser, odd, huge)
		}
	})
}

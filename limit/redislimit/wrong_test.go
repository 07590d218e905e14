package redislimit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// atOnce makes n calls from n connections and counts those that pass.
func atOnce(t *testing.T, r *redistest.Redis, n int, take func(c redis.UniversalClient) (bool, error)) int64 {
	t.Helper()
	var passed atomic.Int64
	var wg sync.WaitGroup
	for range n {
		c := r.Client(t)
		wg.Go(func() {
			ok, err := take(c)
			if err != nil {
				t.Error(err)
			}
			if ok {
				passed.Add(1)
			}
		})
	}
	wg.Wait()
	return passed.Load()
}

// TestRaceAdmitsMoreThanTheScript: 15 calls at once on 5 tokens, the first of
// them before any has written back.
func TestRaceAdmitsMoreThanTheScript(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		const calls, tokens = 15, 5
		rule := compile(t, "1/h,burst=20") // none comes back during the test
		c, ctx := r.Client(t), context.Background()
		for _, key := range []string{"rl:{k}:race", "rl:{k}:script"} {
			if a := mustCheck(t, c, storeTime, Part{Key: key, Rule: rule, Cost: 20 - tokens}); !a.OK || a.Remaining != tokens {
				t.Fatalf("%+v", a)
			}
		}
		var readers atomic.Int64
		all := make(chan struct{})
		raced := atOnce(t, r, calls, func(c redis.UniversalClient) (bool, error) {
			w, err := NewWrongRace(c, rule, time.Microsecond)
			if err != nil {
				return false, err
			}
			w.read = func() {
				if readers.Add(1) == calls {
					close(all)
				}
				select {
				case <-all:
				case <-time.After(time.Minute):
					t.Error("not all have read")
				}
			}
			d, err := w.Take(ctx, "rl:{k}:race", 1)
			return d.OK, err
		})
		scripted := atOnce(t, r, calls, func(c redis.UniversalClient) (bool, error) {
			a, err := check(c, storeTime, Part{Key: "rl:{k}:script", Rule: rule, Cost: 1})
			return a.OK, err
		})
		t.Logf("%d calls at once on %d tokens: reading and writing back admits %d, the script %d", calls, tokens, raced, scripted)
		if raced != calls {
			t.Errorf("reading and writing back admits %d, want all %d", raced, calls)
		}
		if scripted != tokens {
			t.Errorf("the script admits %d, want %d", scripted, tokens)
		}
		// The last to write wins: one token of fifteen is gone.
		if a := mustCheck(t, c, storeTime, Part{Key: "rl:{k}:race", Rule: rule}); a.Remaining != tokens-1 {
			t.Errorf("after the race: %+v, want %d left", a, tokens-1)
		}
	})
}

// TestRaceAloneDecidesAsTheScript: without company there is no race.
func TestRaceAloneDecidesAsTheScript(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		rule := compile(t, "1/h,burst=20")
		w, err := NewWrongRace(c, rule, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, cost := range []int64{1, 21, 0, 7, -1, 12, 1, 0, 3} {
			want := mustCheck(t, c, storeTime, Part{Key: "rl:{k}:script", Rule: rule, Cost: cost})
			got, err := w.Take(context.Background(), "rl:{k}:race", cost)
			if err != nil || got.OK != want.OK || got.Remaining != want.Remaining || (got.RetryAfter-want.RetryAfter).Abs() > time.Minute {
				t.Errorf("call %d, cost %d: %+v, %v; the script says %+v", i, cost, got, err, want.Decision)
			}
		}
		c.HSet(context.Background(), "rl:{k}:race", "n", "many")
		if d, err := w.Take(context.Background(), "rl:{k}:race", 1); err != nil || d.OK {
			t.Errorf("on garbage: %+v, %v", d, err)
		}
		var bad *limit.SpecError
		if _, err := NewWrongRace(c, compile(t, "gcra:rate=1/s,burst=2"), 0); !errors.As(err, &bad) {
			t.Errorf("no token bucket: %v", err)
		}
	})
}

// TestFastClockRefillsTheSameTime: two callers in turn, one of whose clocks is
// ahead by half a second.
func TestFastClockRefillsTheSameTime(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		const seconds, ahead = 10, 500 * time.Millisecond
		right := compile(t, "10/s,burst=20")
		spec := right.spec
		spec.Follow = true
		follow, err := Compile(spec)
		if err != nil {
			t.Fatal(err)
		}
		passed := map[*Rule]int{}
		for rule, key := range map[*Rule]string{follow: "rl:{k}:follow", right: "rl:{k}:store"} {
			for i := range seconds * 100 {
				now := epoch + int64(i)*int64(10*time.Millisecond)
				if rule.spec.Follow && i%2 == 0 {
					now += int64(ahead)
				}
				if mustCheck(t, c, now, Part{Key: key, Rule: rule, Cost: 1}).OK {
					passed[rule]++
				}
			}
		}
		t.Logf("1000 calls in %d s at 10/s,burst=20: callers' clocks admit %d, one clock %d", seconds, passed[follow], passed[right])
		if bound := 20 + 10*seconds; passed[right] > bound || passed[follow] < 5*bound {
			t.Errorf("callers' clocks admit %d and one clock %d, the bound is %d", passed[follow], passed[right], bound)
		}
	})
}

// pass lets d go by for a key: its life is shorter by d, or over. Counts whose
// life is their window age the same on any server.
func pass(t *testing.T, c redis.UniversalClient, key string, d time.Duration) {
	t.Helper()
	ctx := context.Background()
	switch left := c.PTTL(ctx, key).Val(); {
	case left > d:
		c.PExpire(ctx, key, left-d)
	case left > 0:
		c.Del(ctx, key)
	}
}

// callEvery calls n times, each step after the one before, and counts what
// passes.
func callEvery(t *testing.T, c redis.UniversalClient, w keyTaker, n int, step time.Duration) (passed int) {
	t.Helper()
	for range n {
		d, err := w.Take(context.Background(), "rl:{k}:wrong", 1)
		if err != nil && !errors.Is(err, ErrCrashed) {
			t.Fatal(err)
		}
		if d.OK {
			passed++
		}
		pass(t, c, "rl:{k}:wrong", step)
	}
	return passed
}

// scriptEvery is callEvery for the script, which is told the time.
func scriptEvery(t *testing.T, c redis.UniversalClient, rule *Rule, n int, step time.Duration) (passed int) {
	t.Helper()
	for i := range n {
		if mustCheck(t, c, epoch+int64(i)*int64(step), Part{Key: "rl:{k}:right", Rule: rule, Cost: 1}).OK {
			passed++
		}
	}
	return passed
}

// TestALostExpireRefusesForEver: ten windows of ten calls, the first of which
// dies between INCRBY and EXPIRE.
func TestALostExpireRefusesForEver(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		const window = time.Hour
		rule := windowRule(t, limit.FixedWindow, 5, window)
		w, err := NewWrongExpireFirst(c, rule.spec, 1)
		if err != nil {
			t.Fatal(err)
		}
		lost := callEvery(t, c, w, 100, window/10)
		right := scriptEvery(t, c, rule, 100, window/10)
		t.Logf("100 calls in 10 windows of 5: with a lost EXPIRE %d pass, with the script %d", lost, right)
		if lost != 4 || right != 50 {
			t.Errorf("with a lost EXPIRE %d pass, want 4; with the script %d, want 50", lost, right)
		}
		ctx := context.Background()
		if left := c.PTTL(ctx, "rl:{k}:wrong").Val(); left != -1 {
			t.Errorf("the key has %v to live, want none", left)
		}
		d, err := w.Take(ctx, "rl:{k}:wrong", 1)
		if err != nil || d.OK || d.RetryAfter != limit.Unknown {
			t.Errorf("a key without a life: %+v, %v", d, err)
		}
		// The plain pipeline gives a life to a key that has lost it.
		plain := newClocked(t, c, rule.spec, "heals")
		key := plain.keyTaker.(*PlainFixedWindow).keyOf("rl:{k}:heals", epoch, 0)
		c.IncrBy(ctx, key, 1)
		if _, err := plain.Take("k", epoch, 1); err != nil {
			t.Fatal(err)
		}
		if left := c.PTTL(ctx, key).Val(); left <= 0 {
			t.Errorf("after EXPIRE NX the key has %v to live", left)
		}
	})
}

// TestAnExpireThatArrives: without a crash the first is a window from the
// first call on.
func TestAnExpireThatArrives(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		w, err := NewWrongExpireFirst(c, windowRule(t, limit.FixedWindow, 5, time.Hour).spec, 0)
		if err != nil {
			t.Fatal(err)
		}
		if passed := callEvery(t, c, w, 100, 6*time.Minute); passed != 50 {
			t.Errorf("%d pass, want 50", passed)
		}
		for _, cost := range []int64{6, -1} {
			if d, err := w.Take(context.Background(), "rl:{k}:wrong", cost); err != nil || d.RetryAfter != limit.Never {
				t.Errorf("cost %d: %+v, %v", cost, d, err)
			}
		}
	})
}

// TestAnExpireOnEveryCallNeverEnds: a caller that keeps trying.
func TestAnExpireOnEveryCallNeverEnds(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		const window = time.Hour
		rule := windowRule(t, limit.FixedWindow, 5, window)
		w, err := NewWrongExpireAlways(c, rule.spec)
		if err != nil {
			t.Fatal(err)
		}
		wrong := callEvery(t, c, w, 100, window/10)
		right := scriptEvery(t, c, rule, 100, window/10)
		t.Logf("100 calls in 10 windows of 5: with EXPIRE on every call %d pass, with the script %d", wrong, right)
		if wrong != 5 || right != 50 {
			t.Errorf("with EXPIRE on every call %d pass, want 5; with the script %d, want 50", wrong, right)
		}
		ctx := context.Background()
		if d, err := w.Take(ctx, "rl:{k}:wrong", 0); err != nil || d.OK || d.RetryAfter <= 0 {
			t.Errorf("a peek: %+v, %v", d, err)
		}
		pass(t, c, "rl:{k}:wrong", window)
		if d, err := w.Take(ctx, "rl:{k}:wrong", 1); err != nil || !d.OK {
			t.Errorf("after a window of silence: %+v, %v", d, err)
		}
		var bad *limit.SpecError
		for _, spec := range []limit.Spec{compile(t, "10/s").spec, {Algorithm: limit.FixedWindow}, {Algorithm: limit.FixedWindow, Limit: 1, Window: 1}} {
			if _, err := NewWrongExpireAlways(c, spec); !errors.As(err, &bad) {
				t.Errorf("%v: %v", spec, err)
			}
		}
	})
}

// TestTwoCallsChargeForRefusals: a plan of 5 and a bucket of 20, ten calls.
func TestTwoCallsChargeForRefusals(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		ctx := context.Background()
		store := NewStore(r.Client(t), Options{Timeout: time.Minute})
		defer store.Close()
		bucket, plan := compile(t, "1/h,burst=20"), compile(t, "1/h,burst=5")
		left := map[string]int64{}
		for name, c := range map[string]Checker{"two calls": WrongTwoCalls{store}, "one call": store} {
			parts := []Part{{Key: Key("", name, "bucket"), Rule: bucket, Cost: 1}, {Key: Key("", name, "plan"), Rule: plan, Cost: 1}}
			passed := 0
			for range 10 {
				a, err := c.Take(ctx, parts...)
				if err != nil {
					t.Fatal(err)
				}
				if a.OK {
					passed++
				} else if a.By != 1 || a.Limit != 5 || a.RetryAfter <= 0 {
					t.Errorf("%s: a refusal by %d of %d: %+v", name, a.By, a.Limit, a)
				}
			}
			if passed != 5 {
				t.Errorf("%s: %d pass, want 5", name, passed)
			}
			parts[0].Cost = 0
			a, err := store.Take(ctx, parts[0])
			if err != nil {
				t.Fatal(err)
			}
			left[name] = a.Remaining
		}
		t.Logf("10 calls, 5 of which pass, leave of 20 tokens: %v", left)
		if left["two calls"] != 10 || left["one call"] != 15 {
			t.Errorf("left of 20 after 5 admissions: %v", left)
		}
	})
}

// TestAVersionInTheKeySpendsTwice: a plan goes from 10/s,20 to 20/s,40 while a
// customer uses all there is.
func TestAVersionInTheKeySpendsTwice(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		rules := []*Rule{compile(t, "10/s,burst=20"), compile(t, "20/s,burst=40")}
		storm := func(key func(version int64) string) (passed int) {
			// From the hundredth call on every other gateway has version 2.
			for i := range 400 {
				version := 0
				if i >= 100 && i%2 == 1 {
					version = 1
				}
				if mustCheck(t, c, epoch, Part{Key: key(int64(version) + 1), Rule: rules[version], Cost: 1}).OK {
					passed++
				}
			}
			return passed
		}
		twice := storm(func(version int64) string { return WrongVersionKey("rl:{k}:versions", version) })
		once := storm(func(int64) string { return "rl:{k}:one" })
		t.Logf("at one instant: a key for each version admits %d, one key %d", twice, once)
		if twice != 60 || once > 40 || once < 20 {
			t.Errorf("a key for each version admits %d, want 60; one key %d, want 20 to 40", twice, once)
		}
	})
}

package redislimit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// windowed are the algorithms that count in windows.
var windowed = []limit.Algorithm{limit.FixedWindow, limit.SlidingLog, limit.SlidingCounter}

// both runs f on a miniredis and a real server.
func both(t *testing.T, f func(t *testing.T, c redis.UniversalClient)) {
	t.Helper()
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) { f(t, r.Client(t)) })
}

// windowRule is a rule of limit units in window.
func windowRule(tb testing.TB, a limit.Algorithm, n int64, window time.Duration) *Rule {
	tb.Helper()
	return compile(tb, fmt.Sprintf("%v:limit=%d,window=%v", a, n, window))
}

// TestEveryShortTrace runs all traces of three calls in instants where
// something happens, costs from a peek to too much, and compares each decision
// with the pure limiter's.
func TestEveryShortTrace(t *testing.T) {
	const window = 8 * time.Microsecond
	steps := []int64{0, 3, 8, 9, -1, -9}
	costs := []int64{0, 1, 2, 3}
	kinds := len(steps) * len(costs)
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c, every := r.Client(t), 1
		if r.Mini != nil {
			every = 23 // it is slow
		}
		for _, a := range windowed {
			t.Run(a.String(), func(t *testing.T) {
				rule := windowRule(t, a, 2, window)
				pure, err := rule.spec.New()
				if err != nil {
					t.Fatal(err)
				}
				s := outlive(t, scriptFor([]Part{{Rule: rule}}))
				ctx := context.Background()
				if err := loadEverywhere(ctx, c, s); err != nil {
					t.Fatal(err)
				}
				traces := kinds * kinds * kinds
				for from := 0; from < traces; from += 64 * every {
					pipe := c.Pipeline()
					var calls []request
					for n := from; n < min(from+64*every, traces); n += every {
						var state limit.State
						now := int64(epoch)
						for _, kind := range []int{n % kinds, n / kinds % kinds, n / kinds / kinds} {
							now += steps[kind/len(costs)] * 1000
							cost := costs[kind%len(costs)]
							parts := []Part{{Key: fmt.Sprintf("rl:{%v-%d}:r", a, n), Rule: rule, Cost: cost}}
							d := pure.Take(&state, now, cost)
							d.RetryAfter, d.ResetAfter = inMicros(d.RetryAfter), inMicros(d.ResetAfter)
							keys, args := encode(nil, now, parts)
							calls = append(calls, request{now: now, parts: parts, want: []limit.Decision{d}, cmd: pipe.EvalSha(ctx, s.sha, keys, args...)})
						}
					}
					if _, err := pipe.Exec(ctx); err != nil {
						t.Fatal(err)
					}
					for i, q := range calls {
						got, err := decode(q.cmd.Val(), q.parts)
						if err != nil {
							t.Fatal(err)
						}
						if got.Decision != q.want[0] || got.Unreadable != 0 {
							t.Fatalf("trace %d, call %d, cost %d at %dµs:\n got %+v\nwant %+v", from+i/3*every, i%3, q.parts[0].Cost, (q.now-epoch)/1000, got, q.want[0])
						}
					}
				}
			})
		}
	})
}

// TestLargeCountersAreExact compares sliding counters whose products take up
// to 101 bits.
func TestLargeCountersAreExact(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		r := rand.New(rand.NewPCG(7, 7))
		for i := range 60 {
			spec := limit.Spec{
				Algorithm: limit.SlidingCounter, ShortWait: i%4 == 0,
				Limit:  1 + r.Int64N(1<<(1+r.IntN(50))),
				Window: time.Duration(1+r.Int64N(1<<(1+r.IntN(49)))) * time.Microsecond,
			}
			rule, err := Compile(spec)
			if err != nil {
				t.Fatal(err)
			}
			pure, err := spec.New()
			if err != nil {
				t.Fatal(err)
			}
			var state limit.State
			now := int64(epoch)
			for j := range 25 {
				now += r.Int64N(spec.Window.Microseconds()+1) * 1000
				cost := 1 + r.Int64N(spec.Limit)
				if now > lastMicro*1000 {
					break
				}
				want := pure.Take(&state, now, cost)
				want.RetryAfter, want.ResetAfter = inMicros(want.RetryAfter), inMicros(want.ResetAfter)
				a := mustCheck(t, c, now, Part{Key: fmt.Sprintf("rl:{large-%d}:r", i), Rule: rule, Cost: cost})
				if a.Decision != want {
					t.Fatalf("%v, call %d, cost %d at %d:\n got %+v\nwant %+v", spec, j, cost, now, a.Decision, want)
				}
			}
		}
	})
}

func TestWindowsThatRedisCannotKeep(t *testing.T) {
	for _, tt := range []struct {
		spec  limit.Spec
		field string // "" is fine
	}{
		{limit.Spec{Algorithm: limit.FixedWindow, Limit: maxExact, Window: time.Microsecond}, ""},
		{limit.Spec{Algorithm: limit.FixedWindow, Limit: maxExact + 1, Window: time.Second}, "limit"},
		{limit.Spec{Algorithm: limit.FixedWindow, Limit: 1, Window: 1500 * time.Nanosecond}, "window"},
		{limit.Spec{Algorithm: limit.FixedWindow, Limit: 1, Window: 1}, "window"},
		{limit.Spec{Algorithm: limit.SlidingCounter, Limit: maxCounted, Window: 1 << 60 / 1000 * 1000}, ""},
		{limit.Spec{Algorithm: limit.SlidingCounter, Limit: maxCounted + 1, Window: time.Second}, "limit"},
		{limit.Spec{Algorithm: limit.SlidingLog, Limit: maxLogged, Window: time.Second}, ""},
		{limit.Spec{Algorithm: limit.SlidingLog, Limit: maxLogged + 1, Window: time.Second}, "limit"},
		{limit.Spec{Algorithm: limit.Concurrency, Limit: maxHeld}, ""},
		{limit.Spec{Algorithm: limit.Concurrency, Limit: maxHeld + 1}, "limit"},
	} {
		r, err := Compile(tt.spec)
		var bad *limit.SpecError
		switch {
		case tt.field == "" && (err != nil || r.most != tt.spec.Limit):
			t.Errorf("%v: %v, %v", tt.spec, r, err)
		case tt.field == "":
		case !errors.As(err, &bad) || bad.Field != tt.field:
			t.Errorf("%v: %v, want a complaint about the %s", tt.spec, err, tt.field)
		default:
			if hint, err := limit.ParseSpec(bad.Hint); err != nil {
				t.Errorf("%v: the hint %q is none: %v", tt.spec, bad.Hint, err)
			} else if _, err := Compile(hint); err != nil {
				t.Errorf("%v: the hint %q does no better: %v", tt.spec, bad.Hint, err)
			}
		}
	}
}

// TestWindowsOutliveWhatMatters: each write sets a life until the state is
// over, and up to a few seconds more, refusals included.
func TestWindowsOutliveWhatMatters(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for _, a := range append([]limit.Algorithm{limit.Concurrency}, windowed...) {
			for _, cost := range []int64{5, 1, 5, 99} {
				rule := compile(t, "concurrency:limit=5")
				if a != limit.Concurrency {
					rule = windowRule(t, a, 5, 90*time.Second)
				}
				p := Part{Key: fmt.Sprintf("rl:{life}:%v", a), Rule: rule, Cost: cost, ID: "x"}
				now := epoch + int64(10*time.Second)
				d := mustCheck(t, c, now, p)
				need := d.ResetAfter
				if a == limit.Concurrency {
					need = DefaultHold
				}
				left := c.PTTL(context.Background(), p.Key).Val()
				// The server's own time goes on, by a minute at the very most.
				if left > need+2*time.Second || left < need-time.Minute {
					t.Errorf("%v, cost %d: %v to live, what it says matters for %v: %+v", a, cost, left, need, d)
				}
			}
		}
		p := Part{Key: "rl:{life}:long", Rule: windowRule(t, limit.FixedWindow, 5, 34*365*24*time.Hour), Cost: 1}
		mustCheck(t, c, epoch, p)
		if left := c.PTTL(context.Background(), p.Key).Val(); left > 3650*24*time.Hour || left < 3649*24*time.Hour {
			t.Errorf("a window of 34 years has %v to live, ten years are the most", left)
		}
	})
}

// TestWindowsOnAClockFarBack: a key follows a clock that has stepped back by
// more than an hour, and what it held still counts.
func TestWindowsOnAClockFarBack(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for _, a := range windowed {
			p := Part{Key: fmt.Sprintf("rl:{back}:%v", a), Rule: windowRule(t, a, 4, 10*time.Second), Cost: 3}
			high := epoch + int64(5*time.Second)
			mustCheck(t, c, high, p)
			near := mustCheck(t, c, high-int64(59*time.Minute), p)
			if near.OK || near.RetryAfter < 59*time.Minute {
				t.Errorf("%v, a clock 59 minutes back: %+v", a, near)
			}
			now := high - int64(2*time.Hour)
			far := mustCheck(t, c, now, p)
			if far.OK || far.Remaining != 1 || far.RetryAfter > 20*time.Second || far.Unreadable != 0 {
				t.Errorf("%v, a clock two hours back: %+v", a, far)
			}
			if d := mustCheck(t, c, now+int64(far.RetryAfter)-1000, p); d.OK {
				t.Errorf("%v, before the wait is over: %+v", a, d)
			}
			if d := mustCheck(t, c, now+int64(far.RetryAfter), p); !d.OK {
				t.Errorf("%v, after the wait: %+v", a, d)
			}
		}
	})
}

// TestWindowsUnderAChangedRule: what was admitted counts under the next rule;
// no change of the rule lets more pass than the larger limit.
func TestWindowsUnderAChangedRule(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for _, a := range windowed {
			for i, tt := range []struct {
				limit  int64
				window time.Duration
				left   int64
			}{
				{20, time.Minute, 12},
				{5, time.Minute, 0}, // fewer than are counted
				{20, time.Hour, 12},
				{20, 30 * time.Second, 12},
				{20, 7 * time.Second, 12},
			} {
				p := Part{Key: fmt.Sprintf("rl:{change-%d}:%v", i, a), Rule: windowRule(t, a, 10, time.Minute), Cost: 8}
				now := epoch + int64(2*time.Second)
				mustCheck(t, c, now, p)
				p.Rule = windowRule(t, a, tt.limit, tt.window)
				p.Cost = tt.left
				if tt.left == 0 {
					p.Cost = 1
				}
				d := mustCheck(t, c, now+1000, p)
				if d.OK != (tt.left > 0) || d.Remaining != 0 || d.Unreadable != 0 {
					t.Errorf("%v with 8 of 10 a minute now at %v: cost %d: %+v", a, p.Rule.spec, p.Cost, d)
				}
				p.Cost = 1
				if d := mustCheck(t, c, now+2000, p); d.OK || d.RetryAfter > 2*tt.window {
					t.Errorf("%v now at %v: one more: %+v", a, p.Rule.spec, d)
				}
			}
		}
	})
}

// TestGarbageInWindows: what is not a limit's own state counts as used up,
// says so, and is over after a while; another type is an error.
func TestGarbageInWindows(t *testing.T) {
	ctx := context.Background()
	hash := func(kv ...any) func(c redis.UniversalClient, key string) error {
		return func(c redis.UniversalClient, key string) error { return c.HSet(ctx, key, kv...).Err() }
	}
	set := func(z ...redis.Z) func(c redis.UniversalClient, key string) error {
		return func(c redis.UniversalClient, key string) error { return c.ZAdd(ctx, key, z...).Err() }
	}
	at := float64(epoch / 1000)
	mark := redis.Z{Score: at, Member: "limit=4 window=10000000"}
	states := []struct {
		name string
		of   limit.Algorithm
		make func(c redis.UniversalClient, key string) error
	}{
		{"another hash", limit.FixedWindow, hash("x", 1)},
		{"a bucket", limit.FixedWindow, hash("n", 5, "g", 1000000, "t", epoch/1000, "b", 5, "r", 10)},
		{"words", limit.FixedWindow, hash("n", "many", "e", "soon", "w", "long")},
		{"too many digits", limit.FixedWindow, hash("n", "99999999999999999", "e", epoch/1000+5, "w", 10000000)},
		{"below zero", limit.FixedWindow, hash("n", -3, "e", epoch/1000+5, "w", 10000000)},
		{"half a state", limit.FixedWindow, hash("n", 1)},
		{"another hash", limit.SlidingCounter, hash("x", 1)},
		{"infinite", limit.SlidingCounter, hash("p", "inf", "n", "nan", "t", epoch/1000, "w", 10000000)},
		{"no window", limit.SlidingCounter, hash("p", 1, "n", 1, "t", epoch/1000, "w", 0)},
		{"a fixed window", limit.SlidingCounter, hash("n", 1, "e", epoch/1000+5, "w", 10000000, "l", 4)},
		{"no mark", limit.SlidingLog, set(redis.Z{Score: at, Member: "0000000000000001:1"})},
		{"other members", limit.SlidingLog, set(redis.Z{Score: at, Member: "uuid"}, mark)},
		{"a cost above the sum", limit.SlidingLog, set(redis.Z{Score: at, Member: "0000000000000001:2"}, mark)},
		{"sums out of order", limit.SlidingLog, set(redis.Z{Score: at - 1, Member: "0000000000000009:1"}, redis.Z{Score: at, Member: "0000000000000001:1"}, mark)},
		{"an infinite time", limit.SlidingLog, set(redis.Z{Score: math.Inf(1), Member: "limit=4 window=10000000"})},
		{"extra above zero", limit.Concurrency, set(redis.Z{Score: 7, Member: "extra"}, redis.Z{Score: at, Member: "h:a"})},
		{"half an extra", limit.Concurrency, set(redis.Z{Score: -1.5, Member: "extra"}, redis.Z{Score: at, Member: "h:a"})},
	}
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for i, tt := range states {
			t.Run(fmt.Sprintf("%v/%s", tt.of, tt.name), func(t *testing.T) {
				rule := compile(t, "concurrency:limit=4")
				if tt.of != limit.Concurrency {
					rule = windowRule(t, tt.of, 4, 10*time.Second)
				}
				p := Part{Key: fmt.Sprintf("rl:{garbage-%d}:r", i), Rule: rule, ID: "x"}
				if err := tt.make(c, p.Key); err != nil {
					t.Fatal(err)
				}
				if d := mustCheck(t, c, epoch, p); d.OK || d.Unreadable != 1 || d.Remaining != 0 {
					t.Fatalf("a peek: %+v", d)
				}
				p.Cost = 1
				if d := mustCheck(t, c, epoch, p); d.OK || d.Unreadable != 1 || d.Remaining != 0 {
					t.Fatalf("the first call: %+v", d)
				}
				d := mustCheck(t, c, epoch, p)
				if d.OK || d.Unreadable != 0 {
					t.Fatalf("the next call: %+v", d)
				}
				over := d.ResetAfter
				if tt.of == limit.Concurrency {
					over = DefaultHold
				}
				p.Cost = 4
				if d := mustCheck(t, c, epoch+int64(over), p); !d.OK {
					t.Fatalf("after %v: %+v", over, d)
				}
			})
		}
	})
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for _, a := range append([]limit.Algorithm{limit.Concurrency}, windowed...) {
			rule := compile(t, "concurrency:limit=4")
			if a != limit.Concurrency {
				rule = windowRule(t, a, 4, 10*time.Second)
			}
			p := Part{Key: fmt.Sprintf("rl:{type}:%v", a), Rule: rule, Cost: 1, ID: "x"}
			if err := c.Set(ctx, p.Key, "words", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if a, err := check(c, epoch, p); err == nil {
				t.Errorf("%v at a string: %+v", rule.spec, a)
			}
			if got := c.Get(ctx, p.Key).Val(); got != "words" {
				t.Errorf("%v at a string left %q", rule.spec, got)
			}
		}
	})
}

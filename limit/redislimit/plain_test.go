package redislimit

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/limittest"
)

// keyTaker is what the limiters of plain commands have in common.
type keyTaker interface {
	Take(ctx context.Context, key string, cost int64) (limit.Decision, error)
}

// clocked is a plain limiter whose clock a test sets.
type clocked struct {
	keyTaker
	now *atomic.Int64
	mu  *sync.Mutex // between setting the clock and reading it
	at  string
}

func (k clocked) Take(key string, now, cost int64) (limit.Decision, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.now.Store(now)
	return k.keyTaker.Take(context.Background(), "rl:{"+key+"}:"+k.at, cost)
}

// newClocked makes a plain limiter of a spec with a clock for a test to set.
func newClocked(tb testing.TB, c redis.UniversalClient, spec limit.Spec, name string) clocked {
	tb.Helper()
	k := clocked{now: new(atomic.Int64), mu: new(sync.Mutex), at: name}
	var err error
	if spec.Algorithm == limit.FixedWindow {
		k.keyTaker, err = NewPlainFixedWindow(c, spec, k.now.Load)
	} else {
		k.keyTaker, err = NewPlainSlidingCounter(c, spec, k.now.Load)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return k
}

var plainAlgorithms = []limit.Algorithm{limit.FixedWindow, limit.SlidingCounter}

// TestPlainDecidesAsTheScript holds while the clock does not step back and no
// two calls overlap.
func TestPlainDecidesAsTheScript(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for _, a := range plainAlgorithms {
			rule := windowRule(t, a, 10, 40*time.Second)
			p := newClocked(t, c, rule.spec, "plain")
			now := int64(epoch)
			for i := range 400 {
				now += int64(i%7) * int64(time.Second)
				cost := []int64{1, 1, 3, 0, 1, 11, 7, -1}[i%8]
				want := mustCheck(t, c, now, Part{Key: "rl:{" + a.String() + "}:script", Rule: rule, Cost: cost}).Decision
				got, err := p.Take(a.String(), now, cost)
				got.RetryAfter, got.ResetAfter = inMicros(got.RetryAfter), inMicros(got.ResetAfter)
				if cost == 11 && a == limit.SlidingCounter {
					want.ResetAfter, got.ResetAfter = 0, 0 // the script has seen the time, no counter has
				}
				if err != nil || got != want {
					t.Fatalf("%v, call %d, cost %d: %+v, %v; the script says %+v", a, i, cost, got, err, want)
				}
			}
		}
	})
}

// TestPlainHoldsItsLimit: callers at once never get more than the limit, and
// what refusals held back is there again.
func TestPlainHoldsItsLimit(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		for _, a := range plainAlgorithms {
			spec := windowRule(t, a, 10, time.Minute).spec
			p := newClocked(t, c, spec, "race")
			p.now.Store(epoch)
			var passed, failed atomic.Int64
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					for range 20 {
						d, err := p.keyTaker.Take(context.Background(), "rl:{k}:"+a.String(), 3)
						switch {
						case err != nil:
							failed.Add(1)
						case d.OK:
							passed.Add(3)
						}
					}
				})
			}
			wg.Wait()
			if failed.Load() > 0 || passed.Load() > 10 {
				t.Errorf("%v: %d units passed, 10 may; %d calls failed", a, passed.Load(), failed.Load())
			}
			d, err := p.keyTaker.Take(context.Background(), "rl:{k}:"+a.String(), 0)
			if err != nil || d.Remaining != 10-passed.Load() {
				t.Errorf("%v: %d units passed, then %+v, %v", a, passed.Load(), d, err)
			}
		}
	})
}

// TestACountToBeTakenBackRefusesAnother, which the script would have let pass.
func TestACountToBeTakenBackRefusesAnother(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		rule := windowRule(t, limit.FixedWindow, 10, time.Minute)
		p := newClocked(t, c, rule.spec, "plain")
		script := Part{Key: "rl:{k}:script", Rule: rule, Cost: 9}
		mustCheck(t, c, epoch, script)
		if d, err := p.Take("k", epoch, 9); err != nil || !d.OK {
			t.Fatal(d, err)
		}
		// A call of cost 2 is about to be refused: its INCRBY is there, its
		// DECRBY is on the way.
		ctx, key := context.Background(), p.keyTaker.(*PlainFixedWindow).keyOf("rl:{k}:plain", epoch, 0)
		if err := c.IncrBy(ctx, key, 2).Err(); err != nil {
			t.Fatal(err)
		}
		d, err := p.Take("k", epoch, 1)
		if err != nil || d.OK {
			t.Errorf("beside a count that is to be taken back: %+v, %v", d, err)
		}
		if err := c.DecrBy(ctx, key, 2).Err(); err != nil {
			t.Fatal(err)
		}
		if d, err := p.Take("k", epoch, 1); err != nil || !d.OK {
			t.Errorf("once it is back: %+v, %v", d, err)
		}
		script.Cost = 2
		if a := mustCheck(t, c, epoch, script); a.OK {
			t.Errorf("the script on a cost of 2: %+v", a)
		}
		script.Cost = 1
		if a := mustCheck(t, c, epoch, script); !a.OK {
			t.Errorf("the script right after it: %+v", a)
		}
	})
}

// TestPlainCommands counts what a check costs a real server.
func TestPlainCommands(t *testing.T) {
	r := redistest.Server(t)
	c := r.Client(t)
	for _, a := range plainAlgorithms {
		p := newClocked(t, c, windowRule(t, a, 2, time.Minute).spec, "plain")
		for i, admitted := range []bool{true, true, false, false} {
			r.CLI("CONFIG", "RESETSTAT")
			d, err := p.Take(a.String(), epoch, 1)
			if err != nil || d.OK != admitted {
				t.Fatalf("%v, call %d: %+v, %v", a, i, d, err)
			}
			of, n := commandStats(t, r), int64(0)
			for _, name := range []string{"incrby", "expire", "get", "decrby"} {
				n += of[name]
			}
			if want := int64(a.Commands(admitted)); n != want {
				t.Errorf("%v, admitted %v: %d commands, want %d: %v", a, admitted, n, want, of)
			}
		}
	}
}

// TestPlainCountsLive: each count has a life from its first unit on, which no
// later call moves, and its window's number last in its key.
func TestPlainCountsLive(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		ctx := context.Background()
		for a, life := range map[limit.Algorithm]time.Duration{limit.FixedWindow: 150 * time.Second, limit.SlidingCounter: 240 * time.Second} {
			p := newClocked(t, c, windowRule(t, a, 2, 90*time.Second).spec, a.String())
			key := "rl:{k}:" + a.String() + ":19635840" // epoch / 90 s
			for i := range 3 {
				if _, err := p.Take("k", epoch, 1); err != nil {
					t.Fatal(err)
				}
				if left := c.TTL(ctx, key).Val(); left > life || left < life-time.Minute {
					t.Errorf("%v, call %d: %v to live, want %v", a, i, left, life)
				}
				life = 50 * time.Second
				c.Expire(ctx, key, life)
			}
		}
	})
}

// TestPlainNeedsEXPIREWithNX: on a server that knows no NX nothing stays
// counted, and no count stays for ever.
func TestPlainNeedsEXPIREWithNX(t *testing.T) {
	r := redistest.Mini(t)
	c := r.Client(t)
	r.Mini.Server().SetPreHook(func(p *server.Peer, cmd string, args ...string) bool {
		if cmd == "EXPIRE" && len(args) > 2 {
			p.WriteError("ERR wrong number of arguments for 'expire' command")
			return true
		}
		return false
	})
	for _, a := range plainAlgorithms {
		p := newClocked(t, c, windowRule(t, a, 2, time.Minute).spec, a.String())
		_, err := p.Take("k", epoch, 1)
		var old *OldServerError
		if !errors.As(err, &old) || old.Command != "EXPIRE NX" || old.Since != "7.0" || old.Hint() == "" {
			t.Errorf("%v: %v", a, err)
		}
		key := p.at
		for _, k := range r.Mini.Keys() {
			if n, err := r.Mini.Get(k); err != nil || n != "0" || r.Mini.TTL(k) <= 0 {
				t.Errorf("%s: %s left %q with %v to live, %v", key, k, n, r.Mini.TTL(k), err)
			}
		}
	}
}

// TestPlainOnWhatIsNoCount: another type or text is an error, and takes
// nothing.
func TestPlainOnWhatIsNoCount(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		ctx := context.Background()
		for _, a := range plainAlgorithms {
			p := newClocked(t, c, windowRule(t, a, 2, time.Minute).spec, a.String())
			base := "rl:{k}:" + a.String() + ":"
			c.Set(ctx, base+"29453760", "words", time.Minute) // epoch / 60 s
			c.Set(ctx, base+"29453761", "words", time.Minute)
			for _, cost := range []int64{0, 1} {
				if d, err := p.Take("k", epoch, cost); err == nil {
					t.Errorf("%v, cost %d at words: %+v", a, cost, d)
				}
			}
			if a == limit.FixedWindow {
				continue
			}
			d, err := p.Take("k", epoch+int64(2*time.Minute), 1)
			if err == nil {
				t.Errorf("%v, words in the window before: %+v", a, d)
			}
			if n := c.Get(ctx, base+"29453762").Val(); n != "0" {
				t.Errorf("%v: a call that failed stays counted: %q", a, n)
			}
		}
	})
}

func TestPlainTakesItsOwnSpecs(t *testing.T) {
	c := redistest.Mini(t).Client(t)
	var bad *limit.SpecError
	if _, err := NewPlainFixedWindow(c, compile(t, "10/s").spec, nil); !errors.As(err, &bad) {
		t.Errorf("a bucket: %v", err)
	}
	if _, err := NewPlainSlidingCounter(c, limit.Spec{Algorithm: limit.SlidingCounter}, nil); !errors.As(err, &bad) {
		t.Errorf("no numbers: %v", err)
	}
	p, err := NewPlainFixedWindow(c, windowRule(t, limit.FixedWindow, 2, time.Hour).spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, err := p.Take(context.Background(), Key("", "k", "r"), 2); err != nil || !d.OK {
		t.Errorf("on the system's clock: %+v, %v", d, err)
	}
}

// TestPlainConforms runs the suite where no clock steps back, which the plain
// limiters do not notice.
func TestPlainConforms(t *testing.T) {
	c := redistest.Server(t).Client(t)
	for _, a := range plainAlgorithms {
		spec := windowRule(t, a, 10, time.Second).spec
		ref := limittest.NewReference(spec)
		p := newClocked(t, c, spec, "conform")
		now := int64(epoch)
		for i := range 600 {
			now += int64(i*i%37) * int64(10*time.Millisecond)
			cost := int64(1 + i%4)
			want, err := ref.Take("k", now, cost)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := p.Take(a.String(), now, cost); err != nil || got != want {
				t.Fatalf("%v, call %d, cost %d: %+v, %v; want %+v", a, i, cost, got, err, want)
			}
		}
	}
}

package gateway

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

func TestWrongIsReadAndShown(t *testing.T) {
	var w Wrong
	for _, s := range []string{"fast-clock=2s", "race", "retry-after-down", "status-503", "count-refusals", "forgeable-key",
		"clock-skew", "expire-once=3", "expire-refresh", "two-calls", "version-in-key"} {
		if err := w.Set(s); err != nil {
			t.Error(err)
		}
	}
	const want = "fast-clock=2s,clock-skew=2s,race=2ms,expire-once=3,expire-refresh,two-calls,version-in-key,retry-after-down,status-503,count-refusals,forgeable-key=X-Forwarded-For"
	if w.String() != want {
		t.Errorf("reads back as %q, want %q", w, want)
	}
	for _, s := range []string{"", "slow", "race=0s", "race=-1s", "fast-clock=2h", "status-503=1", "expire-once=0", "expire-once=x", "two-calls=2", "forgeable-key=", "forgeable-key=a b"} {
		if err := new(Wrong).Set(s); err == nil {
			t.Errorf("%q was taken", s)
		}
	}
}

// A refused answer's Retry-After, rounded down, sends an obedient client back
// too early.
func TestRetryAfterRoundedDown(t *testing.T) {
	for _, tt := range []struct {
		wrong Wrong
		want  string
	}{
		{Wrong{}, "3"}, // 2.9 s, rounded up
		{Wrong{RetryAfterDown: true}, "2"},
		{Wrong{NoRetryAfter: true}, ""},
	} {
		f := started(t, Config{Limit: spec(t, "1/2900ms,burst=1"), Wrong: tt.wrong})
		var got answers
		for i := range 20 {
			start := time.Now()
			got = storm(t, f, fmt.Sprint("k-", i), 1, 2)
			if time.Since(start) < 800*time.Millisecond {
				break // else the wait may have become less than 2 s
			}
		}
		if len(got.header) != 1 {
			t.Fatalf("%v", got)
		}
		if v := got.header[0].Get("Retry-After"); v != tt.want {
			t.Errorf("%v: Retry-After %q, want %q", tt.wrong, v, tt.want)
		}
	}
}

func TestStatus503(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=2"), Wrong: Wrong{Status503: true}})
	if got := storm(t, f, "k", 1, 5); got.status[503] != 3 || got.status[429] != 0 {
		t.Errorf("%v", got)
	}
}

// Everybody who checks in the gap passes.
func TestRace(t *testing.T) {
	right := started(t, Config{Limit: spec(t, "1/h,burst=5")})
	wrong := started(t, Config{Limit: spec(t, "1/h,burst=5"), Wrong: Wrong{Race: 100 * time.Millisecond}})
	if got := storm(t, right, "k", 16, 1); got.status[200] != 5 {
		t.Errorf("without the race: %v", got)
	}
	if got := storm(t, wrong, "k", 16, 1); got.status[200] <= 5 {
		t.Errorf("with the race: %v, want more than the burst", got)
	}
	balanced(t, wrong.Counts(5))
	// One caller alone never sees it.
	short := started(t, Config{Limit: spec(t, "1/h,burst=5"), Wrong: Wrong{Race: time.Millisecond}})
	if got := storm(t, short, "alone", 1, 7); got.status[200] != 5 {
		t.Errorf("one caller: %v, want the burst", got)
	}
}

// The first gateway's clock is ten minutes ahead: whenever the two take turns
// it refills ten minutes' worth again.
func TestFastClock(t *testing.T) {
	c := Config{Gateways: 2, Design: Central, Limit: spec(t, "1/m,burst=5")}
	right := started(t, c)
	c.Wrong.FastClock = 10 * time.Minute
	wrong := started(t, c)
	turns := func(f *Fleet) (admitted int) {
		for range 10 {
			for _, u := range f.URLs() {
				res, err := http.Post(u, "", nil)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode == 200 {
					admitted++
				}
			}
		}
		return admitted
	}
	if n := turns(right); n != 5 {
		t.Errorf("with right clocks %d of 20 passed, want the burst of 5", n)
	}
	if n := turns(wrong); n != 20 {
		t.Errorf("with a fast clock %d of 20 passed, want all", n)
	}
}

// A client that knocks faster than the rate stays out for ever; one that waits
// as told gets in.
func TestCountRefusals(t *testing.T) {
	const every = int64(100 * time.Millisecond) // the rate is 10/s
	f, err := New(Config{Limit: spec(t, "10/s,burst=2"), Wrong: Wrong{CountRefusals: true}})
	if err != nil {
		t.Fatal(err)
	}
	right, err := New(Config{Limit: spec(t, "10/s,burst=2")})
	if err != nil {
		t.Fatal(err)
	}
	knock := func(f *Fleet) (admitted int) {
		for now := int64(0); now < 100*every; now += every / 2 {
			if ask(f, "k", now).OK {
				admitted++
			}
		}
		return admitted
	}
	if n := knock(right); n < 100 {
		t.Errorf("the right limiter admitted %d in ten seconds, want 101 or so", n)
	}
	if n := knock(f); n > 4 {
		t.Errorf("%d passed though refusals count, want no more than the burst and its refill", n)
	}
	now := 100 * every
	d := ask(f, "k", now)
	if d.OK || d.RetryAfter <= 0 || d.RetryAfter > 300*time.Millisecond {
		t.Fatalf("the last knock: %+v", d)
	}
	if d := ask(f, "k", now+int64(d.RetryAfter)); !d.OK {
		t.Errorf("the wait was kept and still: %+v", d)
	}
}

// ask puts one request of a key to the first gateway.
func ask(f *Fleet, key string, now int64) limit.Decision { return askAt(f, 0, key, now, 1).Decision }

// askAt puts one to gateway n at an explicit time.
func askAt(f *Fleet, n int, key string, now, cost int64) verdict {
	g, s := f.gateways[n], new(scratch)
	set := g.current(now)
	hits := set.set.Match(nil, rules.Request{Key: key, Path: "/"}, now)
	return g.decide(context.Background(), f.run.Load(), set, s, hits, now, cost)
}

func TestCountRefusalsForgets(t *testing.T) {
	f, err := New(Config{Limit: spec(t, "10/s,burst=1"), Wrong: Wrong{CountRefusals: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := f.run.Load().backends[0].(*counting)
	for i := range int64(20_000) {
		k := fmt.Sprint("k-", i)
		ask(f, k, i*1e6)
		ask(f, k, i*1e6)
	}
	if n := len(s.until); n > 2*firstSweep {
		t.Errorf("%d keys are remembered, all but 200 in vain", n)
	}
}

func TestForgeableKey(t *testing.T) {
	storm := func(f *Fleet, forge bool) (admitted int) {
		for i := range 10 {
			req, _ := http.NewRequest("GET", f.URLs()[0], nil)
			req.Header.Set("X-API-Key", "k")
			if forge {
				req.Header.Set("X-Forwarded-For", fmt.Sprintf("10.0.0.%d, 192.0.2.1", i))
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if res.StatusCode == 200 {
				admitted++
			}
		}
		return admitted
	}
	right := started(t, Config{Limit: spec(t, "1/h,burst=2")})
	wrong := started(t, Config{Limit: spec(t, "1/h,burst=2"), Wrong: Wrong{ForgeableKey: "x-forwarded-for"}})
	if n := storm(right, true); n != 2 {
		t.Errorf("a right gateway let %d pass", n)
	}
	if n := storm(wrong, false); n != 2 {
		t.Errorf("without forging %d passed", n)
	}
	if n := storm(wrong, true); n != 10 {
		t.Errorf("with a new address each time %d of 10 passed, want all", n)
	}
}

func TestSwitchesWithoutEffectAreRefused(t *testing.T) {
	for _, c := range []Config{
		{Gateways: 2, Wrong: Wrong{FastClock: time.Second}},
		{Design: Central, Wrong: Wrong{FastClock: time.Second}},
		{Gateways: 2, Design: Central, Limit: spec(t, "gcra:rate=1/s,burst=1"), Wrong: Wrong{FastClock: time.Second}},
		{Limit: spec(t, "concurrency:limit=1"), Wrong: Wrong{Race: time.Second}},
		{Limit: spec(t, "concurrency:limit=1"), Wrong: Wrong{CountRefusals: true}},
		{Wrong: Wrong{RetryAfterDown: true, NoRetryAfter: true}},
		{Gateways: 2, Design: Central, Wrong: Wrong{FastClock: time.Second, ClockSkew: time.Second}},
		{Gateways: 2, Design: Leases, Limit: spec(t, "100/s,burst=100"), Wrong: Wrong{ClockSkew: time.Second}},
		{Limit: spec(t, "fixed-window:limit=1,window=1s"), Wrong: Wrong{ExpireOnce: 1}},
		{Design: Central, Redis: noRedis(), Wrong: Wrong{ExpireRefresh: true}},
		{Design: Central, Redis: noRedis(), Limit: spec(t, "gcra:rate=1/s,burst=1"), Wrong: Wrong{Race: time.Second}},
		{Design: Central, Redis: noRedis(), Wrong: Wrong{CountRefusals: true}},
		{Wrong: Wrong{TwoCalls: true}},
		{Wrong: Wrong{VersionInKey: true}},
		{Rules: versioned(t, 1, "1/s,burst=1"), Wrong: Wrong{TwoCalls: true}},
		{Wrong: Wrong{Race: time.Second, CountRefusals: true}},
	} {
		if c.Limit.Rate.Units == 0 && c.Limit.Limit == 0 {
			c.Limit = spec(t, "1/s,burst=1")
		}
		if _, err := New(c); err == nil || !strings.HasPrefix(err.Error(), "wrong ") {
			t.Errorf("%v with %v: %v", c.Wrong, c.Limit, err)
		}
	}
}

// noRedis is a client that nobody asks anything.
func noRedis() redis.UniversalClient { return redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"}) }

// Clocks that are believed refill the time between them again and again.
func TestSkewedClocksOnRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := Config{Gateways: 2, Limit: spec(t, "1/m,burst=5"), StoreTimeout: 10 * time.Second}
		turns := func(f *Fleet, key string) (admitted int) {
			for i := range 20 {
				if askAt(f, i%2, key, f.now(), 1).OK {
					admitted++
				}
			}
			return admitted
		}
		if n := turns(onRedis(t, r, c), "right"); n != 5 {
			t.Errorf("on the store's clock %d of 20 passed, want 5", n)
		}
		for _, w := range []Wrong{{FastClock: 10 * time.Minute}, {ClockSkew: 10 * time.Minute}} {
			c.Wrong = w
			if n := turns(onRedis(t, r, c), w.String()); n != 20 {
				t.Errorf("%v: %d of 20 passed, want all", w, n)
			}
		}
	})
}

// Counts whose life is wrong.
func TestWrongLives(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := Config{Limit: spec(t, "fixed-window:limit=3,window=1h"), StoreTimeout: 10 * time.Second, OnFailure: limit.FailOpen}
		life := func(w Wrong, key string) string {
			c.Wrong = w
			f := onRedis(t, r, c)
			for range 5 {
				askAt(f, 0, key, f.now(), 1)
			}
			if open := f.Counts(0).Store.OpenBreakers; open != 0 {
				t.Errorf("%v opened a breaker", w)
			}
			return r.CLI("ttl", "rl:{"+key+"}:default")
		}
		if ttl := life(Wrong{ExpireOnce: 1}, "once"); ttl != "-1" {
			t.Errorf("a caller that died before EXPIRE left a life of %s", ttl)
		}
		if ttl := life(Wrong{ExpireRefresh: true}, "refresh"); ttl != "3600" && ttl != "3599" {
			t.Errorf("a refreshed count lives for %s", ttl)
		}
	})
}

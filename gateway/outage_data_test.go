package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// patient is long enough for a busy machine, where a test is not about time.
const patient = 10 * time.Second

// spent has n requests of a key decided, one at a time, each by the store, and
// returns how many passed.
func (c *crowd) spent(key string, n int) (admitted int) {
	c.t.Helper()
	for i := range n {
		a := c.askedBy(i%len(c.urls), key)
		if a.by != FromStore.String() {
			c.t.Fatalf("request %d: %+v", i, a)
		}
		if a.status == http.StatusOK {
			admitted++
		}
	}
	return admitted
}

// What somebody else has done to a bucket. None of it is an error: a bucket that
// cannot be read is used up as of then, so that garbage never lets more pass
// than rate × t, and every write gives the key a life again.
func TestBucketsThatWereTamperedWith(t *testing.T) {
	t.Parallel()
	r := redistest.Server(t)
	const gateways, burst = 20, 12
	c := newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Limit: spec(t, "1/h,burst=12"),
		OnFailure: limit.FailOpen, StoreTimeout: patient}))
	for _, tt := range []struct {
		name    string
		do      func(key string)
		passes  int // of 40 more, after 2 of the burst
		anomaly int64
	}{
		{"nothing", func(string) {}, burst - 2, 0},
		{"no TTL", func(key string) { r.CLI("PERSIST", key) }, burst - 2, 0},
		{"a field that is no number", func(key string) { r.CLI("HSET", key, "n", "many") }, 0, 1},
		{"a field gone", func(key string) { r.CLI("HDEL", key, "t") }, 0, 1},
		{"another program's hash", func(key string) {
			r.CLI("DEL", key)
			r.CLI("HSET", key, "tokens", "9000")
		}, 0, 1},
		{"fuller than full", func(key string) { r.CLI("HSET", key, "n", "9007199254740991") }, burst, 0},
		{"gone", func(key string) { r.CLI("DEL", key) }, burst, 0},
	} {
		subject := "k-" + strings.ReplaceAll(tt.name, " ", "-")
		key := redislimit.Key("", subject, "default")
		if n := c.spent(subject, 2); n != 2 {
			t.Fatalf("%s: %d of the first two passed", tt.name, n)
		}
		was := c.f.unreadable.Load()
		tt.do(key)
		if n := c.spent(subject, 40); n != tt.passes {
			t.Errorf("%s: %d passed, want %d", tt.name, n, tt.passes)
		}
		if n := c.f.unreadable.Load() - was; n != tt.anomaly {
			t.Errorf("%s: %d unreadable states were counted, want %d", tt.name, n, tt.anomaly)
		}
		if ttl, _ := strconv.Atoi(r.CLI("TTL", key)); ttl < 3600 {
			t.Errorf("%s: the key lives %d s", tt.name, ttl)
		}
	}
	c.balanced()
	tidyServer(t, r, poolSize)
}

// A server that evicts. With volatile-ttl, what has the least time to live goes
// first: a cache of short lives shields the buckets, one of long lives drives
// them out. A bucket that was driven out is full again, so a key gets
//
//	burst × (1 + how often it was evicted) + rate × t
//
// and every decision is still the store's.
func TestMemoryIsFullAndEvicts(t *testing.T) {
	t.Parallel()
	const burst = 6
	for _, tt := range []struct {
		name    string
		life    string // of what else is in memory, in s; the bucket has 6 h
		evicted int
	}{{"beside short lives", "600", 0}, {"beside long lives", "1000000", 1}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Server(t, "--maxmemory-policy", "volatile-ttl", "--maxmemory-samples", "64")
			c := newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: 20, Limit: spec(t, "1/h,burst=6"),
				OnFailure: limit.FailClosed, StoreTimeout: patient}))
			if n := c.spent("victim", 30); n != burst {
				t.Fatalf("%d passed of a burst of %d", n, burst)
			}
			r.CLI("CONFIG", "SET", "maxmemory", strconv.Itoa(stat(t, r, "memory", "used_memory")+1<<20))
			client := r.Client(t)
			there := func() bool { return r.CLI("EXISTS", redislimit.Key("", "victim", "default")) == "1" }
			// Until enough was evicted, and the bucket too if it is to be.
			for i := 0; stat(t, r, "stats", "evicted_keys") < 20 || tt.evicted == 1 && there(); i++ {
				if err := client.Do(t.Context(), "SET", fmt.Sprint("filler-", i), strings.Repeat("x", 50_000), "EX", tt.life).Err(); err != nil {
					t.Fatal(err)
				}
				if i > 1000 {
					t.Fatal("memory does not get full")
				}
			}
			if tt.evicted == 0 && !there() {
				t.Error("the bucket was evicted before what had less to live")
			}
			r.CLI("CONFIG", "SET", "maxmemory", "0") // so that what follows evicts nothing
			if n := c.spent("victim", 30); n != burst*tt.evicted {
				t.Errorf("%d more passed after %d evictions of a burst of %d", n, tt.evicted, burst)
			}
			c.balanced()
			tidyServer(t, r, poolSize+1)
		})
	}
}

// The server's clock steps. Forward, the bucket gains as much as if the time had
// passed, at most its burst; back, it holds at the highest time that it has
// seen, and a caller's wait is longer by the step; by more than an hour back, it
// goes on from the new time with what it had. So a step never lets more than one
// burst pass.
//
// A miniredis has a clock that can be set. A real server's is the machine's;
// there the state is moved instead, which is the same to the limiter: a state
// of later is what a clock that stepped back finds.
func TestClockOfTheServerSteps(t *testing.T) {
	t.Parallel()
	const burst, rate = 20, 10
	for _, tt := range []struct {
		step           time.Duration
		passes         int
		least, longest time.Duration // wait that a refused caller is told
	}{
		{-30 * time.Second, 0, 10 * time.Second, 31 * time.Second},
		{-2 * time.Hour, 0, time.Second, time.Second},
		{time.Second, rate, time.Second, time.Second},
		{5 * time.Hour, burst, time.Second, time.Second},
	} {
		check := func(t *testing.T, c *crowd, step func(key string)) {
			t.Helper()
			begun := time.Now()
			n := c.spent("k", 4*burst)
			if most := bound(burst, rate, time.Since(begun)); n < burst || n > most {
				t.Fatalf("before: %d passed, want %d to %d", n, burst, most)
			}
			begun = time.Now()
			step(redislimit.Key("", "k", "default"))
			n = c.spent("k", 4*burst)
			if most := bound(tt.passes, rate, time.Since(begun)); n > most || n < min(tt.passes, burst) {
				t.Errorf("after: %d passed, want %d to %d", n, tt.passes, most)
			}
			refused := c.refusedOne("k")
			if wait, _ := strconv.Atoi(refused.wait); time.Duration(wait)*time.Second < tt.least || time.Duration(wait)*time.Second > tt.longest {
				t.Errorf("a caller was told %+v", refused)
			}
			c.balanced()
		}
		conf := Config{Gateways: 20, Limit: spec(t, "10/s,burst=20"), OnFailure: limit.FailClosed, StoreTimeout: patient}
		t.Run("mini/"+tt.step.String(), func(t *testing.T) {
			t.Parallel()
			r := redistest.Mini(t)
			now := time.Now()
			r.Mini.SetTime(now) // and there it stands
			check(t, newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, conf)), func(string) { r.Mini.SetTime(now.Add(tt.step)) })
		})
		t.Run("real/"+tt.step.String(), func(t *testing.T) {
			t.Parallel()
			r := redistest.Server(t)
			check(t, newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, conf)), func(key string) {
				r.CLI("HINCRBY", key, "t", strconv.FormatInt(-tt.step.Microseconds(), 10))
			})
			tidyServer(t, r, poolSize)
		})
	}
}

// refusedOne asks until the store refuses.
func (c *crowd) refusedOne(key string) (a attempt) {
	c.t.Helper()
	until(c.t, "a request is refused", func() bool {
		a = c.askedBy(0, key)
		return a.status == http.StatusTooManyRequests && a.by == FromStore.String()
	})
	return a
}

// Scripts that are flushed are loaded again, once, and no caller notices.
func TestScriptsAreFlushed(t *testing.T) {
	t.Parallel()
	r := redistest.Server(t)
	const gateways = 20
	c := newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Limit: spec(t, "1/h,burst=100"),
		OnFailure: limit.FailClosed, StoreTimeout: patient}))
	c.spent("k", gateways)
	before := stat(t, r, "commandstats", "cmdstat_script|load")
	r.CLI("SCRIPT", "FLUSH")
	c.spent("k", gateways)
	if n := stat(t, r, "commandstats", "cmdstat_script|load"); before != 1 || n != 2 {
		t.Errorf("%d loads before and %d after, want one each", before, n-before)
	}
	if n := openBreakers(c.f); n != 0 {
		t.Errorf("%d breakers are open", n)
	}
}

// A certificate of a CA that nobody trusts: nothing is sent, every request is
// decided by the fail mode, and the right CA is all that it takes.
func TestWrongAuthority(t *testing.T) {
	t.Parallel()
	r := redistest.TLS(t)
	conf := Config{Gateways: 20, Limit: spec(t, "1/h,burst=40"), StoreTimeout: patient, Breaker: quick}
	for mode, want := range map[limit.FailMode]int{limit.FailOpen: 100, limit.FailClosed: 0, limit.FailLocal: 40} {
		conf.OnFailure = mode
		c := newCrowd(t, serving(t, redisconn.Options{URL: r.URL, CAFile: r.OtherCAFile}, conf))
		c.atOnce("k", 5)
		if n := c.f.Counts(0).Totals.Admitted; n != int64(want) {
			t.Errorf("%v: %d of 100 passed, want %d", mode, n, want)
		}
		if n := c.f.stores[0].Stats().Errors[redislimit.KindTLS]; n == 0 {
			t.Errorf("%v: %v", mode, c.f.stores[0].Stats().Errors)
		}
		if by(c.f, FromStore) != 0 {
			t.Errorf("%v: the store decided", mode)
		}
		c.balanced()
	}
	if n := r.CLI("DBSIZE"); n != "0" {
		t.Errorf("%s keys came to be", n)
	}
	c := newCrowd(t, serving(t, redisconn.Options{URL: r.URL, CAFile: r.CAFile}, conf))
	if n := c.spent("k", 60); n != 40 {
		t.Errorf("with the right CA %d passed of a burst of 40", n)
	}
	tidyServer(t, r.Redis, poolSize)
}

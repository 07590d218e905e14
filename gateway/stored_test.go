package gateway

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// onRedis is a fleet on r that is stopped with the test.
func onRedis(t testing.TB, r *redistest.Redis, c Config) *Fleet {
	t.Helper()
	c.Redis = r.Client(t)
	if !c.Design.shared() {
		c.Design = Central
	}
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, f) })
	return f
}

func stop(t testing.TB, f *Fleet) {
	t.Helper()
	if err := f.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}

// at once has every gateway decide one request of a key at the same time, and
// returns how many passed.
func atOnce(f *Fleet, key string, gateways int) (admitted int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	start := make(chan struct{})
	for i := range gateways {
		wg.Go(func() {
			<-start
			if askAt(f, i, key, f.now(), 1).OK {
				mu.Lock()
				admitted++
				mu.Unlock()
			}
		})
	}
	close(start)
	wg.Wait()
	return admitted
}

// scripts is how many script calls the server has run.
func scripts(t testing.TB, r *redistest.Redis) int {
	t.Helper()
	m := regexp.MustCompile(`cmdstat_evalsha:calls=(\d+)`).FindStringSubmatch(r.CLI("info", "commandstats"))
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestSimultaneousCallsOnFewTokens(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := Config{Gateways: 15, Limit: spec(t, "1/h,burst=5"), StoreTimeout: 10 * time.Second}
		if n := atOnce(onRedis(t, r, c), "right", 15); n != 5 {
			t.Errorf("the script let %d of 15 pass on 5 tokens", n)
		}
		c.Wrong.Race = 100 * time.Millisecond
		if n := atOnce(onRedis(t, r, c), "wrong", 15); n <= 5 {
			t.Errorf("reading and then writing let %d of 15 pass on 5 tokens, want more", n)
		}
	})
}

// A refusal is asked for once by each gateway, and again only when its wait is
// over.
func TestDenyCacheAnswersAFlood(t *testing.T) {
	r := redistest.Server(t)
	const gateways = 4
	f := onRedis(t, r, Config{Gateways: gateways, Design: DenyCache, Limit: spec(t, "1/h,burst=5"), StoreTimeout: 10 * time.Second})
	admitted := 0
	for i := range 2000 {
		v := askAt(f, i%gateways, "k", f.now(), 1)
		if v.OK {
			admitted++
		} else if v.RetryAfter < 59*time.Minute || v.Limit.Spec.Burst != 5 {
			t.Fatalf("request %d: %+v", i, v)
		}
	}
	if n := scripts(t, r); admitted != 5 || n > 5+gateways+1 { // one may be sent again: the script was unknown
		t.Errorf("%d admitted of 2000, by %d script calls, want 5 by at most %d", admitted, n, 5+gateways+1)
	}
	if got := f.Counts(0).Store.Calls; got != 5+gateways {
		t.Errorf("the books have %d calls", got)
	}
}

// Leases cut the store's calls and keep what passes within what the bucket
// gave.
func TestLeasesOnAHotKey(t *testing.T) {
	for _, design := range []Design{Leases, LeasesDenyCache} {
		t.Run(design.String(), func(t *testing.T) {
			r := redistest.Server(t)
			const gateways, burst, rate, each = 4, 2000, 1000, 15_000
			f := onRedis(t, r, Config{Gateways: gateways, Design: design, Limit: spec(t, "1000/s,burst=2000"), StoreTimeout: 10 * time.Second})
			begun := time.Now()
			var wg sync.WaitGroup
			var admitted [gateways]int
			for g := range gateways {
				wg.Go(func() {
					for range each {
						if askAt(f, g, "k", f.now(), 1).OK {
							admitted[g]++
						}
					}
				})
			}
			wg.Wait()
			took := time.Since(begun)
			all := 0
			for _, n := range admitted {
				all += n
			}
			calls := scripts(t, r)
			if calls*50 > gateways*each {
				t.Errorf("%d calls for %d requests, want at most one in 50", calls, gateways*each)
			}
			// Whoever has held tokens got them from the bucket.
			if bound := burst + int(took.Seconds()*rate) + 1; all > bound {
				t.Errorf("%d passed in %v, the bucket gave at most %d", all, took, bound)
			}
			if all < burst/2 {
				t.Errorf("%d passed, though the bucket had %d", all, burst)
			}
			// What is held goes back at the end.
			stop(t, f)
			left, _ := strconv.Atoi(r.CLI("exists", "rl:{k}:default"))
			if left != 1 {
				t.Error("there is no bucket")
			}
			again := onRedis(t, r, Config{Limit: spec(t, "1000/s,burst=2000"), StoreTimeout: 10 * time.Second})
			if v := askAt(again, 0, "k", again.now(), 1); all+int(v.Remaining) < burst-1 {
				t.Errorf("%d passed and %d are left of %d: tokens were lost", all, v.Remaining, burst)
			}
		})
	}
}

// Under each fail mode: what passes while the server is down, who decided, and
// how the fleet comes back.
func TestFailModes(t *testing.T) {
	for _, tt := range []struct {
		mode   limit.FailMode
		source Source
		least  int
		most   int // admitted of 400 by 4 gateways in less than the time of a token
	}{
		{limit.FailOpen, FromOpen, 400, 400},
		{limit.FailClosed, FromClosed, 0, 0},
		{limit.FailLocal, FromLocalShare, 4, 20}, // a quarter of the burst each
	} {
		t.Run(tt.mode.String(), func(t *testing.T) {
			r := redistest.Server(t)
			f := onRedis(t, r, Config{Gateways: 4, Limit: spec(t, "1/h,burst=20"), StoreTimeout: 2 * time.Second,
				OnFailure: tt.mode, Breaker: limit.BreakerRule{Failures: 3, Every: 20 * time.Millisecond}})
			if v := askAt(f, 0, "k", f.now(), 1); !v.OK || v.Source != FromStore {
				t.Fatalf("before: %+v", v)
			}
			r.Kill()
			admitted := 0
			for i := range 400 {
				v := askAt(f, i%4, "k", f.now(), 1)
				if v.Source != tt.source {
					t.Fatalf("request %d was decided by %v", i, v.Source)
				}
				if v.OK {
					admitted++
				} else if tt.mode == limit.FailClosed && (v.RetryAfter <= 0 || v.RetryAfter > 20*time.Millisecond) {
					t.Fatalf("closed says to come back in %v", v.RetryAfter)
				}
			}
			if admitted < tt.least || admitted > tt.most {
				t.Errorf("%d of 400 passed, want %d to %d", admitted, tt.least, tt.most)
			}
			if open := f.Counts(0).Store.OpenBreakers; open != 4 {
				t.Errorf("%d breakers are open", open)
			}
			r.Restart()
			for g := range 4 {
				until(t, "gateway asks the store again", func() bool {
					return askAt(f, g, "other", f.now(), 1).Source == FromStore
				})
			}
			if sn := f.Counts(0).Store; sn.OpenBreakers != 0 || sn.Openings < 4 {
				t.Errorf("afterwards %+v", sn)
			}
		})
	}
}

func until(t testing.TB, what string, met func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !met(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("not within 30s: ", what)
		}
	}
}

// A key that holds something else is one caller's trouble: its rule's fail mode
// decides, and nobody else is kept from the store.
func TestWrongTypeIsOneKeysTrouble(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		f := onRedis(t, r, Config{Limit: spec(t, "1/h,burst=2"), OnFailure: limit.FailClosed, StoreTimeout: 10 * time.Second})
		r.CLI("lpush", "rl:{bad}:default", "x")
		for range 20 {
			if v := askAt(f, 0, "bad", f.now(), 1); v.OK || v.Source != FromClosed {
				t.Fatalf("%+v", v)
			}
		}
		if v := askAt(f, 0, "good", f.now(), 1); v.Source != FromStore {
			t.Errorf("the neighbour was decided by %v", v.Source)
		}
	})
}

// A concurrency limit's slots come back when the answer is out.
func TestSlotsInRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		f := onRedis(t, r, Config{Gateways: 2, Limit: spec(t, "concurrency:limit=3"), StoreTimeout: 10 * time.Second})
		for round := range 3 {
			var held []*scratch
			for i := range 5 {
				s := new(scratch)
				g := f.gateways[i%2]
				set := g.current(f.now())
				hits := set.set.Match(nil, rules.Request{Key: "k"}, f.now())
				if g.decide(t.Context(), f.run.Load(), set, s, hits, f.now(), 1).OK {
					held = append(held, s)
				}
			}
			if len(held) != 3 {
				t.Fatalf("round %d: %d of 5 hold a slot", round, len(held))
			}
			for i, s := range held {
				f.gateways[i%2].release(f.run.Load(), s)
			}
		}
	})
}

// Two limits of one request: all or nothing in one call, and not in two.
func TestTwoLimitsInRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		c := Config{StoreTimeout: 10 * time.Second, Rules: set(t, `
version: 1
rules:
  - name: plan
    per: key
    limits: [{default: true, limit: "1/h,burst=20"}]
  - name: exports
    per: key
    limits: [{default: true, limit: "1/h,burst=1"}]
`)}
		for _, tt := range []struct {
			wrong Wrong
			left  int64
		}{{Wrong{}, 19}, {Wrong{TwoCalls: true}, 10}} {
			c.Wrong = tt.wrong
			key := fmt.Sprint("k", tt.left)
			f := onRedis(t, r, c)
			for range 10 {
				askAt(f, 0, key, f.now(), 1)
			}
			one := onRedis(t, r, Config{Limit: spec(t, "1/h,burst=20"), StoreTimeout: 10 * time.Second})
			one.newest.Load().limits[0].name = "plan"
			if v := askAt(one, 0, key, one.now(), 1); v.Source != FromStore || v.Remaining != tt.left-1 {
				t.Errorf("%+v: %v says %d are left of the plan's 20 after 10 exports of which one passed, want %d", tt.wrong, v.Source, v.Remaining+1, tt.left)
			}
			if by := f.Counts(0).Rules.ByRule; len(by) != 2 || by[0].Rule != "exports" || by[0].Refused != 9 {
				t.Errorf("%+v", by)
			}
		}
	})
}

func set(t testing.TB, text string) *rules.Set {
	t.Helper()
	s, err := rules.Parse([]byte(text), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A gateway that is one of twenty, each a process of its own, admits a
// twentieth when the store is gone, and leases blocks for a twentieth.
func TestShareOfAFleetOfProcesses(t *testing.T) {
	r := redistest.Mini(t)
	c := Config{Limit: spec(t, "1/h,burst=40"), OnFailure: limit.FailLocal, StoreTimeout: 10 * time.Second}
	r.Mini.SetError("ERR down")
	for fleet, want := range map[int]int{0: 40, 1: 40, 20: 2, 100: 1} {
		c.Fleet = fleet
		f, admitted := onRedis(t, r, c), 0
		for range 100 {
			if askAt(f, 0, "k", f.now(), 1).OK {
				admitted++
			}
		}
		if admitted != want {
			t.Errorf("one of %d admits %d of a burst of 40, want %d", fleet, admitted, want)
		}
	}
	c.Limit, c.Design = spec(t, "1000/s,burst=2000"), Leases
	for fleet, want := range map[int]int64{1: 250, 5: 50, 20: 13} {
		c.Fleet = fleet
		if got := onRedis(t, r, c).newest.Load().limits[0].block.Block; got != want {
			t.Errorf("one of %d leases %d at a time, want %d", fleet, got, want)
		}
	}
	c.Gateways, c.Fleet = 3, 2
	c.Redis = r.Client(t)
	if _, err := New(c); err == nil {
		t.Error("a fleet of 2 has 3 gateways here")
	}
}

// Leases that would hold more than the burst are cautioned against.
func TestCaution(t *testing.T) {
	r := redistest.Mini(t)
	for _, tt := range []struct {
		limit  string
		design Design
		fleet  int
		want   string
	}{
		{"10/s,burst=20", Leases, 1, ""},
		{"10/s,burst=20", Leases, 2, "hold up to 24, "},
		{"10/s,burst=24", Leases, 2, ""},
		{"10/s,burst=20", DenyCache, 20, ""},
		{"1000/s,burst=2000", LeasesDenyCache, 20, ""},
	} {
		got := onRedis(t, r, Config{Limit: spec(t, tt.limit), Design: tt.design, Fleet: tt.fleet}).Caution()
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s by %v of %d: %q, want %q", tt.limit, tt.design, tt.fleet, got, tt.want)
		}
	}
}

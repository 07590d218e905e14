package gateway

import (
	"fmt"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// Twenty gateways, each flooded by callers of its own, admit the burst and not
// one more.
func TestCentralIsExactOverHTTP(t *testing.T) {
	t.Parallel()
	const gateways, burst = 20, 150
	for _, design := range []Design{Central, DenyCache} {
		r := redistest.Server(t)
		f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Design: design, Limit: spec(t, "1/h,burst=150"), StoreTimeout: patient})
		got := storm(t, f, "k", 2*gateways, 15)
		if got.status[200] != burst || got.status[429] != 2*gateways*15-burst {
			t.Errorf("%v: %v, want %d admitted", design, got, burst)
		}
		balanced(t, f.Counts(10))
		tidyServer(t, r, poolSize)
	}
}

// What gateways hold was taken from the bucket, so from its beginning a key gets
// no more than burst + rate × t. From any later time it may get beside that what
// gateways held by then: at most a block each and the fifth of one at which they
// ask for the next, gateways × 1.2 × block.
func TestLeasesKeepToTheirBlocks(t *testing.T) {
	t.Parallel()
	const gateways, burst, rate, block = 20, 300, 200, 10
	r := redistest.Server(t)
	conf := Config{Gateways: gateways, Design: Leases, Limit: spec(t, "200/s,burst=300"), StoreTimeout: patient}
	f := serving(t, redisconn.Options{URL: r.URL}, conf)
	for _, l := range f.newest.Load().limits {
		if l.block == nil || l.block.Block != block {
			t.Fatalf("blocks are %+v, not of %d", l.block, block)
		}
	}
	c := newCrowd(t, f)
	// Each gateway has spent one token of a block, and the bucket is full again.
	c.atOnce("k", 1)
	conf.Design = Central
	central := newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, conf))
	until(t, "the bucket is full", func() bool {
		v := askAt(central.f, 0, "k", central.f.now(), 0)
		return v.Source == FromStore && v.Remaining == burst
	})
	held := int(f.lent.grants.Load()*block-f.lent.returned.Load()) - gateways
	if held != gateways*(block-1) {
		t.Errorf("the gateways hold %d tokens, want %d", held, gateways*(block-1))
	}
	from := time.Now()
	for time.Since(from) < time.Second {
		c.atOnce("k", 10)
	}
	to := time.Now()
	sent, admitted := c.between("k", from, to)
	most := bound(burst, rate, to.Sub(from)) + gateways*block*12/10
	t.Logf("%d of %d passed in %v, at most %d; %d tokens were held before", admitted, sent, to.Sub(from), most, held)
	if admitted > most {
		t.Errorf("%d of %d passed in %v, want at most %d", admitted, sent, to.Sub(from), most)
	}
	if admitted < burst {
		t.Errorf("%d of %d passed of a full bucket of %d", admitted, sent, burst)
	}
	c.balanced()
	tidyServer(t, r, 2*poolSize)
}

// The store goes while gateways hold blocks. They spend these first, and their
// own shares less what they have spent: each lets through a block or its share,
// whichever is more. What they hold when the store has lost its data is not
// given back to it, or it is, and then to a bucket that is full.
func TestOutageWithLeases(t *testing.T) {
	t.Parallel()
	const gateways, burst, block = 20, 300, 10
	r := redistest.Server(t)
	f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Design: Leases, Limit: spec(t, "1/h,burst=300"),
		OnFailure: limit.FailLocal, StoreTimeout: patient, Breaker: quick})
	c := newCrowd(t, f)
	c.atOnce("k", 1)
	if n := f.lent.grants.Load(); n != gateways {
		t.Fatalf("%d blocks were granted, want one for each gateway", n)
	}
	r.Kill()
	c.atOnce("k", 30)
	sent, admitted := c.between("k", time.Time{}, time.Now())
	most := gateways * max(block, max(1, burst/gateways))
	t.Logf("%d of %d passed, at most %d", admitted, sent, most)
	if admitted > most || admitted < gateways*block {
		t.Errorf("%d of %d passed, want %d to %d", admitted, sent, gateways*block, most)
	}
	r.Restart()
	until(t, "all gateways ask the store again", func() bool { c.atOnce("other", 1); return openBreakers(f) == 0 })
	c.atOnce("k", 30)
	if _, again := c.between("k", time.Time{}, time.Now()); again-admitted > burst {
		t.Errorf("%d more passed of a bucket that began anew, want at most %d", again-admitted, burst)
	}
	c.balanced()
	tidyServer(t, r, poolSize)
}

// A plan goes from 10/s, burst 20 to 20/s, burst 40 over twenty gateways, in
// two seconds here, while a key storms at 400/s. With one bucket, whichever
// gateway decides, it gets while that lasts
//
//	at least 10 × t, at most 20 × t, and the token that may be there
//
// With the version in the bucket's name the new bucket begins full, 40, and both
// are used.
func TestPlanChangesDuringAStorm(t *testing.T) {
	t.Parallel()
	const gateways = 20
	rollout := span(2*time.Second, 10*time.Second)
	roll := func(t *testing.T, w Wrong) (admitted int, took time.Duration) {
		r := redistest.Server(t)
		f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Rules: versioned(t, 1, "10/s,burst=20"),
			Rollout: rollout, StoreTimeout: patient, Wrong: w, OnFailure: limit.FailClosed})
		c := newCrowd(t, f)
		c.send("k", 400, 0)
		until(t, "the bucket is empty", func() bool {
			n := f.Counts(0).Totals
			return n.Refused > 50
		})
		from := time.Now()
		if err := f.SetRules(versioned(t, 2, "20/s,burst=40")); err != nil {
			t.Fatal(err)
		}
		until(t, "all gateways have the new plan", func() bool { return f.Counts(0).Rules.Gateways == gateways })
		time.Sleep(100 * time.Millisecond) // for each to have been asked
		to := time.Now()
		c.balanced()
		_, admitted = c.between("k", from, to)
		tidyServer(t, r, poolSize)
		return admitted, to.Sub(from)
	}
	t.Run("one bucket", func(t *testing.T) {
		t.Parallel()
		n, took := roll(t, Wrong{})
		least, most := int(10*(took-500*time.Millisecond).Seconds()), bound(1, 20, took)
		t.Logf("%d passed in %v, computed %d to %d", n, took, least, most)
		if n < least || n > most {
			t.Errorf("%d passed in %v, want %d to %d", n, took, least, most)
		}
	})
	t.Run("version in the key", func(t *testing.T) {
		t.Parallel()
		n, took := roll(t, Wrong{VersionInKey: true})
		right := bound(1, 20, took)
		t.Logf("%d passed in %v, where one bucket gives at most %d", n, took, right)
		if n <= right {
			t.Errorf("%d passed in %v, which one bucket gives too: %d", n, took, right)
		}
	})
}

// Fifteen callers at once, each at a gateway of its own, on five tokens.
func TestFifteenCallersOverHTTP(t *testing.T) {
	t.Parallel()
	r := redistest.Server(t)
	for _, tt := range []struct {
		wrong       Wrong
		least, most int64
	}{{Wrong{}, 5, 5}, {Wrong{Race: 200 * time.Millisecond}, 6, 15}} {
		c := newCrowd(t, serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: 15, Limit: spec(t, "1/h,burst=5"), StoreTimeout: patient, Wrong: tt.wrong}))
		key := fmt.Sprint("k-", tt.least)
		c.atOnce(key, 1)
		if n := c.f.Counts(0).Totals.Admitted; n < tt.least || n > tt.most {
			t.Errorf("%+v: %d of 15 passed, want %d to %d", tt.wrong, n, tt.least, tt.most)
		}
		c.balanced()
	}
}

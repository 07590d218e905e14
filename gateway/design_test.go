package gateway

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-cli/weir/limit"
)

func TestDesignsAreReadAndShown(t *testing.T) {
	for _, d := range Designs() {
		if got, err := ParseDesign(d.String()); got != d || err != nil {
			t.Errorf("%v: %v, %v", d, got, err)
		}
	}
	for text, want := range map[string]Design{
		"deny-cache,leases": LeasesDenyCache, "central,deny-cache": DenyCache, "central,leases=batch": LeasesBatch,
		"deny-cache,leases=batch": LeasesBatchDenyCache, "leases,central,deny-cache": LeasesDenyCache,
	} {
		if got, err := ParseDesign(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "local,leases", "sticky,deny-cache", "leases,best", "central,"} {
		if d, err := ParseDesign(text); err == nil {
			t.Errorf("%q is %v", text, d)
		}
	}
}

// flooded puts a fleet of a design and a limit under requests of one key, evenly
// over its gateways, in virtual time in which answers of the store take none.
func flooded(t *testing.T, design Design, gateways int, text string, perSecond, seconds int64) (admitted, calls int64) {
	synctest.Test(t, func(t *testing.T) {
		f, err := New(Config{Gateways: gateways, Design: design, Limit: spec(t, text), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for i := range seconds * perSecond {
			if askAt(f, int(i)%gateways, "k", f.now(), 1).OK {
				admitted++
			}
			f.background.wait()
			time.Sleep(time.Second / time.Duration(perSecond))
		}
		calls = f.Counts(0).Store.Calls
	})
	return admitted, calls
}

// In memory too, gateways answer refusals again by themselves and spend what
// they hold.
func TestDesignsOnOneStoreInMemory(t *testing.T) {
	const seconds, perSecond, gateways = 10, 20_000, 4
	for _, tt := range []struct {
		design Design
		saved  int64 // at most one call to the store in so many requests
	}{
		{Central, 1},
		{DenyCache, 2},
		{Leases, 50},
		{LeasesBatch, 150},
	} {
		t.Run(tt.design.String(), func(t *testing.T) {
			admitted, calls := flooded(t, tt.design, gateways, "1000/s,burst=2000", perSecond, seconds)
			if calls*tt.saved > seconds*perSecond {
				t.Errorf("%d calls for %d requests, want one in %d at most", calls, seconds*perSecond, tt.saved)
			}
			if bound := int64(2000 + 1000*seconds); admitted > bound || admitted < bound*8/10 {
				t.Errorf("%d passed, the bucket gives %d", admitted, bound)
			}
		})
	}
}

// Where the blocks of all gateways do not fit into the bucket, or a batch is one
// token, the rate still gets through, and a flood does not reach the store: who
// is told that there is nothing keeps away, but comes back before tokens go to
// waste.
func TestLeasesOfASmallBucketKeepItsRate(t *testing.T) {
	const seconds = 60
	for _, tt := range []struct {
		design              Design
		rate                int64 // a second, with a burst of 20
		gateways, perSecond int64
		calls               int64 // the most in a second
	}{
		{Leases, 10, 20, 400, 20}, // the bucket is full after two seconds
		{LeasesBatch, 10, 20, 400, 11 * 20},
		{LeasesBatch, 1000, 4, 8000, 4 * 100}, // and here after 20 ms
	} {
		t.Run(fmt.Sprintf("%v of %d/s", tt.design, tt.rate), func(t *testing.T) {
			admitted, calls := flooded(t, tt.design, int(tt.gateways), fmt.Sprintf("%d/s,burst=20", tt.rate), tt.perSecond, seconds)
			if bound := 20 + tt.rate*seconds; admitted > bound || admitted < bound*8/10 {
				t.Errorf("%d passed, the bucket gives %d", admitted, bound)
			}
			if calls > tt.calls*seconds {
				t.Errorf("%d calls in %d s", calls, seconds)
			}
		})
	}
}

// Unspent tokens of a lease come back when its life is over, and at the end.
func TestLeasesGiveBack(t *testing.T) {
	f, err := New(Config{Gateways: 2, Design: Leases, Limit: spec(t, "1/h,burst=40")})
	if err != nil {
		t.Fatal(err)
	}
	left := func(now int64) int64 {
		b := f.run.Load().backends[0].(*inProcess).banks[0]
		return b.take1(&hitState{ready: f.newest.Load().limits[0], Subject: "k"}, now).Remaining
	}
	now := f.now()
	for g := range 2 {
		if v := askAt(f, g, "k", now, 1); !v.OK || v.Source != FromLease {
			t.Fatalf("gateway %d: %+v", g+1, v)
		}
	}
	f.background.wait()
	if n := left(now); n != 20 {
		t.Errorf("%d are left of 40 after two blocks of 10", n)
	}
	for _, g := range f.gateways {
		g.tidy(f.run.Load(), now+int64(blockLife)/2, false)
	}
	f.background.wait()
	if n := left(now); n != 20 {
		t.Errorf("%d are left while the leases live", n)
	}
	// The first outlives its lease, the second gateway stops.
	f.gateways[0].tidy(f.run.Load(), f.now()+int64(blockLife)+1, false)
	f.gateways[1].tidy(f.run.Load(), f.now(), true)
	f.background.wait()
	if n := left(f.now()); n != 38 {
		t.Errorf("%d are left of 40 after two admitted requests", n)
	}
}

// A request that another of its limits refuses costs nothing where it was
// admitted, wherever that was.
func TestAllOrNothingInMemory(t *testing.T) {
	rulesText := `
version: 1
rules:
  - name: plan
    per: key
    lease: on
    limits: [{default: true, limit: "1/h,burst=40"}]
  - name: window
    per: key
    limits: [{default: true, limit: "fixed-window:limit=30,window=1h"}]
  - name: exports
    per: key
    limits: [{default: true, limit: "gcra:rate=1/h,burst=3"}]
`
	for _, design := range []Design{Local, Sticky, Central, DenyCache, Leases, LeasesBatch} {
		t.Run(design.String(), func(t *testing.T) {
			f, err := New(Config{Gateways: 1, Design: design, Rules: set(t, rulesText)})
			if err != nil {
				t.Fatal(err)
			}
			now, admitted := f.now(), 0
			for range 20 {
				if v := askAt(f, 0, "k", now, 1); v.OK {
					admitted++
				} else if v.By.Name != "exports" {
					t.Fatalf("%s refused", v.By.Name)
				}
				f.background.wait()
			}
			for _, g := range f.gateways {
				g.tidy(f.run.Load(), now, true)
			}
			f.background.wait()
			if admitted != 3 {
				t.Errorf("%d passed", admitted)
			}
			for i, want := range []int64{37, 27, 0} {
				l := f.newest.Load().limits[i]
				b := f.run.Load().backends[0].(*inProcess)
				p := hitState{ready: l, Subject: "k"}
				if d := b.bank(&p).take1(&p, now); d.Remaining != want {
					t.Errorf("%s has %d left, want %d", l.name, d.Remaining, want)
				}
			}
		})
	}
}

// The bank decides random requests under several limits as each limiter does
// on its own state, all or nothing.
func TestBankDecidesAsTheLimiters(t *testing.T) {
	texts := []string{"3/s,burst=7", "gcra:rate=5/s,burst=9", "fixed-window:limit=8,window=1s", "sliding-log:limit=6,window=1s",
		"sliding-counter:limit=9,window=1s", "leaky-meter:rate=4/s,burst=6", "leaky-queue:rate=5/s,queue=4"}
	var limits []*readyLimit
	for _, text := range texts {
		l := limiter(t, text)
		limits = append(limits, &readyLimit{name: text, spec: l.Spec(), limiter: l})
	}
	r := rand.New(rand.NewPCG(1, 2))
	banks := []*bank{newBank(1000, 0, bankSlack), newBank(1000, 1, bankSlack)}
	states := map[*readyLimit]*limit.State{}
	now, admitted := int64(1e18), 0
	for i := range 20_000 {
		now += r.Int64N(int64(200 * time.Millisecond))
		var parts []hitState
		want := true
		for _, l := range limits {
			if r.IntN(3) > 0 {
				continue
			}
			parts = append(parts, hitState{ready: l, Subject: "k", Cost: 1 + r.Int64N(4)})
			if states[l] == nil {
				states[l] = new(limit.State)
			}
			s := states[l].Clone()
			want = want && l.limiter.Take(&s, now, parts[len(parts)-1].Cost).OK
		}
		if len(parts) < 2 {
			continue
		}
		takeAll(parts, now, func(p *hitState) *bank { return banks[len(p.ready.name)%2] })
		if got := !short(parts); got != want {
			t.Fatalf("request %d: %v, want %v", i, got, want)
		}
		if want {
			admitted++
			for j := range parts {
				if d := parts[j].ready.limiter.Take(states[parts[j].ready], now, parts[j].Cost); d != parts[j].Decision {
					t.Fatalf("request %d: %s says %+v, want %+v", i, parts[j].ready.name, parts[j].Decision, d)
				}
			}
		}
	}
	if admitted < 1000 {
		t.Errorf("only %d passed", admitted)
	}
}

// A flood of keys cannot grow a bank, and gets nobody more than the limit.
func TestBankIsBounded(t *testing.T) {
	l := limiter(t, "1/h,burst=2")
	ready := &readyLimit{name: "r", spec: l.Spec(), limiter: l}
	b := newBank(500, 0, bankSlack)
	r := rand.New(rand.NewPCG(3, 4))
	admitted, now := 0, int64(1e18)
	for range 20_000 {
		p := hitState{ready: ready, Subject: string(rune('a'+r.IntN(26))) + time.Duration(r.Int64N(5000)).String(), Cost: 1}
		if b.take1(&p, now).OK {
			admitted++
		}
	}
	if most := 2 * (500 + bankShards); b.n.Load() > 500 || admitted > most {
		t.Errorf("%d accounts, %d admitted of at most %d", b.n.Load(), admitted, most)
	}
	// When their time is over there is room again.
	now += int64(3 * time.Hour)
	for range 20_000 {
		p := hitState{ready: ready, Subject: "new" + time.Duration(r.Int64N(400)).String(), Cost: 1}
		b.take1(&p, now)
	}
	mine := hitState{ready: ready, Subject: "mine", Cost: 2}
	if !b.take1(&mine, now).OK {
		t.Error("a new key shares a used-up account though there is room")
	}
}

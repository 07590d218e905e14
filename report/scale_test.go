package report

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestMillionKeysAndClientsFit bounds the heap that a million of each take.
func TestMillionKeysAndClientsFit(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 200 MB")
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	c := NewCollector(Setup{Promise: tenPerSecond})
	const n = 1_000_000
	for i := range 3 * n {
		e := Event{Due: int64(i) * 1000, Sent: int64(i) * 1000, First: int64(i)*1000 + 5e7, Done: int64(i)*1000 + 5e7, Has: HasFirst,
			Client: uint32(i % n), Key: uint32(i % n), Cost: 1, Attempt: 1, Wait: -1, Status: 200, Verdict: Admitted}
		c.add(&e)
	}
	used := float64(heap()-before) / n
	t.Logf("%.0f bytes for a key and a client", used)
	if used > 300 {
		t.Errorf("a key and a client take %.0f bytes, more than 300", used)
	}
	r := c.Finish(Meta{})
	if len(r.PerKey) != defaultRows+1 || r.PerKey[defaultRows].Keys != n-defaultRows || r.Bound.KeysJudged != n {
		t.Errorf("%d rows, the last for %d keys; %d judged", len(r.PerKey), r.PerKey[len(r.PerKey)-1].Keys, r.Bound.KeysJudged)
	}
	var offered int64
	for _, k := range r.PerKey {
		offered += k.Offered
	}
	if offered != 3*n || !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "100 worst") }) {
		t.Errorf("rows sum to %d; notes %q", offered, r.Notes)
	}
}

// TestCorrectLimitersAreNeverAccused: whatever the network does to the stamps,
// a trace that a limiter with the promise made shows no excess.
func TestCorrectLimitersAreNeverAccused(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 300 {
		rate, burst := r.Int64N(50)+1, r.Int64N(30)+1
		p := &Promise{Text: "p", Units: rate, Per: sec, Burst: burst}
		g := bucket(rate, burst)
		if round%3 == 2 {
			p = &Promise{Text: "p", Limit: burst, Window: sec}
			g = slidingLog(burst, sec)
		}
		jitter := r.Int64N(3*sec) + 1
		c := NewCollector(Setup{Promise: p})
		shards := []*Shard{c.Shard(), c.Shard(), c.Shard()}
		var evs []Event
		var now int64
		admitted := 0
		for range 400 {
			now += r.Int64N(sec / rate)
			ok, _ := g(now)
			e := Event{Due: now - r.Int64N(jitter), Cost: 1, Has: HasFirst, Verdict: Refused}
			e.Sent = e.Due
			e.First = now + r.Int64N(jitter)
			e.Done = e.First + r.Int64N(jitter)
			if ok {
				e.Verdict = Admitted
				admitted++
			}
			evs = append(evs, e)
		}
		if round%2 == 0 {
			slices.SortFunc(evs, func(a, b Event) int { return int(a.Done - b.Done) })
		} // else recorded out of order, as a careless engine might
		for i := range evs {
			shards[r.IntN(3)].Record(&evs[i])
			if i%50 == 0 {
				c.Merge(evs[i].Done)
			}
		}
		res := c.Finish(Meta{})
		if res.Verdict != Held || res.Bound.WorstExcess > 0 || res.Bound.Admitted != int64(admitted) {
			t.Fatalf("round %d: %s, excess %v, %d of %d admitted", round, res.Verdict, res.Bound.WorstExcess, res.Bound.Admitted, admitted)
		}
	}
}

// slidingLog admits limit in any half-open window.
func slidingLog(limit, window int64) gate {
	var log []int64
	return func(now int64) (bool, int64) {
		for len(log) > 0 && log[0] <= now-window {
			log = log[1:]
		}
		if int64(len(log)) >= limit {
			return false, log[0] + window - now
		}
		log = append(log, now)
		return true, 0
	}
}

// TestOneTooManyIsFound: with single-instant decisions the check is exact, so
// one admission above the promise is enough.
func TestOneTooManyIsFound(t *testing.T) {
	for _, c := range []struct {
		name    string
		promise *Promise
		times   []int64 // ms
		excess  float64
	}{
		{"burst plus one at once", &Promise{Units: 1, Per: sec, Burst: 3}, []int64{0, 0, 0, 0}, 1},
		{"exactly the burst, then exactly the rate", &Promise{Units: 1, Per: sec, Burst: 3}, []int64{0, 0, 0, 1000, 2000, 3000}, 0},
		{"the last one a millisecond early", &Promise{Units: 1, Per: sec, Burst: 3}, []int64{0, 0, 0, 1000, 1999}, 0.001},
		{"after a long rest", &Promise{Units: 1, Per: sec, Burst: 1}, []int64{0, 9000, 9500}, 0.5},
		{"window: the last instant still inside", &Promise{Limit: 2, Window: sec}, []int64{0, 500, 999}, 1},
		{"window: half-open, so one window later is outside", &Promise{Limit: 2, Window: sec}, []int64{0, 500, 1000, 1500}, 0},
		{"a rate beyond 64 bits of product", &Promise{Units: 1<<62 - 1, Per: 1<<62 - 57, Burst: 1}, []int64{0, 0}, 1},
	} {
		var evs []Event
		for _, ms := range c.times {
			evs = append(evs, at(float64(ms), float64(ms), Admitted))
		}
		r := run(Setup{Promise: c.promise}, evs)
		if r.Bound.WorstExcess != c.excess || (r.Verdict == Broken) != (c.excess > 0) {
			t.Errorf("%s: excess %v (%s), want %v", c.name, r.Bound.WorstExcess, r.Verdict, c.excess)
		}
	}
}

// TestWindowLogCoarsensSoundly: with no room to grow the maxima may only fall.
func TestWindowLogCoarsensSoundly(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 200 {
		as := randomTrace(r, 300, r.Int64N(500)+1)
		exact, tight := newWindowLog([]int64{100, 2000}), newWindowLog([]int64{100, 2000})
		room, none := int64(1<<20), int64(0)
		for _, a := range as {
			exact.add(a.sent, a.first, a.cost, &room)
			tight.add(a.sent, a.first, a.cost, &none)
		}
		for i := range exact.wins {
			e, c := exact.wins[i].best, tight.wins[i].best
			if c > e || c == 0 {
				t.Fatalf("coarse maximum %d, exact %d", c, e)
			}
		}
		if len(tight.ring) > 8 {
			t.Fatalf("ring of %d without room", len(tight.ring))
		}
	}
}

func TestRecordDoesNotAllocate(t *testing.T) {
	c := NewCollector(Setup{Promise: tenPerSecond})
	s := c.Shard()
	e := at(0, 1, Admitted)
	round := func() {
		for range 4000 {
			s.Record(&e)
		}
		c.drain(0)
	}
	round()
	if n := testing.AllocsPerRun(20, round); n > 0 {
		t.Errorf("%v allocations in 4,000 events", n)
	}
}

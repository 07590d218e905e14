package sim

import (
	"context"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// figures runs a scenario and returns what it reports.
func figures(t *testing.T, name string, sets ...string) map[string]float64 {
	t.Helper()
	s, err := Open(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return ran(t, s.Params)
}

// ran runs parameters and returns what they report.
func ran(t *testing.T, p Params) map[string]float64 {
	t.Helper()
	var o Outcome
	if err := p.Run(context.Background(), &o); err != nil {
		t.Fatal(err)
	}
	m := map[string]float64{}
	for _, f := range o.Figures {
		m[f.Name] = f.Value
	}
	return m
}

// want compares some figures.
func want(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || g != v {
			t.Errorf("%s is %v (reported: %v), want %v", name, g, ok, v)
		}
	}
}

type fig = map[string]float64

// Rate 10 a second, burst 20, 20 gateways, 400 a second for two minutes. The
// figures beside the reasoned ones come from a separate model that keeps every
// call in a list and every amount as a fraction.
func TestTraceFigures(t *testing.T) {
	tests := []struct {
		why  string
		name string
		sets []string
		want fig
	}{
		{"20 buckets of 20, and 10 a second in each: nearly 20 times the limit",
			"freshbox/local-counters", nil, fig{"admitted_in_storm": 24380, "max_in_1s": 400, "normal_admitted": 599}},
		{"20 at once, and 10 a second for 120 s less the last instant",
			"freshbox/central-bucket", nil, fig{"admitted_in_storm": 1219, "storm_second_most_admitted": 29, "max_in_1s": 29, "max_in_60s": 619, "calls": 48615, "admitted_in_storm_first_1_5s": 34}},
		{"the same limit told in another way decides every call alike",
			"freshbox/gcra", nil, fig{"decisions_equal_to_bucket": 48615, "decisions_different_from_bucket": 0}},
		{"300 normal calls and a page before an edge, a full window after it",
			"freshbox/fixed-window-60s", nil, fig{"max_in_60s": 907, "admitted_in_storm": 1200, "storm_retry_after_longest_s": 59}},
		{"exact for any window", "freshbox/sliding-log", nil, fig{"max_in_60s": 600, "admitted_in_storm": 1200}},
		{"", "freshbox/sliding-counter", nil, fig{"max_in_60s": 607, "admitted_in_storm": 1198}},
		{"", "freshbox/fixed-window-1s", nil, fig{"max_in_1s": 14, "page_load_admitted": 9}},
		{"one call goes at once and 20 wait, the last of them 2 s",
			"freshbox/leaky-queue", nil, fig{"released_in_storm": 1200, "storm_longest_queue_wait_s": 2, "page_load_last_wait_s": 1.4}},
		{"a page of 15 finds 1 token in each of 10 gateways, since the others are as empty",
			"freshbox/exact-shares", nil, fig{"admitted_in_storm": 1200, "page_load_admitted": 10, "storm_refused_retry_after_2s": 22800}},
		{"half a token a second is all that one gateway has",
			"freshbox/exact-shares-uneven", nil, fig{"admitted_in_storm": 60, "page_load_admitted": 0}},
		{"", "freshbox/exact-shares-uneven", []string{"spread_over=3"}, fig{"admitted_in_storm": 180, "storm_refused_retry_after_1s": 23880}},
		{"the new owner gives a full burst again, and its last token is under way",
			"freshbox/sticky", nil, fig{"admitted_in_storm": 1238, "owner_moves": 1, "admitted_more_than_bucket": 19}},
		{"every round of 20 calls refills what its one fast clock claims",
			"freshbox/fast-clock", []string{"clocks.6=50ms"}, fig{"admitted_in_storm": 2359, "max_in_1s": 39}},
		{"behind by D is the same as ahead by D for all others",
			"freshbox/fast-clock", []string{"clocks={6: -50ms}"}, fig{"admitted_in_storm": 2359, "max_in_1s": 39}},
		{"", "freshbox/fast-clock", nil, fig{"admitted_in_storm": 48000}},
		{"with every clock right it is the central bucket",
			"freshbox/fast-clock", []string{"clocks={}"}, fig{"admitted_in_storm": 1219}},
		{"40 accounts of 10 a second each are 400 a second",
			"freshbox/wrong-key", nil, fig{"admitted_in_storm": 48000}},
		{"who comes just before gets every token", "freshbox/shared-address", nil, fig{"neighbour_admitted_in_storm": 2400, "storm_admitted": 0}},
		{"who comes just after gets none", "freshbox/shared-address", []string{"neighbour_phase=1ms"}, fig{"neighbour_admitted_in_storm": 0, "storm_admitted": 2400}},
		{"", "freshbox/shared-address", []string{"neighbour=random", "seed=5"}, fig{"neighbour_admitted_in_storm": 74, "storm_admitted": 2327}},
		{"forgotten after 1 s it is full; remembered it has gained 12 in 1.2 s",
			"freshbox/expiry", nil, fig{"tokens_found_after_storm": 20, "bucket_tokens_found_after_storm": 13, "simultaneous_calls_after_storm": 20}},
		{"", "freshbox/expiry", []string{"ttl=60s"}, fig{"tokens_found_after_storm": 13, "admitted_more_than_bucket": 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { want(t, figures(t, tt.name, tt.sets...), tt.want) })
	}
}

// Any trace, through a bucket, against one that lists every call, sorts, and
// keeps amounts as fractions.
func TestTraceAgainstAList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		p := onekeyKind().New().(*oneKey)
		p.Length = Micros(20+r.Int64N(20)) * Second
		p.NormalRate = Rate{limit.Rate{Units: 1 + r.Int64N(20), Per: time.Duration(1+r.Int64N(3)) * time.Second}}
		p.PageLoadAt, p.PageLoadCalls, p.PageLoadSpacing = Micros(r.Int64N(1000))*10_000, r.Int64N(20), Micros(r.Int64N(3))*1000
		p.StormFrom, p.StormFor = Micros(r.Int64N(10))*Second, Micros(r.Int64N(10))*Second
		p.StormRate, p.Gateways = PerSecond(1+r.Int64N(300)), 1+r.Int64N(7)
		p.ResumeAfter = Micros(r.Int64N(2)) * 700_000
		p.Rate = Rate{limit.Rate{Units: 1 + r.Int64N(30), Per: time.Duration(1+r.Int64N(7)) * time.Second}}
		p.Burst, p.Cost = 1+r.Int64N(30), 1
		p.Clocks = map[int64]Micros{0: Micros(r.Int64N(3)-1) * 50_000}
		if r.IntN(2) == 0 {
			p.Design = local
		}
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
		var o Outcome
		if err := p.Run(context.Background(), &o); err != nil {
			t.Fatal(err)
		}
		got := fig{}
		for _, f := range o.Figures {
			got[f.Name] = f.Value
		}
		want(t, got, naive(p))
		if t.Failed() {
			t.Fatalf("%+v", p)
		}
	}
}

// naive is the same run without any of the shortcuts.
func naive(p *oneKey) fig {
	type one struct {
		at   Micros
		kind callKind
		n    int64
	}
	var calls []one
	every := func(kind callKind, from, until Micros, r Rate) {
		for i := int64(0); ; i++ {
			at := from + Micros(i*int64(r.Per)/(r.Units*1000))
			if at >= until {
				return
			}
			calls = append(calls, one{at, kind, i})
		}
	}
	every(normalCall, 0, p.StormFrom, p.NormalRate)
	every(normalCall, p.stormEnd()+p.ResumeAfter, p.Length, p.NormalRate)
	for i := range p.PageLoadCalls {
		calls = append(calls, one{p.PageLoadAt + Micros(i)*p.PageLoadSpacing, pageCall, i})
	}
	every(stormCall, p.StormFrom, p.stormEnd(), p.StormRate)
	slices.SortStableFunc(calls, func(a, b one) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return int(a.kind) - int(b.kind)
	})
	type bucket struct {
		tokens *big.Rat
		last   Micros
	}
	buckets := make([]bucket, p.Gateways)
	rate := big.NewRat(p.Rate.Units*1000, int64(p.Rate.Per)) // tokens a microsecond
	out := fig{"calls": float64(len(calls))}
	others := int64(0)
	var passed []Micros
	for _, c := range calls {
		g := c.n % p.Gateways
		if c.kind != stormCall {
			g = others % p.Gateways
			others++
		}
		now := c.at + p.Clocks[g]
		b := &buckets[0]
		if p.Design == local {
			b = &buckets[g]
		}
		full := big.NewRat(p.Burst, 1)
		tokens := full
		if b.tokens != nil {
			tokens = new(big.Rat).Mul(rate, big.NewRat(int64(max(0, now-b.last)), 1))
			if tokens.Add(tokens, b.tokens); tokens.Cmp(full) > 0 {
				tokens = full
			}
		}
		if tokens.Cmp(big.NewRat(1, 1)) >= 0 {
			tokens = new(big.Rat).Sub(tokens, big.NewRat(1, 1))
			passed = append(passed, c.at)
			if c.at >= p.StormFrom && c.at < p.stormEnd() {
				out["admitted_in_storm"]++
			}
		}
		*b = bucket{tokens, now}
	}
	out["admitted"] = float64(len(passed))
	for i, from := range passed {
		n := 0
		for _, at := range passed[i:] {
			if at < from+Second {
				n++
			}
		}
		out["max_in_1s"] = max(out["max_in_1s"], float64(n))
	}
	return out
}

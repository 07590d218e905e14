package sim

import (
	"context"
	"errors"
	"maps"
	"testing"
)

// figuresOf runs a scenario of the library and checks that each of its kind's
// figures is there and no other.
func figuresOf(t *testing.T, name string, sets ...string) map[string]float64 {
	t.Helper()
	got := figures(t, name, sets...)
	s, err := Open(name, sets...)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Kind.Figures {
		if _, ok := got[f.Name]; !ok {
			t.Errorf("%s: figure %s is documented and not reported", name, f.Name)
		}
	}
	if len(got) != len(s.Kind.Figures) {
		t.Errorf("%s: %d figures are reported, %d are documented", name, len(got), len(s.Kind.Figures))
	}
	return got
}

// expect compares some of the figures.
func expect(t *testing.T, got, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if got[name] != v {
			t.Errorf("%s is %v, want %v", name, got[name], v)
		}
	}
}

// The first two rows were computed by a program of its own in Python, which
// draws the same random numbers. In the third nobody is ever short: 500/s of
// 10,000/s, so that the only refusals are each gateway's requests before its
// first block comes, 1 ms or no further request after the first; and blocks
// are asked for as tokens are spent.
func TestHotKeyFigures(t *testing.T) {
	tests := []struct {
		sets []string
		want map[string]float64
	}{
		{nil, map[string]float64{
			"requests": 6_000_000, "block": 125, "lease_calls": 8885, "lease_grants": 4959, "lease_denials": 3926, "admitted": 619_761,
			"max_in_1s": 29_758, "tokens_held_at_end": 114, "largest_excess": 1156.9, "excess_within_bound_holds": 1, "largest_excess_bound": 3000, "bound": 620_000,
		}},
		{
			[]string{"seed=7", "gateways=13", "rate=7000/s", "requests=40000/s", "burst=9000", "duration=20s"},
			map[string]float64{
				"block": 135, "lease_calls": 1891, "lease_grants": 1103, "admitted": 148_684,
				"max_in_1s": 15_631, "tokens_held_at_end": 221, "largest_excess": 952.275, "excess_within_bound_holds": 1,
			},
		},
		{
			[]string{"requests=500/s", "duration=8s"},
			map[string]float64{"requests": 4000, "admitted": 3980, "refused": 20, "lease_denials": 0, "lease_calls": 40, "tokens_held_at_end": 40*125 - 3980},
		},
	}
	for _, tt := range tests {
		expect(t, figuresOf(t, "freshbox/hot-key-leases", tt.sets...), tt.want)
	}
}

// The three properties hold for any parameters.
func TestHotKeyProperties(t *testing.T) {
	for _, sets := range [][]string{
		{"duration=4s", "seed=3"},
		{"duration=4s", "rate=1000/3s", "burst=50", "block_time=1s"},
		{"duration=4s", "gateways=1", "round_trip=0s"},
		{"duration=4s", "gateways=333", "burst=10", "renew_percent=100"},
		{"duration=4s", "expiry=20ms", "requests=3000/s", "rate=2000/s"},
		{"duration=4s", "expiry=20ms", "requests=3000/s", "rate=2000/s", "give_back=false"},
		{"duration=4s", "requests=2500000/s", "rate=2M/s", "burst=1M", "round_trip=7ms"},
	} {
		got := figuresOf(t, "freshbox/hot-key-leases", append(sets, "excess_after=0s")...)
		for _, name := range []string{"admitted_is_granted_less_held_holds", "admitted_within_bound_holds"} {
			if got[name] != 1 {
				t.Errorf("%v: %s is %v; %v", sets, name, got[name], got)
			}
		}
	}
}

func TestHotKeyExpiry(t *testing.T) {
	sets := []string{"duration=4s", "expiry=20ms", "requests=3000/s", "rate=2000/s"}
	back := figuresOf(t, "freshbox/hot-key-leases", sets...)
	gone := figuresOf(t, "freshbox/hot-key-leases", append(sets, "give_back=false")...)
	if back["tokens_given_back"] == 0 || back["tokens_expired"] != 0 || gone["tokens_expired"] == 0 || gone["tokens_given_back"] != 0 {
		t.Errorf("given back %v and %v, expired %v and %v", back["tokens_given_back"], gone["tokens_given_back"], back["tokens_expired"], gone["tokens_expired"])
	}
	if back["admitted"] < gone["admitted"] {
		t.Errorf("giving back admits %v, dropping %v", back["admitted"], gone["admitted"])
	}
}

func TestHotKeySeed(t *testing.T) {
	a := figuresOf(t, "freshbox/hot-key-leases", "duration=5s")
	if b := figuresOf(t, "freshbox/hot-key-leases", "duration=5s"); !maps.Equal(a, b) {
		t.Error("the same seed gives other figures")
	}
	if b := figuresOf(t, "freshbox/hot-key-leases", "duration=5s", "seed=2"); a["admitted"] == b["admitted"] && a["largest_excess"] == b["largest_excess"] {
		t.Error("another seed gives the same figures")
	}
}

// A run that is stopped reports what it has.
func TestLeaseRunsCanBeStopped(t *testing.T) {
	for _, name := range []string{"leases/hot-key", "leases/refusal-cache", "fleet/scale"} {
		s, err := Open(name, "duration=100s", "requests=1M/s")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(context.Background())
		last, calls := -1.0, 0
		o := Outcome{Progress: func(part float64) {
			if part <= last || part > 1 {
				t.Errorf("%s: progress goes from %v to %v", name, last, part)
			}
			last = part
			if calls++; calls == 2 {
				stop()
			}
		}}
		if err := s.Run(ctx, &o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
		if o.Figures[0].Name != "requests" || o.Figures[0].Value <= 0 || o.Figures[0].Value >= 1e8 {
			t.Errorf("%s: %v", name, o.Figures[0])
		}
	}
}

func TestLeaseParametersThatMakeNoSense(t *testing.T) {
	for _, tt := range []struct{ name, set string }{
		{"leases/hot-key", "gateways=0"}, {"leases/hot-key", "gateways=2M"}, {"leases/hot-key", "burst=124"},
		{"leases/hot-key", "burst=0"}, {"leases/hot-key", "renew_percent=101"}, {"leases/hot-key", "jitter=-1s"},
		{"leases/hot-key", "duration=0s"}, {"leases/hot-key", "duration=100000h"}, {"leases/hot-key", "block_least=0"},
		{"leases/hot-key", "requests=2000M/s"}, {"leases/hot-key", "rate=1/1000000001ns"}, {"leases/hot-key", "burst=1000000000000000"},
		{"leases/refusal-cache", "burst=0"}, {"leases/refusal-cache", "life=0s"}, {"leases/refusal-cache", "skip_after=0"},
		{"leases/refusal-cache", "also=[{rate: 5/s}]"}, {"leases/refusal-cache", "also=[{burst: 5}]"}, {"leases/refusal-cache", "outage.for=-1s"}, {"leases/refusal-cache", "shard_capacity=0"},
		{"fleet/scale", "gateways=70000"}, {"fleet/scale", "shards=0"}, {"fleet/scale", "shards=5000"}, {"fleet/scale", "keys=0"}, {"fleet/scale", "keys=100M"},
		{"fleet/scale", "zipf=-1"}, {"fleet/scale", "tiers=[]"}, {"fleet/scale", "tiers[0].keys=0"}, {"fleet/scale", "tiers[1].burst=0"},
		{"fleet/scale", "duration=8000h"}, {"fleet/scale", "shard_capacity=0"}, {"fleet/scale", "life=0s"},
	} {
		if _, err := Open(tt.name, tt.set); err == nil {
			t.Errorf("%s takes %s", tt.name, tt.set)
		}
	}
}

func BenchmarkHotKey(b *testing.B) {
	s, err := Open("leases/hot-key", "duration=5s")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		var o Outcome
		if err := s.Run(context.Background(), &o); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(5e5*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}

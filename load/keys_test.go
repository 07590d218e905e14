package load

import (
	"math"
	"testing"
	"time"

	"github.com/weir-cli/weir/profiles"
)

func TestZipfMatchesTheory(t *testing.T) {
	for _, tt := range []struct {
		n uint64
		s float64
	}{{1, 1}, {2, 0.5}, {10, 0.01}, {10, 1}, {100, 0.7}, {1000, 1}, {1000, 1.3}, {1000, 2.5}, {1_000_000, 1}, {1_000_000, 0.99}} {
		z := newZipf(tt.n, tt.s)
		const draws = 200_000
		// Ranks one by one to 10, then in ranges that double.
		bucket := func(k uint64) int {
			if k <= 10 {
				return int(k)
			}
			return 10 + int(math.Log2(float64(k)/10)) + 1
		}
		var got, share [64]float64
		total := 0.0
		for k := uint64(1); k <= tt.n; k++ {
			w := math.Pow(float64(k), -tt.s)
			share[bucket(k)] += w
			total += w
		}
		r := NewRand(1, 0, 0)
		for range draws {
			k := z.draw(&r)
			if k < 1 || k > tt.n {
				t.Fatalf("n=%d s=%g: rank %d", tt.n, tt.s, k)
			}
			got[bucket(k)]++
		}
		for b, w := range share {
			w *= draws / total
			// Five standard deviations of a count, and a call for the rare.
			if off := math.Abs(got[b] - w); off > 5*math.Sqrt(w)+1 {
				t.Errorf("n=%d s=%g: %.0f draws in range %d, theory says %.1f", tt.n, tt.s, got[b], b, w)
			}
		}
	}
}

func TestKeysOfEachKind(t *testing.T) {
	for _, tt := range []struct {
		keys    profiles.Keys
		clients int
		nkeys   int
		want    []string // of the first calls
	}{
		{profiles.Keys{Kind: profiles.OneKey}, 3, 1, []string{"k-1", "k-1", "k-1"}},
		{profiles.Keys{Kind: profiles.OneKey, Prefix: "x"}, 3, 1, []string{"x1", "x1"}},
		{profiles.Keys{Kind: profiles.KeyEach}, 3, 3, []string{"k-1", "k-2", "k-3", "k-1"}},
		{profiles.Keys{Kind: profiles.KeyEach}, 0, 40, []string{"k-1", "k-2", "k-3", "k-4"}},
		{profiles.Keys{Kind: profiles.KeyCycle, Count: 2}, 3, 2, []string{"k-1", "k-2", "k-1", "k-1", "k-2"}},
		{profiles.Keys{Kind: profiles.KeyCycle, Count: 3}, 0, 3, []string{"k-1", "k-2", "k-3", "k-1"}},
		{profiles.Keys{Kind: profiles.KeyFile, File: "k"}, 5, 3, []string{"red", "green", "blue", "red", "green", "red"}},
	} {
		p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 4}, tt.clients)
		p.Populations[0].Keys = tt.keys
		plan := compile(t, p, Options{ReadFile: files(map[string]string{"k": "red\n# no colour\ngreen\n\nblue\n"})})
		all := walk(plan.Schedule())
		if plan.NKeys() != max(tt.nkeys, 0) && tt.clients > 0 {
			t.Errorf("%+v: %d keys, want %d", tt.keys, plan.NKeys(), tt.nkeys)
		}
		for i, want := range tt.want {
			if got := plan.KeyName(all[i].Key); got != want {
				t.Errorf("%+v: call %d has key %s, want %s", tt.keys, i, got, want)
			}
		}
	}
}

func TestUniformKeysAreEven(t *testing.T) {
	p := one(profiles.Arrivals{Kind: profiles.Constant, Rate: 1}, 1)
	p.Populations[0].Keys = profiles.Keys{Kind: profiles.KeyUniform, Count: 100}
	plan := compile(t, p, Options{Seed: 4})
	seen := make([]float64, 100)
	for call := range uint64(100_000) {
		k, _, _ := plan.Draw(0, 0, call)
		seen[k]++
	}
	square := 0.0
	for _, n := range seen {
		square += (n - 1000) * (n - 1000) / 1000
	}
	if square < 50 || square > 170 { // 99 degrees of freedom: 99 ± 14
		t.Errorf("chi squared is %.0f", square)
	}
}

func TestPopulationsShareKeysByName(t *testing.T) {
	at := profiles.Arrivals{Kind: profiles.Constant, Rate: 1}
	p := &profiles.Profile{Name: "t", Duration: time.Second, Populations: []profiles.Population{
		{Name: "a", Clients: 2, Arrivals: at, Keys: profiles.Keys{Kind: profiles.KeyCycle, Count: 3}},
		{Name: "b", Clients: 2, Arrivals: at, Keys: profiles.Keys{Kind: profiles.KeyCycle, Count: 5}},
		{Name: "c", Clients: 2, Arrivals: at, Keys: profiles.Keys{Kind: profiles.OneKey, Prefix: "own-"}},
		{Name: "d", Clients: 6, Arrivals: at, Keys: profiles.Keys{Kind: profiles.KeyFile, File: "k"}},
	}}
	plan := compile(t, p, Options{ReadFile: files(map[string]string{"k": "k-5\nk-6\nown-1\nk-6\nk-05\n"})})
	var names []string
	for i := range plan.NKeys() {
		names = append(names, plan.KeyName(uint32(i)))
	}
	if got, want := len(names), 8; got != want { // k-1 to k-5, own-1, k-6, k-05
		t.Fatalf("%d keys: %q", got, names)
	}
	seen := map[string]bool{}
	for _, n := range names {
		if seen[n] {
			t.Errorf("%s has two numbers", n)
		}
		seen[n] = true
	}
	for client, want := range []string{"k-5", "k-6", "own-1", "k-6", "k-05", "k-5"} {
		k, _, _ := plan.Draw(3, plan.Populations[3].First+uint32(client), 0)
		if got := plan.KeyName(k); got != want {
			t.Errorf("client %d has key %s, want %s", client, got, want)
		}
	}
	if plan.KeyLabel(0) != "k-1" || plan.KeyLabel(6) == plan.KeyName(6) {
		t.Errorf("labels %s and %s", plan.KeyLabel(0), plan.KeyLabel(6))
	}
}

func BenchmarkSchedule(b *testing.B) {
	for _, bm := range []struct {
		name string
		a    profiles.Arrivals
		k    profiles.Keys
	}{
		{"constant/one", profiles.Arrivals{Kind: profiles.Constant, Rate: 40_000}, profiles.Keys{Kind: profiles.OneKey}},
		{"poisson/one", profiles.Arrivals{Kind: profiles.Poisson, Rate: 40_000}, profiles.Keys{Kind: profiles.OneKey}},
		{"sine/one", profiles.Arrivals{Kind: profiles.Sine, Rate: 40_000, Amplitude: 30_000, Period: time.Second}, profiles.Keys{Kind: profiles.OneKey}},
		{"constant/zipf-1M", profiles.Arrivals{Kind: profiles.Constant, Rate: 40_000}, profiles.Keys{Kind: profiles.KeyZipf, Count: 1_000_000, S: 1}},
	} {
		b.Run(bm.name, func(b *testing.B) {
			p := one(bm.a, 1000)
			p.Populations[0].Keys = bm.k
			plan := compile(b, p, Options{Duration: 24 * time.Hour})
			s := plan.Schedule()
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := s.Next(); !ok {
					s = plan.Schedule()
				}
			}
		})
	}
}

func BenchmarkDraw(b *testing.B) {
	plan := builtinPlan(b, "mixed", Options{})
	b.ReportAllocs()
	call := uint64(0)
	for b.Loop() {
		plan.Draw(1, plan.Populations[1].First, call)
		call++
	}
}

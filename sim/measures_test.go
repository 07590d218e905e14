package sim

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func TestArrivalsAreTheFloor(t *testing.T) {
	for _, r := range []limit.Rate{
		{Units: 100_000, Per: time.Second}, {Units: 695, Per: time.Second}, {Units: 3, Per: 7 * time.Millisecond},
		{Units: 1, Per: time.Hour}, {Units: 999_999_999, Per: time.Second},
	} {
		near, far := newArrivals(Rate{r}), newArrivals(Rate{r})
		far.skip(1000)
		far.skip(500)
		one := evenly(0, maxTime, Rate{r})
		for j := range int64(2000) {
			want := Micros(j * int64(r.Per) / (r.Units * 1000))
			if got := near.after(j); got != want {
				t.Fatalf("%v: request %d at %d, want %d", r, j, got, want)
			}
			if one.at != want {
				t.Fatalf("%v: request %d at %d in a stream, want %d", r, j, one.at, want)
			}
			one.pop()
			if got := far.after(j - 1500); j >= 1500 && got != want {
				t.Fatalf("%v: request %d at %d after a skip, want %d", r, j, got, want)
			}
			if n, ok := countOf(Rate{r}, want); !ok || n > j || n < j && near.after(n) < want {
				t.Fatalf("%v: %d requests before %d, want %d or those of its microsecond", r, n, want, j)
			}
		}
	}
	if _, ok := countOf(Rate{limit.Rate{Units: 1 << 60, Per: 1}}, math.MaxInt64/1000); ok {
		t.Error("too many requests are counted")
	}
}

// Every interval, one by one.
func TestExcessTriesEveryInterval(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		rate := limit.Rate{Units: 1 + r.Int64N(9), Per: time.Duration(1+r.Int64N(4)) * time.Millisecond}
		e := newExcess(rate)
		var at []Micros
		now := Micros(0)
		for range 1 + r.IntN(200) {
			now += Micros(r.Int64N(700))
			at = append(at, now)
			e.admit(now)
		}
		worst := 0.0
		for i := range at {
			for j := i; j < len(at); j++ {
				spent := float64(at[j]-at[i]) * 1000 * float64(rate.Units) / float64(rate.Per)
				worst = max(worst, float64(j-i+1)-spent)
			}
		}
		if got := e.tokens(e.worst); math.Abs(got-worst) > 1e-9 {
			t.Fatalf("seed %d: excess %v, want %v", seed, got, worst)
		}
	}
}

func TestZipfDrawsInProportion(t *testing.T) {
	const n, draws = 50, 1_000_000
	for _, s := range []float64{0, 0.8, 1, 2} {
		a := newZipf(n, s)
		r := rand.New(rand.NewPCG(1, 3))
		var got [n]float64
		for range draws {
			got[a.draw(r.Uint64())]++
		}
		sum := 0.0
		for k := 1; k <= n; k++ {
			sum += math.Pow(float64(k), -s)
		}
		for k := 1; k <= n; k++ {
			want := draws * math.Pow(float64(k), -s) / sum
			// Six standard deviations.
			if math.Abs(got[k-1]-want) > 6*math.Sqrt(want) {
				t.Errorf("exponent %v: rank %d drawn %v times, want about %v", s, k, got[k-1], want)
			}
		}
	}
}

// Against a map, with values that die.
func TestSlots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var s slots[int64]
	all := map[uint64]int64{}
	now := int64(0)
	for range 200_000 {
		now++
		key := r.Uint64N(5000)
		if v := s.get(key); v != nil {
			if *v != all[key] {
				t.Fatalf("key %d is %d, want %d", key, *v, all[key])
			}
			continue
		}
		if all[key] > now {
			t.Fatalf("key %d is gone before its time", key)
		}
		all[key] = now + r.Int64N(2000)
		s.put(key, all[key], func(v *int64) bool { return *v > now })
	}
	n := 0
	s.each(func(key uint64, v *int64) {
		if n++; all[key] != *v {
			t.Errorf("key %d is %d, want %d", key, *v, all[key])
		}
	})
	if n != s.n || len(s.table) > 1<<14 {
		t.Errorf("%d values are seen of %d in %d slots", n, s.n, len(s.table))
	}
}

func TestShardsGetEqualParts(t *testing.T) {
	var n [32]int
	for key := range uint32(320_000) {
		n[shardOf(key, 32)]++
	}
	for s, got := range n {
		if got < 9_400 || got > 10_600 {
			t.Errorf("shard %d has %d keys of 320,000", s, got)
		}
	}
}

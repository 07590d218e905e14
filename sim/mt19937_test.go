package sim

import (
	"slices"
	"testing"
)

// The draws of python3 (3.11): r = random.Random(seed), then 3 random(), 4
// randint(-10000, 10000), 5 randrange(20), randrange(2**40), uniform(0, 0.05)
// and 3 int(expovariate(20) * 1000000).
func TestPyRandomDrawsWhatPythonDraws(t *testing.T) {
	tests := []struct {
		seed   int64
		random []float64
		ints   []int64
		ranges []int64
		long   int64
		unif   float64
		exp    []int64
	}{
		{0, []float64{0.8444218515250481, 0.7579544029403025, 0.420571580830845}, []int64{-1516, 6753, 5922, 3268}, []int64{9, 15, 11, 18, 6}, 307110291574, 0.014091892219985191, []int64{70489, 48165, 14417}},
		{1, []float64{0.13436424411240122, 0.8474337369372327, 0.763774618976614}, []int64{-1642, -6137, 6234, 4728}, []int64{15, 12, 6, 3, 15}, 858288075698, 0.02163835339525267, []int64{71833, 105, 29474}},
		{42, []float64{0.6394267984578837, 0.025010755222666936, 0.27502931836911926}, []int64{-2686, -5428, -6642, 7870}, []int64{2, 18, 13, 1, 0}, 477143787866, 0.01163304466953698, []int64{46067, 41190, 62942}},
		{-7, []float64{0.32383276483316237, 0.15084917392450192, 0.6509344730398537}, []int64{-7627, 7559, -6916, 1982}, []int64{18, 1, 16, 6, 1}, 953851880282, 0.020908607568537976, []int64{13765, 40041, 3046}},
		{1<<40 + 3, []float64{0.21978710637116716, 0.5494687768352203, 0.09461190973523603}, []int64{-34, 3956, -2327, 5443}, []int64{17, 17, 10, 8, 18}, 736476383203, 0.04206507188827102, []int64{70567, 23136, 1723}},
	}
	for _, tt := range tests {
		r := NewPyRandom(tt.seed)
		draw := func(n int, f func() int64) (out []int64) {
			for range n {
				out = append(out, f())
			}
			return out
		}
		var random []float64
		for range 3 {
			random = append(random, r.Random())
		}
		if !slices.Equal(random, tt.random) {
			t.Errorf("seed %d: random %v, want %v", tt.seed, random, tt.random)
		}
		if got := draw(4, func() int64 { return r.Randint(-10000, 10000) }); !slices.Equal(got, tt.ints) {
			t.Errorf("seed %d: randint %v, want %v", tt.seed, got, tt.ints)
		}
		if got := draw(5, func() int64 { return r.Randrange(20) }); !slices.Equal(got, tt.ranges) {
			t.Errorf("seed %d: randrange %v, want %v", tt.seed, got, tt.ranges)
		}
		if got := r.Randrange(1 << 40); got != tt.long {
			t.Errorf("seed %d: randrange(2**40) %d, want %d", tt.seed, got, tt.long)
		}
		if got := r.Uniform(0, 0.05); got != tt.unif {
			t.Errorf("seed %d: uniform %v, want %v", tt.seed, got, tt.unif)
		}
		if got := draw(3, func() int64 { return int64(r.Expovariate(20) * 1_000_000) }); !slices.Equal(got, tt.exp) {
			t.Errorf("seed %d: expovariate %v, want %v", tt.seed, got, tt.exp)
		}
	}
}

// A long run of Random(5): a hash over 100,000 gaps of expovariate(20), and
// the draw after 2,000 others.
func TestPyRandomGoesOn(t *testing.T) {
	r := NewPyRandom(5)
	var h uint64
	for range 100_000 {
		h = (h*31 + uint64(r.Expovariate(20)*1_000_000)) % (1 << 61)
	}
	if h != 275908084955628530 {
		t.Errorf("hash %d", h)
	}
	r = NewPyRandom(5)
	for range 2000 {
		r.Random()
	}
	if got := r.Random(); got != 0.6302541136422682 {
		t.Errorf("draw 2001 is %v", got)
	}
}

func BenchmarkPyRandom(b *testing.B) {
	r := NewPyRandom(1)
	for b.Loop() {
		r.Randrange(20)
	}
}

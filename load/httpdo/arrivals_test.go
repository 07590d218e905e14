package httpdo

import (
	"bufio"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/profiles"
)

// The receiver stamps what arrives: a constant rate must be even and a
// random one random, at the far end of the wire.
//
// A busy machine can only spoil the measuring: it holds arrivals up and lets
// them go together. So the best stretch of several short runs counts; neither
// shape comes about by chance, nor passes for the other.
func TestArrivalsHaveTheShapeTheyClaim(t *testing.T) {
	for _, c := range []struct {
		kind    profiles.ArrivalKind
		stretch int // gaps
		wrong   func(gaps []float64) float64
		max     float64
	}{
		{profiles.Constant, 50, variation, 0.15},
		{profiles.Poisson, 100, farFromRandom, 0.12},
	} {
		t.Run(string(c.kind), func(t *testing.T) {
			best := math.Inf(1)
			for range 30 {
				gaps := arrivalGaps(t, arrivals(c.kind, 200, time.Second))
				wrong := bestStretch(gaps, c.stretch, c.wrong)
				t.Logf("%d gaps, wrong by %.3f", len(gaps), wrong)
				if best = min(best, wrong); best <= c.max {
					return
				}
			}
			t.Errorf("wrong by %.3f at the best, want at most %.2f", best, c.max)
		})
	}
}

// arrivalGaps sends a profile and returns the gaps between requests, in
// seconds, as the server saw them.
func arrivalGaps(t *testing.T, p *profiles.Profile) (gaps []float64) {
	t.Helper()
	var mu sync.Mutex
	var stamps []time.Time
	url := serveRaw(t, func(conn net.Conn, r *bufio.Reader) {
		for {
			if _, err := r.Peek(1); err != nil {
				return
			}
			now := time.Now()
			mu.Lock()
			stamps = append(stamps, now)
			mu.Unlock()
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(conn, ok)
		}
	})
	testRun{urls: []string{url}, profile: p}.do(t, false)
	mu.Lock()
	defer mu.Unlock()
	slices.SortFunc(stamps, time.Time.Compare)
	for i := 1; i < len(stamps); i++ {
		gaps = append(gaps, stamps[i].Sub(stamps[i-1]).Seconds())
	}
	return gaps
}

// bestStretch is the least that wrong says of n gaps in a row.
func bestStretch(gaps []float64, n int, wrong func([]float64) float64) float64 {
	best := math.Inf(1)
	for ; len(gaps) >= n; gaps = gaps[1:] {
		best = min(best, wrong(gaps[:n]))
	}
	return best
}

// variation is the coefficient of variation: 0 for a clock, 1 for random
// arrivals.
func variation(xs []float64) float64 {
	m, sq := mean(xs), 0.0
	for _, x := range xs {
		sq += (x - m) * (x - m) / float64(len(xs))
	}
	return math.Sqrt(sq) / m
}

func mean(xs []float64) (m float64) {
	for _, x := range xs {
		m += x / float64(len(xs))
	}
	return m
}

// farFromRandom is the Kolmogorov distance of the gaps from an exponential
// distribution with their mean: 0.63 for a clock, 0.15 for gaps that are
// uniform between nothing and twice the mean, about 1/√n for random arrivals.
func farFromRandom(gaps []float64) (far float64) {
	sorted, m := slices.Sorted(slices.Values(gaps)), mean(gaps)
	n := float64(len(gaps))
	for i, x := range sorted {
		p := 1 - math.Exp(-x/m)
		far = max(far, math.Abs(float64(i)/n-p), math.Abs(float64(i+1)/n-p))
	}
	return far
}

func TestShapesAreToldApart(t *testing.T) {
	var clock, uniform, random []float64
	for i := range 500 {
		q := (float64(i) + 0.5) / 500
		clock = append(clock, 1)
		uniform = append(uniform, 2*math.Mod(q*257, 1)) // in a mixed order
		random = append(random, -math.Log(1-math.Mod(q*257, 1)))
	}
	for _, c := range []struct {
		name         string
		gaps         []float64
		even, random bool
	}{
		{"clock", clock, true, false},
		{"uniform", uniform, false, false},
		{"random", random, false, true},
	} {
		if v := bestStretch(c.gaps, 50, variation); (v <= 0.15) != c.even {
			t.Errorf("%s: a variation of %.3f", c.name, v)
		}
		if far := bestStretch(c.gaps, 100, farFromRandom); (far <= 0.12) != c.random {
			t.Errorf("%s: %.3f from random", c.name, far)
		}
	}
}

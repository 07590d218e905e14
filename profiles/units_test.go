package profiles

import (
	"math"
	"testing"
)

func TestRates(t *testing.T) {
	for text, want := range map[string]float64{
		"200/s": 200, "600/m": 10, "5/h": 5. / 3600, "100000/d": 100000. / 86400,
		"2k/s": 2000, "1.5M/m": 25000, "0": 0, "0/s": 0, "0.5/s": 0.5, " 3 / s": 3,
	} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "/s", "s", "200", "-1/s", "1e3/s", "NaN/s", "Inf/s", "0x10/s", "1/0", "1/s/s", "11M/s", "1 000/s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "40": 40, "10k": 10_000, "1.5k": 1500, "1M": 1_000_000, "-3": -3} {
		if got, f := parseCount(text); f != nil || got != want {
			t.Errorf("%q: %v, %v; want %v", text, got, f, want)
		}
	}
	for _, text := range []string{"", "k", "1.5", "1,000", "1e3", "10K", "1kk", "9999999M", "0x1", "inf"} {
		if got, f := parseCount(text); f == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

func TestFormatsReadBack(t *testing.T) {
	for _, r := range []float64{200, 10, 1. / 3, 5. / 3600, math.Pi * 1e6, 1e-6} {
		if got, f := parseRate(formatRate(r)); f != nil || got != r {
			t.Errorf("%v is written %s and read %v", r, formatRate(r), got)
		}
	}
	for _, n := range []int{0, 7, 1000, 10_000, 12_345, 100_000, 1_000_000, 1_500_000} {
		if got, f := parseCount(formatCount(n)); f != nil || got != n {
			t.Errorf("%v is written %s and read %v", n, formatCount(n), got)
		}
	}
}

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"posson": "poisson", "expriy": "expiry", "ramps": "ramp", "CLOSED": "closed",
		"zzz": "", "": "", "linear": "",
	} {
		if got := nearest(name, arrivalKinds); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
}

package sim

import "testing"

// 300,000 requests a second for a limit of 1,000 a minute, full at the start:
// the burst goes at once and then a token comes every 60 ms, at which all 300
// gateways ask once and one of them gets it. 1,000 + 999 tokens in a minute
// (the next comes as it ends), and 300 denials for each of 1,000 waits.
func TestRefusalCache(t *testing.T) {
	expect(t, figuresOf(t, "leases/refusal-cache"), map[string]float64{
		"requests": 18_000_000, "batch": 1, "admitted": 1999, "store_calls": 300*1000 + 1999, "store_calls_granting": 1999,
		"store_calls_denied": 300_000, "refused_by_cache": 18_000_000 - 301_999, "closed_form_calls_per_s": 5000,
		"worst_excess": 0, "gateways_needed": 100, "shards_needed": 1, "shards_needed_without_cache": 6,
	})
}

func TestWithoutRefusalCache(t *testing.T) {
	expect(t, figuresOf(t, "leases/no-refusal-cache", "duration=10s"), map[string]float64{
		"store_calls": 3_000_000, "refused_by_cache": 0, "store_calls_per_request": 1, "admitted": 1166,
	})
}

// Each row was computed by a program of its own in Python with fractions.
func TestShardedFigures(t *testing.T) {
	outage := []string{"gateways=7", "burst=30", "requests=900/s", "duration=20s", "outage={from: 2s, for: 7s}"}
	tests := []struct {
		sets []string
		want map[string]float64
	}{
		{
			[]string{"gateways=20", "rate=4000/s", "burst=6000", "also=[{rate: 5000/s, burst: 7000}]", "requests=6000/s", "duration=6s"},
			map[string]float64{
				"batch": 20, "store_calls": 14_963, "store_calls_granting": 4022, "tokens_granted": 29_996,
				"admitted": 29_888, "background_calls": 8063, "refused_by_cache": 0,
			},
		},
		{
			[]string{"gateways=20", "rate=4000/s", "burst=6000", "requests=3000/s", "duration=6s", "outage={from: 2s, for: 3s}"},
			map[string]float64{
				"store_calls": 440, "store_calls_granting": 320, "tokens_granted": 6400, "failures": 120,
				"admitted": 18_000, "admitted_by_fallback": 11_600, "background_calls": 400,
			},
		},
		{outage, map[string]float64{
			"store_calls": 1707, "store_calls_granting": 258, "failures": 56, "admitted": 580, "admitted_by_fallback": 322, "refused_by_cache": 9097,
		}},
		{append(outage, "closed=true"), map[string]float64{
			"store_calls": 1707, "store_calls_granting": 258, "failures": 56, "admitted": 258, "admitted_by_fallback": 0, "refused_by_cache": 9097,
		}},
	}
	for _, tt := range tests {
		expect(t, figuresOf(t, "leases/refusal-cache", tt.sets...), tt.want)
	}
}

// The share of 2 of 300 gateways is 1000/60*2/300 a second and 6.67 tokens;
// with a burst of 100 it would be 0.67, so it is 1.
func TestFallbackShare(t *testing.T) {
	got := figuresOf(t, "leases/store-outage", "burst=100", "duration=2s")
	if got["fallback_burst_per_gateway"] != 1 {
		t.Errorf("burst of a gateway alone is %v", got["fallback_burst_per_gateway"])
	}
	// The store is away from the start: each gateway fails five times and then
	// uses its share, 6.67 tokens at once.
	got = figuresOf(t, "leases/store-outage", "outage={from: 0s, for: 1s}", "duration=1s")
	expect(t, got, map[string]float64{
		"failures": 300 * 5, "store_calls": 300 * 5, "admitted_by_fallback": 300 * 6, "admitted_from_store": 0,
		"skipped": 300_000 - 1500, "refused_by_fallback": 300_000 - 1800,
	})
}

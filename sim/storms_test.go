package sim

import (
	"math"
	"testing"
)

// Told the same wait, all come back for every token; with slots of their own
// each needs two requests and all are in as early as the rate allows.
func TestHerd(t *testing.T) {
	told := func(how string) map[string]float64 {
		p := herdKind().New().(*herd)
		p.Told = how
		return stormFigures(t, p)
	}
	same, jitter, reserved := told(toldSame), told(toldJitter), told(toldReserved)
	// 900 refused at 0, then one fewer for every token: 900+899+…+1 returns.
	if want := 1000.0 + 900*901/2; same["attempts"] != want || same["peak_10ms"] != 900 {
		t.Errorf("same: %v, want %v attempts", same, want)
	}
	if reserved["attempts"] != 1900 || reserved["most_attempts_of_one"] != 2 || reserved["peak_10ms"] != 1 {
		t.Errorf("reserved: %v", reserved)
	}
	for name, f := range map[string]map[string]float64{"same": same, "reserved": reserved} {
		if f["admitted"] != 1000 || f["all_in_s"] != 9 || f["least_possible_s"] != 9 {
			t.Errorf("%s: all in after %v s, least %v", name, f["all_in_s"], f["least_possible_s"])
		}
	}
	if jitter["attempts"] >= same["attempts"]/10 || jitter["peak_10ms"] > 40 || jitter["admitted"] != 1000 {
		t.Errorf("jitter: %v", jitter)
	}
}

// The first retries of 100,000 clients spread over the timer's width, the
// whole wait or half of it.
func TestRetryPeaks(t *testing.T) {
	for behaviour, even := range map[string]float64{"fixed:1s": 100_000, "exponential:1s,30s": 100_000, "full-jitter:1s,30s": 1000, "equal-jitter:1s,30s": 2000} {
		p := peaksKind().New().(*peaks)
		p.Behaviour, p.Retries = behaviour, 1
		f := stormFigures(t, p)
		if f["retries"] != 100_000 || math.Abs(f["even_per_bin"]/even-1) > 0.03 || f["first_peak"] < 0.98*even || f["first_peak"] > 1.25*even {
			t.Errorf("%s: %v, want about %v a bin", behaviour, f, even)
		}
	}
	p := peaksKind().New().(*peaks)
	p.Behaviour, p.Told, p.Retries, p.Status = "retry-after,spread", 2*Second, 1, 429
	if f := stormFigures(t, p); f["first_peak"] > 700 || f["first_spread_s"] < 1.9 {
		t.Errorf("spread over what was told: %v", f)
	}
}

func TestRetryLayers(t *testing.T) {
	for _, c := range []struct {
		layers int64
		want   float64
	}{{1, 3}, {3, 27}, {5, 243}} {
		p := layersKind().New().(*layers)
		p.Layers = c.layers
		if f := stormFigures(t, p); f["calls_per_request"] != c.want || f["failed"] != f["requests"] {
			t.Errorf("%d layers: %v", c.layers, f)
		}
	}
	p := layersKind().New().(*layers)
	p.Failure, p.Requests = 0.1, 100_000
	// One call in ten fails: a request needs 1/0.9 calls, less the few that
	// give up.
	if f := stormFigures(t, p); math.Abs(f["calls_per_request"]-1/0.9) > 0.01 || f["failed"] > 10 {
		t.Errorf("a tenth fails: %v", f)
	}
}

// Addresses far below their limit each; 100 accounts of 5 + 5 a minute; one
// limit for the route that the attack uses up and the users pay for.
func TestSpreadAttack(t *testing.T) {
	f := stormFigures(t, attackKind().New())
	if f["per_address_admits"] != f["attack_attempts"] || f["honest_refused_per_account"] != 0 {
		t.Errorf("%v", f)
	}
	// Each account lets 5 at once and one every 12 s through: the last of them
	// at 48 s.
	if f["per_account_admits"] != 900 || f["attempts_per_account"] > 9 {
		t.Errorf("accounts: %v", f)
	}
	if f["honest_refused_per_route"] < 0.9*f["honest_requests"] {
		t.Errorf("the route's limit spared the users: %v", f)
	}
}

// Running totals count twice-sent records once and lose only what a crash
// took; increments also bill the copies.
func TestBilling(t *testing.T) {
	p := billingKind().New().(*billing)
	p.Duplicates = 0.2
	f := stormFigures(t, p)
	if f["totals_error"] != -f["lost_in_crash"] || f["lost_in_crash"] == 0 {
		t.Errorf("totals: %v", f)
	}
	if f["increments_error"] <= 0 {
		t.Errorf("increments: %v", f)
	}
	if late := f["last_gateway_knows_s"] - f["quota_reached_s"]; late <= 0 || late > f["most_delay_s"] {
		t.Errorf("the flag came %v s late, of at most %v", late, f["most_delay_s"])
	}
	if f["served_past_quota"] < 800*5 || f["served_past_quota"] > 800*11 {
		t.Errorf("%v past the quota", f["served_past_quota"])
	}
	p.Duplicates, p.CrashAt, p.Quota = 0, 0, 1_000_000_000
	if f := stormFigures(t, p); f["totals_error"] != 0 || f["increments_error"] != 0 || f["flag_set_s"] != -1 {
		t.Errorf("nothing went wrong: %v", f)
	}
}

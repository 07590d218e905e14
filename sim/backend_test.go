package sim

import "testing"

func stormFigures(t *testing.T, p Params) map[string]float64 {
	t.Helper()
	if err := p.Validate(); err != nil {
		t.Fatal(err)
	}
	return ran(t, p)
}

func newBackend(change func(*backend)) *backend {
	p := backendKind().New().(*backend)
	change(p)
	return p
}

// One retry turns 280 a second into 560 on a service of 300 and keeps it
// there; what takes the retries away, or the work that nobody waits for, lets
// it come back.
func TestMetastableFailure(t *testing.T) {
	for _, c := range []struct {
		name      string
		change    func(*backend)
		recovered float64
	}{
		{"one retry", func(p *backend) {}, 0},
		{"no retry", func(p *backend) { p.Behaviour = "give-up" }, 1},
		{"a budget of a tenth", func(p *backend) { p.Behaviour = "fixed:1ms,attempts=2+budget:0.1" }, 1},
		{"no outage", func(p *backend) { p.OutageFor = 0 }, 1},
		{"old work shed, no retry", func(p *backend) { p.Behaviour, p.ShedAge = "give-up", 900_000 }, 1},
		{"work stopped when nobody waits", func(p *backend) { p.Behaviour, p.Stops = "give-up", true }, 1},
	} {
		f := stormFigures(t, newBackend(c.change))
		if f["recovered"] != c.recovered {
			t.Errorf("%s: %v", c.name, f)
		}
		if f["attempts"] != f["calls"]+f["retries"] {
			t.Errorf("%s: %v attempts, %v calls, %v retries", c.name, f["attempts"], f["calls"], f["retries"])
		}
	}
	f := stormFigures(t, newBackend(func(*backend) {}))
	if f["amplification_at_end"] != 2 || f["attempts_at_end_per_s"] != 560 || f["success_at_end_per_s"] != 0 {
		t.Errorf("at the end: %v", f)
	}
}

// A call without trouble is one attempt; in a total outage three attempts make
// three, and a budget hardly more than one.
func TestRetryBudgetInAnOutage(t *testing.T) {
	fails := func(behaviour string) map[string]float64 {
		return stormFigures(t, newBackend(func(p *backend) {
			p.Offered, p.Behaviour, p.OutageHow, p.OutageFor = PerSecond(150), behaviour, outageFails, 50*Second
		}))
	}
	if f := fails("fixed:1ms,attempts=3"); f["amplification_in_outage"] != 3 || f["failed"] != 7500 {
		t.Errorf("three attempts: %v", f)
	}
	if f := fails("fixed:1ms,attempts=3+budget:0.1"); f["amplification_in_outage"] > 1.01 {
		t.Errorf("a budget: %v", f)
	}
}

func TestBoundedQueueKeepsWaitsShort(t *testing.T) {
	slow := func(queue int64) map[string]float64 {
		return stormFigures(t, newBackend(func(p *backend) {
			p.Offered, p.Timeout, p.Behaviour, p.OutageHow, p.OutageFor, p.SlowShare, p.Queue = PerSecond(200), 2*Second, "give-up", outageSlows, 60*Second, 33, queue
		}))
	}
	drowned, bounded := slow(0), slow(150)
	if drowned["success_during_per_s"] > 10 || bounded["success_during_per_s"] < 95 {
		t.Errorf("a third of 300/s: %v/s without a bound, %v/s with", drowned["success_during_per_s"], bounded["success_during_per_s"])
	}
	if bounded["most_waiting"] != 150 || bounded["timeouts"] != 0 {
		t.Errorf("%v", bounded)
	}
}

func TestBackendRefusesNonsense(t *testing.T) {
	for path, change := range map[string]func(*backend){
		"capacity":     func(p *backend) { p.Capacity = Rate{} },
		"requests":     func(p *backend) { p.Offered = Rate{} },
		"timeout":      func(p *backend) { p.Timeout = 0 },
		"behaviour":    func(p *backend) { p.Behaviour = "strom" },
		"outage_how":   func(p *backend) { p.OutageHow = "explode" },
		"slow_percent": func(p *backend) { p.SlowShare = 0 },
		"clients":      func(p *backend) { p.Clients = 0 },
	} {
		err, ok := newBackend(change).Validate().(*ParamError)
		if !ok || err.Path != path || err.Hint == "" {
			t.Errorf("%s: %v", path, err)
		}
	}
}

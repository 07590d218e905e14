package report

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"
)

var window600 = &Promise{Text: "fixed-window:limit=600,window=60s", Limit: 600, Window: 60e9}

func storm(gates []gate) world {
	return world{clients: 40, length: 30 * sec, latency: 100 * msec, jitter: 2 * msec, gates: gates}
}

// edgeTraffic sends 700 calls in the second before and the second after each
// multiple of a minute.
func edgeTraffic(g gate) []Event {
	var evs []Event
	for edge := 60 * sec; edge <= 180*sec; edge += 60 * sec {
		for i := range int64(1400) {
			sent := edge - sec + i*2*sec/1400
			ok, _ := g(sent + msec)
			v := Admitted
			if !ok {
				v = Refused
			}
			e := at(float64(sent)/1e6, float64(sent)/1e6+2, v)
			e.Client = uint32(i % 100)
			e.Has |= HasRetryAfter
			e.RetryAfter = sec
			evs = append(evs, e)
		}
	}
	return evs
}

// findingCases are stories: what happened, and which findings it must and must
// not lead to.
var findingCases = []struct {
	name    string
	promise *Promise
	events  func() []Event
	want    []string // exactly these
}{
	{"a bucket in one place keeps its promise", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		return w.run()
	}, nil},
	{"two gateways without their store, which say so", tenPerSecond, func() []Event {
		w := storm(gates(2, func() gate { return bucket(5, 14) }))
		w.tell = roundUp
		events := w.run()
		for i := range events {
			if events[i].Verdict == Refused {
				events[i].Has |= Reduced
			}
		}
		return events
	}, []string{"bound-broken", "reduced-capacity"}},
	{"obedient clients on one bucket compete, and the hint is still honest", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell, w.back = roundUp, obey
		return w.run()
	}, nil},
	{"twenty local buckets", tenPerSecond, func() []Event {
		w := storm(gates(20, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		return w.run()
	}, []string{"bound-broken", "local-counters"}},
	{"seven local buckets behind one address", tenPerSecond, func() []Event {
		w := storm(gates(7, func() gate { return bucket(10, 20) }))
		w.length = 60 * sec
		w.tell = roundUp
		w.edit = func(e *Event) { e.Target = 0 }
		return w.run()
	}, []string{"bound-broken", "local-counters"}},
	{"a clock that runs twice as fast is no second counter", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(20, 20) }))
		w.tell = roundUp
		return w.run()
	}, []string{"bound-broken"}},
	{"no limiter at all, twice the promise", tenPerSecond, func() []Event {
		w := world{clients: 2, length: 60 * sec, latency: 100 * msec,
			gates: gates(1, func() gate { return func(int64) (bool, int64) { return true, 0 } })}
		return w.run()
	}, []string{"bound-broken", "never-refused"}},
	{"a limiter that is only a little generous", tenPerSecond, func() []Event {
		w := world{clients: 1, length: 60 * sec, latency: 80 * msec,
			gates: gates(1, func() gate { return bucket(20, 20) })}
		return w.run()
	}, []string{"bound-broken"}},
	{"refusals that come as failures", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		w.edit = func(e *Event) {
			if e.Verdict == Refused {
				e.Verdict, e.Class, e.Status = Failed, BadStatus, 503
			}
		}
		return w.run()
	}, []string{"refusals-as-failures"}},
	{"an outage is no refusal", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.edit = func(e *Event) {
			if e.Verdict == Refused {
				e.Verdict, e.Class, e.Status = Failed, BadStatus, 503
			}
		}
		return w.run()
	}, nil},
	{"Retry-After rounded down to nothing, and many who come back at once", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.length, w.latency, w.tell = 5*sec, 10*msec, func(wait int64) int64 { return wait / sec * sec }
		w.back = func(int, int64) int64 { return 10 * msec }
		return w.run()
	}, []string{"retry-after-dishonest"}},
	{"a fixed window at its edge", window600, func() []Event { return edgeTraffic(fixedWindow(600, 60*sec)) },
		[]string{"bound-broken", "window-edge"}},
	{"a token bucket on the same traffic", &Promise{Text: "10/s,burst=600", Units: 10, Per: 1e9, Burst: 600},
		func() []Event { return edgeTraffic(bucket(10, 600)) }, nil},
	{"two local windows are not an edge", window600, func() []Event {
		w := storm(gates(2, func() gate { return fixedWindow(600, 60*sec) }))
		w.length = 200 * sec
		w.tell = roundUp
		return w.run()
	}, []string{"bound-broken", "local-counters"}},
	{"a limit set to half of what is promised", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(5, 20) }))
		w.length = 60 * sec
		w.tell = roundUp
		return w.run()
	}, []string{"under-admits"}},
	{"little demand is no shortfall", tenPerSecond, func() []Event {
		w := world{clients: 1, length: 30 * sec, latency: 400 * msec, gates: gates(1, func() gate { return bucket(10, 20) })}
		return w.run()
	}, nil},
	{"refusals that count: whoever pauses gets in again", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return counted(10, 20) }))
		w.length = 20 * sec
		w.tell = roundUp
		evs := w.run()
		// Nobody calls from 20 s to 40 s.
		w.start = func(int) int64 { return 40 * sec }
		w.length = 60 * sec
		return append(evs, w.run()...)
	}, []string{"under-admits", "refusals-counted"}},
	{"everybody told one second comes back at once", tenPerSecond, func() []Event {
		w := world{clients: 5000, length: 4 * sec, latency: 2 * msec, gates: gates(1, func() gate { return bucket(10, 20) })}
		w.tell, w.back = func(int64) int64 { return sec }, obey
		w.key = func(int) uint32 { return 0 }
		return w.run()
	}, []string{"herd"}},
	{"the same crowd spread over the second", tenPerSecond, func() []Event {
		w := world{clients: 5000, length: 4 * sec, latency: 2 * msec, gates: gates(1, func() gate { return bucket(10, 20) })}
		w.tell = func(int64) int64 { return sec }
		w.back = func(c int, _ int64) int64 { return sec * int64(c) / 5000 }
		return w.run()
	}, nil},
	{"Retry-After rounded down", &Promise{Text: "1/s,burst=1", Units: 1, Per: 1e9, Burst: 1}, func() []Event {
		return perKey(50, func() gate { return bucket(1, 1) }, func(wait int64) int64 { return wait / sec * sec })
	}, []string{"retry-after-dishonest"}},
	{"Retry-After rounded up", &Promise{Text: "1/s,burst=1", Units: 1, Per: 1e9, Burst: 1}, func() []Event {
		return perKey(50, func() gate { return bucket(1, 1) }, roundUp)
	}, nil},
	{"refusals without a hint", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		return w.run()
	}, []string{"retry-after-missing"}},
	{"a wait that stands in a reset field alone", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		w.edit = func(e *Event) { e.HintSource = 5 }
		return w.run()
	}, []string{"retry-after-missing"}},
	{"the same with Retry-After", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		w.edit = func(e *Event) { e.HintSource = 1 }
		return w.run()
	}, nil},
	{"a hint nobody can read", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.edit = func(e *Event) {
			if e.Verdict == Refused {
				e.Has |= BadRetryAfter
				e.Text = 1
			}
		}
		return w.run()
	}, []string{"retry-after-unparseable"}},
	{"a hint that looks like milliseconds", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = func(int64) int64 { return sec }
		w.edit = func(e *Event) {
			if e.Verdict == Refused {
				e.Has |= Suspect
				e.Text, e.HintUnit = 1, 2
			}
		}
		return w.run()
	}, []string{"retry-after-suspect"}},
	{"a minute where two seconds would do", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = func(int64) int64 { return 60 * sec }
		return w.run()
	}, []string{"retry-after-too-long"}},
	{"503 for refusals", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		w.edit = func(e *Event) {
			if e.Verdict == Refused {
				e.Status = 503
			}
		}
		return w.run()
	}, []string{"status-not-429"}},
	{"half of the clients meet a closed door", tenPerSecond, func() []Event {
		w := storm(gates(1, func() gate { return bucket(10, 20) }))
		w.tell = roundUp
		evs := w.run()
		for i := range evs {
			// The admissions of odd clients go to their neighbours.
			if e := &evs[i]; e.Verdict == Admitted {
				e.Client &^= 1
			}
		}
		return evs
	}, []string{"starvation"}},
	{"most get nothing, as chance will have it", tenPerSecond, func() []Event {
		w := world{clients: 2000, length: 30 * sec, latency: 100 * msec, jitter: 20 * msec,
			gates: gates(1, func() gate { return bucket(10, 20) })}
		w.tell = roundUp
		w.back = func(c int, _ int64) int64 { return 2*sec + int64(c)*msec%(500*msec) }
		return w.run()
	}, nil},
	{"a sender that lags", nil, func() []Event {
		evs := make([]Event, 0, 1000)
		for i := range 1000 {
			e := at(float64(i*10+50), float64(i*10+55), Admitted)
			e.Due = int64(i) * 10 * msec
			evs = append(evs, e)
		}
		return evs
	}, []string{"sender-late"}},
	{"a sender that drops", nil, func() []Event {
		evs := make([]Event, 0, 1000)
		for i := range 1000 {
			v := Admitted
			if i%10 == 0 {
				v = Dropped
			}
			evs = append(evs, at(float64(i), float64(i)+1, v))
		}
		return evs
	}, []string{"sender-late"}},
}

// perKey is one obedient client on each of n keys, asking 0.3 s after each
// admission.
func perKey(n int, g func() gate, tell func(int64) int64) []Event {
	w := world{clients: n, length: 20 * sec, latency: 300 * msec, jitter: 5 * msec, gates: gates(n, g), byKey: true,
		key: func(c int) uint32 { return uint32(c) }, tell: tell, back: obey}
	return w.run()
}

func TestFindings(t *testing.T) {
	names := Names{Text: func(uint32) string { return "soon\u202e" }, Unit: func(uint8) string { return "milliseconds" },
		Source: func(i uint8) string { return map[uint8]string{1: "retry-after", 5: "ratelimit"}[i] }}
	triggered := map[string]bool{}
	absent := map[string]bool{}
	for _, c := range findingCases {
		t.Run(c.name, func(t *testing.T) {
			r := run(Setup{Promise: c.promise, Names: names}, c.events())
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.ID)
				triggered[f.ID] = true
				if len(f.Evidence) == 0 || f.Text == "" || severityRank[f.Severity] == 0 && f.Severity != High {
					t.Errorf("%s lacks evidence, text or severity: %+v", f.ID, f)
				}
			}
			for _, id := range FindingIDs() {
				if !slices.Contains(got, id) {
					absent[id] = true
				}
			}
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(got, want) {
				t.Errorf("findings %v, want %v\n%s", got, want, headline(r))
				for _, f := range r.Findings {
					t.Logf("%s: %s", f.ID, f.Text)
				}
			}
		})
	}
	for _, id := range FindingIDs() {
		if !triggered[id] || !absent[id] {
			t.Errorf("%s: triggered %v, absent %v; both must be seen", id, triggered[id], absent[id])
		}
	}
}

func TestLocalCountersSayHowMany(t *testing.T) {
	for _, n := range []int{2, 5, 20} {
		w := storm(gates(n, func() gate { return bucket(10, 20) }))
		w.clients = 80
		r := run(Setup{Promise: tenPerSecond}, w.run())
		var got any
		for _, f := range r.Findings {
			if f.ID == "local-counters" {
				got = f.Evidence["n"]
			}
		}
		if got != n {
			t.Errorf("%d counters: n is %v (%s)", n, got, headline(r))
		}
	}
}

func TestWindowEdgeNamesTheEdge(t *testing.T) {
	r := run(Setup{Promise: window600}, edgeTraffic(fixedWindow(600, 60*sec)))
	for _, f := range r.Findings {
		if f.ID == "window-edge" {
			if edge := f.Evidence["edge_s"]; edge != 60.0 && edge != 120.0 && edge != 180.0 {
				t.Errorf("edge at %v s", edge)
			}
			if n := f.Evidence["admitted"].(int64); n < 1150 || n > 1200 {
				t.Errorf("%d around the edge, want nearly 1200", n)
			}
			return
		}
	}
	t.Error("no window-edge")
}

// TestFindingsAreDocumented holds docs/findings.md and the code together.
func TestFindingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/findings.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^## `([a-z0-9-]+)`").FindAllSubmatch(page, -1) {
		documented = append(documented, string(m[1]))
	}
	slices.Sort(documented)
	if ids := FindingIDs(); fmt.Sprint(documented) != fmt.Sprint(ids) {
		t.Errorf("documented %v\nin code    %v", documented, ids)
	}
}

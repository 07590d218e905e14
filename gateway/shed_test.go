package gateway

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestParseShed(t *testing.T) {
	for s, want := range map[string]Shed{"adaptive": {Adaptive: true}, "inflight=7": {InFlight: 7}} {
		if got, err := ParseShed(s); err != nil || got != want {
			t.Errorf("%s: %+v, %v", s, got, err)
		}
	}
	for _, s := range []string{"", "inflight", "inflight=", "inflight=0", "inflight=-1", "inflight=1000001", "adaptive=3", "inflight=1.5"} {
		if got, err := ParseShed(s); err == nil {
			t.Errorf("%q is taken as %+v", s, got)
		}
	}
}

func TestGate(t *testing.T) {
	var none *gate
	f, ok := none.enter(0)
	f.answer(1, 200)
	f.land(2)
	if !ok {
		t.Error("without a gate a call is shed")
	}
	g := newGate(Shed{InFlight: 2}, 1)
	a, ok1 := g.enter(0)
	_, ok2 := g.enter(0)
	_, ok3 := g.enter(0)
	if !ok1 || !ok2 || ok3 {
		t.Fatalf("of three calls at a gate for two: %t %t %t", ok1, ok2, ok3)
	}
	a.answer(10, http.StatusOK)
	a.land(1000)
	if _, ok := g.enter(1000); !ok {
		t.Error("a place that was left is not free")
	}
	seen := map[string]int{}
	for range 60 {
		w := httptest.NewRecorder()
		g.turnAway(w, &http.Request{Method: "GET"})
		seen[w.Header().Get("Retry-After")]++
		if w.Code != 503 || !strings.Contains(w.Body.String(), "#overload") || strings.Contains(w.Body.String(), "violated") {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	if len(seen) != 3 || seen["1"] == 0 || seen["2"] == 0 || seen["3"] == 0 {
		t.Errorf("waits %v, want 1, 2 and 3", seen)
	}
}

// A caller who reads slowly is not what overloads an upstream; an upstream
// that says so is.
func TestGateJudgesTheUpstream(t *testing.T) {
	run := func(readers time.Duration, status int) int {
		g := newGate(Shed{Adaptive: true}, 1)
		now := int64(1e18)
		for i := range 100 {
			var all []*flight
			for {
				f, ok := g.enter(now)
				if !ok {
					break
				}
				all = append(all, f)
			}
			now += int64(20 * time.Millisecond)
			for _, f := range all {
				f.answer(now, status)
			}
			if i > 0 {
				now += int64(readers)
			}
			for _, f := range all {
				f.land(now)
			}
		}
		return g.shed.Cap()
	}
	if n := run(time.Second, 200); n <= 64 {
		t.Errorf("slow readers brought the cap to %d", n)
	}
	if n := run(0, 503); n >= 64 {
		t.Errorf("an overloaded upstream left the cap at %d", n)
	}
}

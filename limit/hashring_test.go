package limit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func gateways(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("gateway-%d", i))
	}
	return names
}

func owners(r *limit.HashRing, keys int) []string {
	at := make([]string, keys)
	for k := range at {
		at[k] = r.Owner(fmt.Sprintf("k-%d", k))
	}
	return at
}

func TestHashRingMovesOnlyItsShare(t *testing.T) {
	const keys = 20_000
	r := limit.NewHashRing(0, gateways(20)...)
	before := owners(r, keys)
	count := map[string]int{}
	for _, o := range before {
		count[o]++
	}
	for _, g := range r.Owners() {
		if n := count[g]; n < 650 || n > 1400 {
			t.Errorf("%s has %d of 20,000 keys", g, n)
		}
	}
	if !r.Add("new") || r.Add("new") {
		t.Error("an owner is new once")
	}
	moved := 0
	for k, o := range owners(r, keys) {
		if o != before[k] {
			if moved++; o != "new" {
				t.Fatalf("k-%d moved to %s, which was there before", k, o)
			}
		}
	}
	if moved < 600 || moved > 1400 {
		t.Errorf("%d keys moved to one of 21", moved)
	}
	if !r.Remove("new") || r.Remove("new") {
		t.Error("an owner goes once")
	}
	for k, o := range owners(r, keys) {
		if o != before[k] {
			t.Fatalf("k-%d does not come back to %s", k, before[k])
		}
	}
	r.Remove("gateway-3")
	for k, o := range owners(r, keys) {
		if o != before[k] && before[k] != "gateway-3" {
			t.Fatalf("k-%d moved from %s, which is still there", k, before[k])
		}
	}
}

func TestHashRingIsTheSameEverywhere(t *testing.T) {
	a, b := limit.NewHashRing(10), limit.NewHashRing(10)
	names := gateways(5)
	for i := range names {
		a.Add(names[i])
		b.Add(names[len(names)-1-i])
	}
	x, y := owners(a, 1000), owners(b, 1000)
	for k := range x {
		if x[k] != y[k] {
			t.Fatalf("k-%d: %s or %s by the order of arrival", k, x[k], y[k])
		}
	}
	// Recorded once, so that another version or machine cannot differ unseen.
	if got := fmt.Sprint(x[:6]); got != "[gateway-3 gateway-3 gateway-3 gateway-0 gateway-3 gateway-4]" {
		t.Errorf("owners %s", got)
	}
	if o := limit.NewHashRing(10).Owner("k-7"); o != "" {
		t.Errorf("an empty ring gives %q", o)
	}
}

func TestStickyNewOwnerStartsFull(t *testing.T) {
	r := &in(t, bucketSpec(10, time.Second, 20))[0]
	var s limit.Sticky
	for i, step := range []struct {
		owner     string
		remaining int64
	}{{"a", 19}, {"a", 18}, {"b", 19}, {"b", 18}, {"a", 19}} {
		if d := s.Take(step.owner, r, 0, 1); d.Remaining != step.remaining {
			t.Errorf("step %d: %+v", i, d)
		}
	}
	if s.Moves() != 2 {
		t.Errorf("%d moves", s.Moves())
	}
}

func BenchmarkHashRing(b *testing.B) {
	r := limit.NewHashRing(0, gateways(330)...)
	b.ReportAllocs()
	for b.Loop() {
		r.Owner("customer-123456")
	}
}

package gateway

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// When a refusal has ended, one of many asks the store again, and the others
// hear what it is told.
func TestOneAsksWhenARefusalEnds(t *testing.T) {
	d := newDesk(1, 0, time.Minute)
	l := &readyLimit{name: "r", spec: spec(t, "1/s,burst=1")}
	ask := func(now int64) *hitState {
		p := &hitState{ready: l, Subject: "k", Cost: 1}
		p.Decision.OK = !d.refused(context.Background(), p, now)
		return p
	}
	const now = int64(1e18)
	refusal := hitState{ready: l, Subject: "k", Cost: 1, Source: FromStore, Decision: limit.Decision{RetryAfter: time.Second}}
	learn := func(now int64) { d.learn([]hitState{refusal}, now) }
	learn(now)
	if p := ask(now + 1); p.Decision.OK || p.Source != FromDenyCache || p.asks || p.Decision.RetryAfter != time.Second-1 {
		t.Fatalf("%+v", p)
	}
	later := now + int64(time.Second)
	first := ask(later)
	if !first.Decision.OK || !first.asks {
		t.Fatalf("the first after the wait does not ask: %+v", first)
	}
	var others sync.WaitGroup
	var all [20]*hitState
	for i := range all {
		others.Go(func() { all[i] = ask(later) })
	}
	learn(later)
	d.told([]hitState{*first})
	others.Wait()
	for _, p := range all {
		if p.Decision.OK || p.asks {
			t.Fatalf("another asks too: %+v", p)
		}
	}
	// Once the first is admitted, the others are the store's to decide.
	first = ask(later + int64(time.Second))
	d.told([]hitState{*first})
	if p := ask(later + int64(time.Second)); !p.Decision.OK || p.asks {
		t.Errorf("%+v", p)
	}
	// Who hears nothing asks.
	d.patience = time.Millisecond
	learn(later)
	if first = ask(later + int64(time.Second)); !first.asks {
		t.Fatal("nobody asks")
	}
	if p := ask(later + int64(time.Second)); !p.Decision.OK {
		t.Errorf("%+v", p)
	}
}

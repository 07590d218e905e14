package gateway

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
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

// When the one that asks is let through, as many others ask as there are units
// left, and one more, which the rest hear from.
func TestOneMoreAsksForTheRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const now, waiting = int64(1e18), 20
		l := &readyLimit{name: "r", spec: spec(t, "1/s,burst=5")}
		d := newDesk(1, 0, time.Minute)
		refusal := hitState{ready: l, Subject: "k", Cost: 1, Source: FromStore, Decision: limit.Decision{RetryAfter: time.Second}}
		d.learn([]hitState{refusal}, now-int64(time.Second))
		ask := func() *hitState {
			p := &hitState{ready: l, Subject: "k", Cost: 1, Source: FromStore}
			if d.refused(context.Background(), p, now) {
				return p
			}
			p.Decision.OK = true
			return p
		}
		first := ask()
		asked := make(chan *hitState, waiting)
		for range waiting {
			go func() { asked <- ask() }()
		}
		synctest.Wait()
		if len(asked) != 0 || !first.asks {
			t.Fatalf("%d asked beside the first, want none", len(asked))
		}
		first.Decision.Remaining = 3
		d.told([]hitState{*first})
		synctest.Wait()
		if len(asked) != 4 {
			t.Fatalf("%d asked, want 3 for the units left and one for the rest", len(asked))
		}
		d.learn([]hitState{refusal}, now)
		for range 4 {
			d.told([]hitState{*<-asked})
		}
		for range waiting - 4 {
			if p := <-asked; p.Decision.OK {
				t.Fatalf("another asks, though the store has refused: %+v", p)
			}
		}
	})
}

// A refusal is that of one limit: a request under another one, because the
// rules have changed meanwhile or an override is over, is not held to it.
func TestARefusalIsOfOneLimit(t *testing.T) {
	d := newDesk(1, 0, time.Minute)
	strict := &readyLimit{name: "r", spec: spec(t, "1/h,burst=1")}
	raised := &readyLimit{name: "r", spec: spec(t, "100/s,burst=100")}
	const now = int64(1e18)
	d.learn([]hitState{{ready: strict, Subject: "k", Cost: 1, Source: FromStore, Decision: limit.Decision{RetryAfter: time.Hour}}}, now)
	if !d.refused(context.Background(), &hitState{ready: strict, Subject: "k", Cost: 1}, now) {
		t.Error("it is not kept")
	}
	if d.refused(context.Background(), &hitState{ready: raised, Subject: "k", Cost: 1}, now) {
		t.Error("it refuses under the limit that came after it")
	}
}

package gateway

import (
	"context"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// onTrial is one rule that refuses nothing.
func onTrial(t testing.TB, text string) *rules.Set {
	s := rules.FromLimit(spec(t, text), func(r *rules.Rule) { r.Shadow = true })
	s.Version = 1
	return s
}

// Where every rule is on trial, their checks are all that can close a breaker.
func TestRulesOnTrialCloseABreaker(t *testing.T) {
	f, err := New(Config{Rules: onTrial(t, "1/h,burst=3"), Design: Central, Redis: noRedis(), StoreTimeout: time.Second,
		Breaker: limit.BreakerRule{Failures: 1, Every: time.Second}})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, f)
	now := f.now()
	askAt(f, 0, "k", now, 1)
	until(t, "the breaker is open", func() bool { return openBreakers(f) == 1 })
	// The store is back.
	f.run.Load().backends[0] = &inProcess{banks: []*bank{newBank(10, 0, 0)}, calls: new(atomic.Int64)}
	for i := range 5 {
		askAt(f, 0, "k", f.now()+int64(time.Minute)*int64(i), 1)
		f.background.wait()
	}
	if n := openBreakers(f); n != 0 {
		t.Error("it is never closed")
	}
	if by := f.Counts(0).Rules.ByRule[0]; by.ShadowDecided == 0 {
		t.Errorf("%+v", by)
	}
}

// What a rule on trial holds is given back when the request is over, also of
// one that came without a connection.
func TestTrialOfSlotsEndsWithTheRequest(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		f := onRedis(t, r, Config{Rules: onTrial(t, "concurrency:limit=2"), StoreTimeout: 10 * time.Second})
		for range 10 {
			f.Handler(0).ServeHTTP(newMemory(), &http.Request{Method: "GET", URL: &url.URL{Path: "/"}, RemoteAddr: "127.0.0.1:9",
				Header: http.Header{"X-Api-Key": {"k"}}, Body: http.NoBody})
			done := make(chan struct{})
			go func() { f.background.wait(); close(done) }()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				t.Fatal("the slot is held after the request")
			}
		}
		if by := f.Counts(0).Rules.ByRule[0]; by.ShadowDecided != 10 || by.ShadowRefused != 0 {
			t.Errorf("%+v", by)
		}
	})
}

// A gateway's share of slots stays a share however many there are.
func TestShareOfManySlots(t *testing.T) {
	s := rules.FromLimit(spec(t, "concurrency:limit=1000000000000000"), func(r *rules.Rule) {
		r.OnFailure, r.Slack = limit.FailLocal, limit.Fraction{Num: 100_000, Den: 1000}
	})
	f, err := New(Config{Gateways: 1000, Rules: s, Design: Central, Redis: noRedis()})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, f)
	if n := f.newest.Load().limits[0].shareOf.spec.Limit; n != 100_000_000_000_000 {
		t.Errorf("one of 1000 gateways has %d of 10^15 slots at a hundredfold share", n)
	}
}

// letGo is a backend that counts what is given back.
type letGo struct {
	inProcess
	released atomic.Int64
}

func (b *letGo) release(context.Context, []hitState, int64) error { b.released.Add(1); return nil }

// A slot of which nobody knows whether it was taken goes back, however many
// rules on trial are being decided.
func TestUndoFindsRoom(t *testing.T) {
	f, err := New(Config{Rules: onTrial(t, "concurrency:limit=2"), Design: Central, Redis: noRedis()})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, f)
	over := make(chan struct{})
	for f.background.try(mostShadows, func() { <-over }) {
	}
	b := new(letGo)
	parts := []hitState{{ready: f.newest.Load().limits[0], Subject: "k", Cost: 1}}
	f.gateways[0].undo(b, parts, &redislimit.StoreError{Kind: redislimit.KindTimeout, MayHaveRun: true}, f.now())
	close(over)
	f.background.wait()
	if n := b.released.Load(); n != 1 {
		t.Errorf("given back %d times", n)
	}
}

package redislimit

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

// patience is a timeout for checks that must be answered, on a busy machine.
const patience = 20 * time.Second

// storeOn returns a Store that is closed when the test ends.
func storeOn(tb testing.TB, c redis.UniversalClient, o Options) *Store {
	tb.Helper()
	if o.Timeout == 0 {
		o.Timeout = patience
	}
	s := NewStore(c, o)
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// part is a part for subject under a fresh rule of that text.
func part(tb testing.TB, subject, text string, cost int64) Part {
	return Part{Key: Key("", subject, "requests"), Rule: compile(tb, text), Cost: cost}
}

func take(tb testing.TB, s *Store, parts ...Part) Answer {
	tb.Helper()
	a, err := s.Take(context.Background(), parts...)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// failure is the StoreError of a check that must fail with kind.
func failure(tb testing.TB, err error, kind Kind) *StoreError {
	tb.Helper()
	var e *StoreError
	if !errors.As(err, &e) {
		tb.Fatalf("%v is no StoreError; want kind %v", err, kind)
	}
	if e.Kind != kind {
		tb.Fatalf("%v: kind %v, want %v", e, e.Kind, kind)
	}
	return e
}

func TestStoreTakes(t *testing.T) {
	each(t, func(t *testing.T, c redis.UniversalClient) {
		s := storeOn(t, c, Options{})
		p := part(t, "k-7", "1/h,burst=3", 1)
		other := p
		other.Key = Key("", "k-7", "orders")
		for i, want := range []struct {
			parts     []Part
			ok        bool
			remaining int64
		}{
			{nil, true, 0},
			{[]Part{p}, true, 2},
			{[]Part{p, other}, true, 1},
			{[]Part{p, p.costing(0)}[:1], true, 0},
			{[]Part{p, other}, false, 0},
			{[]Part{other}, true, 1},
			{[]Part{p.costing(4), other}, false, 0},
			{[]Part{other.costing(0)}, true, 1},
		} {
			a := take(t, s, want.parts...)
			if a.OK != want.ok || a.Remaining != want.remaining || len(a.Parts) != len(want.parts) {
				t.Errorf("step %d: %+v, want %v with %d left", i, a, want.ok, want.remaining)
			}
		}
		if n := s.Stats().Loads; n != 1 {
			t.Errorf("%d loads of one script on one node, want 1", n)
		}
	})
}

func (p Part) costing(n int64) Part {
	p.Cost = n
	return p
}

func TestStoreLeasesAndTakesBack(t *testing.T) {
	each(t, func(t *testing.T, c redis.UniversalClient) {
		s, ctx := storeOn(t, c, Options{}), context.Background()
		p := part(t, "k-7", "1/h,burst=10", 1)
		lease := func(block, least, granted int64) {
			t.Helper()
			if l, err := s.Lease(ctx, p.Key, p.Rule, block, least); err != nil || l.Granted != granted {
				t.Fatalf("a lease of %d, at least %d: %+v, %v; want %d", block, least, l, err, granted)
			}
		}
		lease(8, 8, 8)
		lease(8, 8, 0)
		lease(8, 1, 2)
		if err := s.GiveBack(ctx, p.Key, p.Rule, 5); err != nil {
			t.Fatal(err)
		}
		lease(5, 5, 5)
	})
}

func TestStoreRefusesWhatIsNoRequest(t *testing.T) {
	c := redistest.Mini(t).Client(t)
	s, ctx := storeOn(t, c, Options{}), context.Background()
	p := part(t, "k", "1/s,burst=1", 1)
	many := make([]Part, maxParts+1)
	for i := range many {
		many[i] = part(t, strings.Repeat("k", i+1), "1/s,burst=1", 1)
	}
	for _, parts := range [][]Part{{{Key: "k"}}, {{Rule: p.Rule}}, {p, p}, many} {
		_, err := s.Take(ctx, parts...)
		if e := failure(t, err, KindUnexpected); e.Ambiguous() {
			t.Errorf("%v: said to be ambiguous", e)
		}
	}
	_, err := s.Lease(ctx, p.Key, p.Rule, 0, 0)
	failure(t, err, KindUnexpected)
	failure(t, s.GiveBack(ctx, p.Key, p.Rule, -1), KindUnexpected)
	if n := s.Stats().Checks; n != 0 {
		t.Errorf("%d of them reached the store", n)
	}
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "127.0.0.1:1"}})
	defer ring.Close()
	_, err = storeOn(t, ring, Options{}).Take(ctx, p)
	failure(t, err, KindUnexpected)
}

func TestStoreDecidesByTheGivenClock(t *testing.T) {
	now := int64(epoch)
	s := storeOn(t, redistest.Mini(t).Client(t), Options{Clock: func() int64 { return now }})
	p := part(t, "k", "1/s,burst=1", 1)
	for i, want := range []bool{true, false, true} {
		a := take(t, s, p)
		if a.OK != want || a.At != now {
			t.Errorf("check %d at %d: %+v, want %v", i, now, a, want)
		}
		now += int64(500 * time.Millisecond)
	}
}

func TestClosedStoreTakesNothing(t *testing.T) {
	each(t, func(t *testing.T, c redis.UniversalClient) {
		s := NewStore(c, Options{Timeout: patience})
		p := part(t, "k", "1/h,burst=100000", 1)
		var admitted, closed sync.WaitGroup
		var ok int64
		var mu sync.Mutex
		for range 8 {
			admitted.Add(1)
			closed.Go(func() {
				first := true
				for {
					_, err := s.Take(context.Background(), p)
					if first {
						first = false
						admitted.Done()
					}
					mu.Lock()
					if err != nil {
						var e *StoreError
						if !errors.As(err, &e) || e.Kind != KindClosed || e.Ambiguous() {
							t.Errorf("after Close: %v", err)
						}
						mu.Unlock()
						return
					}
					ok++
					mu.Unlock()
				}
			})
		}
		admitted.Wait()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		closed.Wait()
		s = storeOn(t, c, Options{})
		if a := take(t, s, p.costing(0)); a.Remaining != 100000-ok {
			t.Errorf("%d left after %d were admitted: Close lost some", a.Remaining, ok)
		}
	})
}

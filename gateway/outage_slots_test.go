package gateway

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// shop is an upstream whose customers stay until they are let go.
type shop struct {
	url    *url.URL
	inside atomic.Int64
	mu     sync.Mutex
	door   chan struct{}
}

func newShop(t *testing.T) *shop {
	t.Helper()
	s := &shop{door: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		door := s.door
		s.mu.Unlock()
		s.inside.Add(1)
		defer s.inside.Add(-1)
		<-door
	}))
	t.Cleanup(server.Close)
	t.Cleanup(s.letGo)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	s.url = u
	return s
}

// letGo opens the door until shut.
func (s *shop) letGo() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.door:
	default:
		close(s.door)
	}
}

func (s *shop) shut() {
	s.mu.Lock()
	s.door = make(chan struct{})
	s.mu.Unlock()
}

// Slots in use at one time: those that the store gave, and while it is away, or
// was, each gateway's own: limit + N × max(1, limit/N). A check or a release
// that was on its way when the server stopped is carried out when it goes on; in
// the wrong order they leave a slot held until the longest hold is over, so that
// there may be fewer, never more.
func TestSlotsDuringAnOutage(t *testing.T) {
	t.Parallel()
	const gateways, slots, share = 20, 60, 3
	for name, away := range map[string]struct{ off, on func(r *redistest.Redis) }{
		"killed": {(*redistest.Redis).Kill, (*redistest.Redis).Restart},
		"paused": {(*redistest.Redis).Pause, (*redistest.Redis).Resume},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := redistest.Server(t)
			s := newShop(t)
			f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: gateways, Limit: spec(t, "concurrency:limit=60"),
				OnFailure: limit.FailLocal, StoreTimeout: 300 * time.Millisecond, Breaker: quick, Upstream: s.url})
			c := newCrowd(t, f)
			var on sync.WaitGroup
			defer on.Wait()
			defer s.letGo()
			// fill sends n to each gateway and waits until all have been decided.
			fill := func(each int) (inside int64) {
				before := f.Counts(0).Totals.Offered
				on.Go(func() { c.atOnce("k", each) })
				until(t, "all are decided", func() bool { return f.Counts(0).Totals.Offered == before+int64(each*gateways) })
				until(t, "those admitted are inside", func() bool {
					inside = s.inside.Load()
					n := f.Counts(0).Totals
					return inside > 0 && n.Admitted-int64(left(c)) == inside
				})
				return inside
			}
			if n := fill(5); n != slots && by(f, FromLocalShare) == 0 {
				t.Errorf("%d inside, want %d", n, slots)
			}
			away.off(r)
			n := fill(8)
			t.Logf("%d slots were in use at one time, of %d, and %d of the shares", n, slots, gateways*share)
			if n <= slots || n > slots+gateways*share {
				t.Errorf("%d inside while the store is away, want more than %d, at most %d", n, slots, slots+gateways*share)
			}
			s.letGo()
			on.Wait()
			away.on(r)
			until(t, "all gateways ask the store again", func() bool {
				c.atOnce("other", 1)
				return openBreakers(f) == 0
			})
			s.shut()
			n = fill(5)
			t.Logf("%d afterwards", n)
			if n > slots+gateways*share {
				t.Errorf("%d inside afterwards, want %d", n, slots)
			}
			s.letGo()
			on.Wait()
			tidyServer(t, r, poolSize)
		})
	}
}

// left is how many requests were admitted and have been answered.
func left(c *crowd) (n int) {
	c.each("", time.Time{}, time.Now(), func(a attempt) {
		if a.status == http.StatusOK {
			n++
		}
	})
	return n
}

// A breaker closes by one answer: as long as that is on its way, everybody else
// is decided without the store.
func TestOneProbeClosesTheBreaker(t *testing.T) {
	t.Parallel()
	r := redistest.Server(t)
	f := serving(t, redisconn.Options{URL: r.URL}, Config{Limit: spec(t, "1/h,burst=100"), OnFailure: limit.FailClosed, StoreTimeout: patient,
		Breaker: limit.BreakerRule{Failures: 3, Every: 50 * time.Millisecond}})
	c := newCrowd(t, f)
	r.Kill()
	until(t, "the breaker is open", func() bool { c.ask(0, "k"); return openBreakers(f) == 1 })
	r.Restart()
	r.Pause()
	time.Sleep(100 * time.Millisecond) // a probe is due
	calls, closed := f.Counts(0).Store.Calls, by(f, FromClosed)
	const asked = 60
	var all sync.WaitGroup
	all.Go(func() { c.atOnce("k", asked) })
	until(t, "all but the probe are answered", func() bool { return by(f, FromClosed) == closed+asked-1 })
	if n := f.Counts(0).Store.Calls - calls; n != 1 || openBreakers(f) != 1 {
		t.Errorf("%d calls, and %d breakers open, while the probe was on its way", n, openBreakers(f))
	}
	r.Resume()
	all.Wait()
	if n := by(f, FromStore); n != 1 || openBreakers(f) != 0 {
		t.Errorf("the store decided %d, and %d breakers are open", n, openBreakers(f))
	}
	if n := stat(t, r, "commandstats", "cmdstat_evalsha"); n != 2 { // the first found no script
		t.Errorf("%d script calls, want 2", n)
	}
	c.balanced()
}

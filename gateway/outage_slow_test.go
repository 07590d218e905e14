package gateway

import (
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// slowRoad is a way to a server on which answers take longer.
type slowRoad struct {
	addr  string
	delay atomic.Int64 // of an answer, in ns
}

func newSlowRoad(t *testing.T, to string) *slowRoad {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &slowRoad{addr: l.Addr().String()}
	var open sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		open.Wait()
	})
	open.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				_ = in.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, in, out)
			mu.Unlock()
			open.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
			open.Go(func() { s.slowly(in, out); _ = in.Close() })
		}
	})
	return s
}

func (s *slowRoad) slowly(to io.Writer, from io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		if n > 0 {
			time.Sleep(time.Duration(s.delay.Load()))
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Answers that take their time. Below the timeout they are waited for and
// obeyed. Above it every check that was sent counts in the store although its
// caller was decided by the fail mode: a key gets
//
//	of the store     at most its burst, and less by what was sent in vain
//	of the fail mode what that lets through
//
// and each gateway sends no more than its breaker lets it.
func TestSlowAnswers(t *testing.T) {
	t.Parallel()
	const gateways, burst, timeout = 20, 200, 400 * time.Millisecond
	r := redistest.Server(t)
	road := newSlowRoad(t, r.Addr)
	f := serving(t, redisconn.Options{URL: "redis://" + road.addr}, Config{Gateways: gateways, Limit: spec(t, "1/h,burst=200"),
		OnFailure: limit.FailClosed, StoreTimeout: timeout, Breaker: quick})
	c := newCrowd(t, f)
	until(t, "every gateway has its connections", func() bool { c.atOnce("warm", 1); return openBreakers(f) == 0 && by(f, FromStore) >= gateways })

	road.delay.Store(int64(30 * time.Millisecond))
	waited := 0
	for g := range gateways {
		if a := c.askedBy(g, "k"); a.by == FromStore.String() && a.status == http.StatusOK && a.done.Sub(a.sent) >= 30*time.Millisecond {
			waited++
		}
	}
	if waited < gateways/2 { // all, on a machine with time
		t.Errorf("%d of %d waited for the store and were let through", waited, gateways)
	}

	road.delay.Store(int64(2 * timeout))
	begun := time.Now()
	calls := f.Counts(0).Store.Calls
	until(t, "all breakers are open", func() bool { c.atOnce("k", 1); return openBreakers(f) == gateways })
	from := time.Now()
	until(t, "enough was asked", func() bool { c.atOnce("k", 5); return time.Since(from) > time.Second })
	to := time.Now()
	calls = f.Counts(0).Store.Calls - calls
	sent, admitted := c.between("k", from, to)
	if admitted != 0 {
		t.Errorf("%d of %d passed though the rule fails closed", admitted, sent)
	}
	if most := int64(gateways * (2*quick.Failures + int(to.Sub(begun)/quick.Every) + 2)); calls > most {
		t.Errorf("%d calls, want at most %d", calls, most)
	}
	road.delay.Store(0)
	c.served("other")
	if n := openBreakers(f); n != 0 {
		t.Errorf("%d breakers are still open", n)
	}
	for range 2 * burst {
		c.askedBy(0, "k")
	}
	all := 0
	c.each("k", time.Time{}, time.Now(), func(a attempt) {
		if a.status == http.StatusOK {
			all++
		}
	})
	t.Logf("%d passed of a burst of %d; %d checks were tried in %v of answers that came too late", all, burst, calls, to.Sub(begun))
	if all > burst || all < burst-int(calls)-gateways {
		t.Errorf("%d passed, want at most %d, and at most %d less", all, burst, calls)
	}
	c.balanced()
	tidyServer(t, r, poolSize)
}

// A fleet that has been through outages leaves nothing behind. Not parallel: it
// counts goroutines.
func TestOutagesLeaveNothingBehind(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	r := redistest.Server(t)
	base := 0
	for round := range 3 {
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			f := serving(t, redisconn.Options{URL: r.URL}, Config{Gateways: 20, Design: LeasesDenyCache, Limit: spec(t, "100/s,burst=500"),
				OnFailure: limit.FailLocal, StoreTimeout: 100 * time.Millisecond, Breaker: quick})
			c := newCrowd(t, f)
			c.atOnce("k", 3)
			r.Pause()
			c.atOnce("k", 6)
			r.Resume()
			r.Kill()
			c.atOnce("k", 6)
			r.Restart()
			until(t, "all gateways ask the store again", func() bool {
				c.atOnce("k", 1)
				c.atOnce(strconv.Itoa(len(c.seen)), 1)
				return openBreakers(f) == 0
			})
			c.balanced()
			tidyServer(t, r, poolSize)
		})
		// The fleet is stopped and its client closed.
		if round == 0 { // by which time everything has begun that begins once
			time.Sleep(50 * time.Millisecond)
			base = runtime.NumGoroutine()
		}
		until(t, "the goroutines have ended", func() bool { return runtime.NumGoroutine() <= base })
		until(t, "the connections are closed", func() bool { return stat(t, r, "clients", "connected_clients") == 1 })
	}
}

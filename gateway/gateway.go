package gateway

import (
	"context"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// gateway is one limiter process of the fleet.
type gateway struct {
	fleet    *Fleet
	n        int   // from 0
	ahead    int64 // how far its clock is wrong, in nanoseconds
	echo     body
	breakers *breakers
	waiter   *waiter
	gate     *gate                 // nil when nothing is shed
	rules    atomic.Pointer[ready] // in force here

	coming   sync.Mutex
	versions *limit.Versions[*ready]
	offers   []offer      // on their way to this gateway
	next     atomic.Int64 // when the first of them is due
}

func newGateway(f *Fleet, n int, first *ready) *gateway {
	g := &gateway{fleet: f, n: n, ahead: int64(f.cfg.Wrong.ahead(n, f.cfg.Gateways)),
		echo:     newBody("application/json", `{"ok":true,"gateway":`+strconv.Itoa(n+1)+"}\n"),
		breakers: newBreakers(f.cfg.Breaker, func(node string, open bool) { f.observer.breaker(n, node, open) }),
		waiter:   newWaiter(f.cfg, n),
		gate:     newGate(f.cfg.Shed, f.cfg.Seed),
		versions: limit.NewVersions(first.set.Version, first, false)}
	g.rules.Store(first)
	g.next.Store(math.MaxInt64)
	return g
}

// now is the time on the gateway's own clock.
func (g *gateway) now() int64 { return g.fleet.now() + g.ahead }

// controlPrefix begins the paths that the fleet answers itself.
const controlPrefix = "/-/"

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		g.control(w, r)
		return
	}
	f := g.fleet
	run := f.run.Load()
	// "http:v1/login" has no path that a route could be, and goes on as it is.
	if r.URL.Opaque != "" {
		run.tally.invalid(g.n)
		drain(r, f.cfg.MaxBody)
		badPath.write(w, r, http.StatusBadRequest)
		return
	}
	now := f.now()
	who, status := f.who(r, g.n, now)
	if status != 0 {
		run.tally.unknown(g.n)
		drain(r, f.cfg.MaxBody)
		f.identity.refuse(w, r, status)
		return
	}
	key := who.name()
	cut := f.scissors.draw()
	if cut == cutBefore {
		run.tally.cutBefore(g.n, key)
		panic(http.ErrAbortHandler)
	}
	cost, ok := f.cfg.Cost.of(r)
	if !ok {
		run.tally.invalid(g.n)
		badCost.write(w, r, http.StatusBadRequest)
		return
	}

	f.observer.arrived()
	defer f.observer.answered()
	set := g.current(now)
	var room [4]rules.Hit
	hits := set.set.Match(room[:0], who.request(r), now)
	// What servers take for so many paths is under more than a store decides at once.
	if len(hits) > rules.MaxAtOnce {
		run.tally.invalid(g.n)
		drain(r, f.cfg.MaxBody)
		badPath.write(w, r, http.StatusBadRequest)
		return
	}
	s := scratches.Get().(*scratch)
	defer s.free()
	v := g.decide(r.Context(), run, set, s, hits, now+g.ahead, cost)
	number := run.tally.decided(g.n, key, v.OK, v.Source, cost, cut == cutAfter)
	// A look at the clock costs as much as a decision in memory, so nobody
	// looks who need not know.
	took := time.Duration(0)
	if f.observer.timed() {
		took = time.Duration(f.now() - now)
	}
	f.observer.decided(g.n, now, &v, &who, cost, took)
	wait := g.waiter.wait(&v, now)
	if run.recorder != nil {
		g.record(run, number, now, cost, &v, wait)
	}
	tell := func(h http.Header) { f.voice.tell(h, &v, hits, wait, now) }
	if v.OK {
		g.admit(w, r, run, s, key, v.Delay, cut, tell)
		return
	}
	drain(r, f.cfg.MaxBody)
	refusal := f.voice.refusal(&v)
	if !pause(r.Context(), f.cfg.RefusalLatency) || cut == cutAfter {
		cutShort(w, r, &refusal, f.refused, cut)
		return
	}
	tell(w.Header())
	refusal.write(w, r, f.refused)
}

// admit answers a request that was admitted, after delay.
func (g *gateway) admit(w http.ResponseWriter, r *http.Request, run *run, s *scratch, key string, delay time.Duration, cut cut, tell func(http.Header)) {
	f := g.fleet
	releases := s.releases()
	if releases {
		// Held until the answer is out, also when the handler is aborted.
		defer g.release(run, s)
	}
	// What is shed was admitted and stays charged: limits know nothing of it.
	var flight *flight
	if g.gate != nil {
		var ok bool
		if flight, ok = g.gate.enter(f.now()); !ok {
			run.tally.shed(g.n, key)
			drain(r, f.cfg.MaxBody)
			g.gate.turnAway(w, r)
			return
		}
		defer func() { flight.land(f.now()) }()
	}
	if f.proxy == nil {
		drain(r, f.cfg.MaxBody)
	}
	if !pause(r.Context(), f.cfg.Latency+delay) || cut == cutAfter {
		cutShort(w, r, &g.echo, http.StatusOK, cut)
		return
	}
	tell(w.Header())
	if f.proxy != nil {
		g.forward(w, r, run, key, flight)
	} else {
		if flight != nil {
			flight.answer(f.now(), http.StatusOK)
		}
		g.echo.write(w, r, http.StatusOK)
	}
	if releases {
		http.NewResponseController(w).Flush()
	}
}

func (g *gateway) record(r *run, key uint32, now, cost int64, v *verdict, wait time.Duration) {
	f := g.fleet
	status := uint16(http.StatusOK)
	if !v.OK {
		status = uint16(f.refused)
	}
	said, told := f.voice.told(v, wait)
	r.recorder.record(g.n, key, now-r.started, f.now()-r.started, cost, &v.Decision, status, said, told)
}

// request is what rules are matched with.
func (c *caller) request(r *http.Request) rules.Request {
	return rules.Request{Key: c.Key, Plan: c.Plan, Address: c.Address, Method: r.Method, Path: r.URL.Path, Kept: keptSlashes(r.URL)}
}

// name is what a caller is counted under.
func (c *caller) name() string {
	if c.Key == "" {
		return c.Address
	}
	return c.Key
}

// who is the caller, unless a forgeable header replaces its key.
func (f *Fleet) who(r *http.Request, n int, now int64) (caller, int) {
	if f.forgeHdr != "" {
		if v := first(r, f.forgeHdr); v != "" {
			// The usual mistake reads the first of a list, the part that the
			// caller wrote.
			v, _, _ = strings.Cut(v, ",")
			return caller{Key: bounded(strings.TrimSpace(v)), Address: f.identity.proxies.of(r), Known: true}, 0
		}
	}
	return f.identity.of(r, n, now)
}

// drain reads a body so that its connection can be kept. What is longer than
// most is left, and the server closes the connection.
func drain(r *http.Request, most int64) {
	if r.Body == nil || r.Body == http.NoBody {
		return
	}
	io.CopyN(io.Discard, r.Body, most)
}

// longPause is from where a caller's hanging up is waited for as well; below
// it a plain sleep costs less.
const longPause = 100 * time.Millisecond

// pause waits for d and reports false when the caller hung up before.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	if d < longPause {
		time.Sleep(d)
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// cutShort ends the connection. A cut on purpose sends half the answer first;
// a HEAD request has no half, so it gets nothing.
func cutShort(w http.ResponseWriter, r *http.Request, b *body, status int, why cut) {
	if why == cutAfter && r.Method != http.MethodHead {
		b.head(w.Header())
		w.WriteHeader(status)
		w.Write(b.bytes[:len(b.bytes)/2])
		http.NewResponseController(w).Flush()
	}
	panic(http.ErrAbortHandler)
}

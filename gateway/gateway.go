package gateway

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// gateway is one limiter process of the fleet.
type gateway struct {
	fleet *Fleet
	n     int   // from 0
	ahead int64 // how far its clock is wrong, in nanoseconds
	echo  body
}

func newGateway(f *Fleet, n int) *gateway {
	return &gateway{fleet: f, n: n,
		echo: newBody("application/json", `{"ok":true,"gateway":`+strconv.Itoa(n+1)+"}\n")}
}

// controlPrefix begins the paths that the fleet answers itself.
const controlPrefix = "/-/"

func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, controlPrefix) {
		g.control(w, r)
		return
	}
	f := g.fleet
	run := f.run.Load()
	key := f.keyOf(r)
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
	s := run.store(f.cfg.Design, g.n, key)
	now := f.now()
	d := s.Take(key, now+g.ahead, cost)
	number := run.tally.decided(g.n, key, d.OK, cost, cut == cutAfter)
	f.observer.decided(g.n, now, &verdict{Decision: d}, &caller{Key: key}, cost, time.Duration(f.now()-now))
	if run.recorder != nil {
		g.record(run, number, now, cost, d)
	}

	if !d.OK {
		drain(r, f.cfg.MaxBody)
		if !pause(r.Context(), f.cfg.RefusalLatency) || cut == cutAfter {
			cutShort(w, r, &f.refusal, f.refused, cut)
			return
		}
		f.voice.say(w.Header(), d, now)
		f.refusal.write(w, r, f.refused)
		return
	}
	if f.releases {
		// Held until the answer is out, also when the handler is aborted.
		defer func() { s.Release(key, f.now()+g.ahead, cost) }()
	}
	if f.proxy == nil {
		drain(r, f.cfg.MaxBody)
	}
	if !pause(r.Context(), f.cfg.Latency+d.Delay) || cut == cutAfter {
		cutShort(w, r, &g.echo, http.StatusOK, cut)
		return
	}
	f.voice.say(w.Header(), d, now)
	if f.proxy != nil {
		g.forward(w, r, run, key)
	} else {
		g.echo.write(w, r, http.StatusOK)
	}
	if f.releases {
		http.NewResponseController(w).Flush()
	}
}

func (g *gateway) record(r *run, key uint32, now, cost int64, d limit.Decision) {
	f := g.fleet
	status := uint16(http.StatusOK)
	if !d.OK {
		status = uint16(f.refused)
	}
	said, told := f.voice.wait(d)
	r.recorder.record(g.n, key, now-r.started, f.now()-r.started, cost, &d, status, said, told)
}

// keyOf is the key of the config, unless a forgeable header replaces it.
func (f *Fleet) keyOf(r *http.Request) string {
	if f.forgeHdr != "" {
		if v := first(r, f.forgeHdr); v != "" {
			// The usual mistake reads the first of a list, the part that the
			// caller wrote.
			v, _, _ = strings.Cut(v, ",")
			return bounded(strings.TrimSpace(v))
		}
	}
	return f.cfg.Key.of(r)
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

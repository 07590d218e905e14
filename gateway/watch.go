package gateway

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// watch remembers what health is told from. Safe for concurrent use.
type watch struct {
	gateways []watched

	mu       sync.Mutex
	version  int64
	loadedAt int64  // unix ns; 0 is never
	failure  string // of the newest attempt to load rules; "" when it went well
}

// watched is what one gateway went through.
type watched struct {
	answeredAt atomic.Int64 // by the store, unix ns; 0 is never
	failedAt   atomic.Int64
	failure    atomic.Pointer[string]

	mu   sync.Mutex
	open []string // nodes whose breaker is open
	_    [64]byte // keeps neighbours off one cache line
}

// maxOpen bounds the nodes that one gateway remembers as open.
const maxOpen = maxNodeLabels

func (w *watch) stored(gw int, now int64, kind string) {
	g := &w.gateways[gw]
	if kind == "" {
		g.answeredAt.Store(now)
		return
	}
	g.failure.Store(&kind)
	g.failedAt.Store(now)
}

// failed is what went wrong with the gateway's newest check that failed, ""
// when none has.
func (w *watch) failed(gw int) string {
	if kind := w.gateways[gw].failure.Load(); kind != nil {
		return *kind
	}
	return ""
}

// breaker reports whether that is news.
func (w *watch) breaker(gw int, node string, open bool) bool {
	g := &w.gateways[gw]
	g.mu.Lock()
	defer g.mu.Unlock()
	i := slices.Index(g.open, node)
	switch {
	case open == (i >= 0) || open && len(g.open) == maxOpen:
		return false
	case open:
		g.open = append(g.open, node)
	default:
		g.open = slices.Delete(g.open, i, i+1)
	}
	return true
}

func (w *watch) loaded(version, now int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.failure = err.Error()
		return
	}
	if w.failure = ""; w.loadedAt == 0 || version != w.version {
		w.version, w.loadedAt = version, now
	}
}

// rules is the version in force and how long it has been, in seconds.
func (w *watch) rules(now int64) (version int64, age float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version, max(0, time.Duration(now-w.loadedAt).Seconds())
}

package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/weir-cli/weir/report"
)

// Health is what GET /-/healthz answers. Fields may be added, none renamed.
type Health struct {
	// Status is "ok", "degraded" (200: it answers as it was told to for such a
	// case) or "unhealthy" (503: send requests elsewhere).
	Status  string   `json:"status"`
	Gateway int      `json:"gateway"` // from 1
	Reasons []string `json:"reasons"` // for a status that is not ok

	RulesVersion int64   `json:"rules_version"`
	RulesAgeS    float64 `json:"rules_age_s"` // since it came into force
	// Store is "none", "unasked", "answers", or "fails" when the newest check
	// did.
	Store        string   `json:"store"`
	BreakersOpen []string `json:"breakers_open"` // nodes; "store" is the only one
}

const (
	healthy   = "ok"
	degraded  = "degraded"
	unhealthy = "unhealthy"
)

// health tells about gateway gw at now.
func (w *watch) health(gw int, now int64, store, stopping bool) Health {
	h := Health{Status: healthy, Gateway: gw + 1, Reasons: []string{}, BreakersOpen: []string{}, Store: "none"}
	say := func(status, format string, args ...any) {
		h.Reasons = append(h.Reasons, fmt.Sprintf(format, args...))
		if h.Status != unhealthy {
			h.Status = status
		}
	}
	if stopping {
		say(unhealthy, "it is stopping")
	}
	h.RulesVersion, h.RulesAgeS = w.rules(now)
	w.mu.Lock()
	failure := w.failure
	w.mu.Unlock()
	if failure != "" {
		say(degraded, "newer rules were not taken: %s", report.Clean(failure))
	}

	g := &w.gateways[gw]
	g.mu.Lock()
	for _, node := range g.open {
		if node == "" {
			node = storeNode
		}
		h.BreakersOpen = append(h.BreakersOpen, report.Clean(node))
	}
	g.mu.Unlock()
	slices.Sort(h.BreakersOpen)
	for _, node := range h.BreakersOpen {
		say(degraded, "the breaker for %s is open, so each rule decides as it is told to for that", node)
	}
	if store {
		answered, failed := g.answeredAt.Load(), g.failedAt.Load()
		switch {
		case answered == 0 && failed == 0:
			h.Store = "unasked"
		case failed > answered:
			h.Store = "fails"
			say(degraded, "the newest check of the store failed: %s", report.Clean(*g.failure.Load()))
		default:
			h.Store = "answers"
		}
	}
	return h
}

func (g *gateway) healthz(w http.ResponseWriter, r *http.Request) {
	if !allowed(w, r, http.MethodGet) {
		return
	}
	f := g.fleet
	h := f.observer.watch.health(g.n, f.now(), f.cfg.Redis != nil, f.stopping.Load())
	status := http.StatusOK
	if h.Status == unhealthy {
		status = http.StatusServiceUnavailable
	}
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(h); err != nil {
		http.Error(w, "its state cannot be written", http.StatusInternalServerError)
		return
	}
	w.Header()["Cache-Control"] = []string{"no-store"}
	b := newBody("application/json", text.String())
	b.write(w, r, status)
}

package gateway

import (
	"encoding/json"
	"net"
	"net/http"
	"strconv"
)

// defaultTop is how many keys GET /-/counts shows when ?top= is not given.
const defaultTop = 100

// control answers the fleet's own paths. They are not counted, cut or
// limited, and only this machine may read them, because they show keys.
func (g *gateway) control(w http.ResponseWriter, r *http.Request) {
	if !fromHere(r) {
		http.Error(w, "only for callers on this machine", http.StatusForbidden)
		return
	}
	switch r.URL.Path {
	case "/-/healthz":
		g.healthz(w, r)
	case "/-/metrics":
		g.metrics(w, r)
	case "/-/counts":
		g.counts(w, r)
	case "/-/reset":
		g.reset(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (g *gateway) metrics(w http.ResponseWriter, r *http.Request) {
	if !allowed(w, r, http.MethodGet) {
		return
	}
	h := g.fleet.Metrics()
	if h == nil || !g.fleet.cfg.Observe.Open {
		http.Error(w, "metrics are not enabled here", http.StatusNotFound)
		return
	}
	h.ServeHTTP(w, r)
}

func (g *gateway) counts(w http.ResponseWriter, r *http.Request) {
	if !allowed(w, r, http.MethodGet) {
		return
	}
	top := defaultTop
	if s := r.URL.Query().Get("top"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 {
			http.Error(w, "top: want a whole number", http.StatusBadRequest)
			return
		}
		top = min(n, g.fleet.cfg.MaxKeys)
	}
	w.Header()["Content-Type"] = []string{"application/json"}
	w.Header()["Cache-Control"] = []string{"no-store"}
	// An error here is the caller's hanging up.
	_ = json.NewEncoder(w).Encode(g.fleet.Counts(top))
}

func (g *gateway) reset(w http.ResponseWriter, r *http.Request) {
	if !allowed(w, r, http.MethodPost) {
		return
	}
	if !g.fleet.cfg.Reset {
		http.Error(w, "reset is not enabled here", http.StatusForbidden)
		return
	}
	g.fleet.Reset()
	w.WriteHeader(http.StatusNoContent)
}

func allowed(w http.ResponseWriter, r *http.Request, method string) bool {
	if r.Method == method || method == http.MethodGet && r.Method == http.MethodHead {
		return true
	}
	w.Header()["Allow"] = []string{method}
	http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
	return false
}

// fromHere reports whether the peer is on this machine: a loopback address or
// a unix socket.
func fromHere(r *http.Request) bool {
	a := address(r.RemoteAddr)
	ip := net.ParseIP(a)
	return a == "unix" || ip != nil && ip.IsLoopback()
}

package gateway

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Shed says how a gateway keeps what it stands in front of from being
// overloaded: by a cap on calls in flight, whoever makes them. It is no part
// of any limit. The zero value lets everything through.
type Shed struct {
	InFlight int  // the cap of each gateway; 0 is none
	Adaptive bool // the cap follows how long calls take
}

// ParseShed reads inflight=N or adaptive.
func ParseShed(s string) (Shed, error) {
	if s == "adaptive" {
		return Shed{Adaptive: true}, nil
	}
	if value, ok := strings.CutPrefix(s, "inflight="); ok {
		if n, err := strconv.Atoi(value); err == nil && n >= 1 && n <= limit.MaxInFlight {
			return Shed{InFlight: n}, nil
		}
		return Shed{}, &ConfigError{"shed", s, "want a number from 1 to " + strconv.Itoa(limit.MaxInFlight)}
	}
	return Shed{}, &ConfigError{"shed", s, "want inflight=N or adaptive"}
}

func (s *Shed) on() bool { return s.Adaptive || s.InFlight > 0 }

func (s *Shed) check(c *Config) error {
	switch {
	case !s.on():
		return nil
	case s.Adaptive && s.InFlight > 0:
		return &ConfigError{"shed", "adaptive", "is not combined with a fixed number"}
	case c.Upstream == nil && c.Latency == 0:
		return &ConfigError{"shed", "", "needs --upstream or --latency: an echo that takes no time is never overloaded"}
	}
	_, err := s.shedder()
	return err
}

func (s *Shed) shedder() (*limit.Shedder, error) {
	if s.Adaptive {
		return limit.NewShedder(limit.ShedSpec{})
	}
	return limit.NewShedder(limit.ShedSpec{Least: s.InFlight, Most: s.InFlight})
}

// gate is one gateway's shedder. nil lets everything through. Safe for
// concurrent use.
type gate struct {
	mu    sync.Mutex
	shed  *limit.Shedder
	drawn atomic.Uint64
	seed  uint64
}

// newGate is for a Shed that was checked.
func newGate(s Shed, seed int64) *gate {
	if !s.on() {
		return nil
	}
	shed, err := s.shedder()
	if err != nil {
		return nil
	}
	return &gate{shed: shed, seed: uint64(seed)}
}

// flight is a call that was let in. The zero value is one that nobody counts.
type flight struct {
	gate     *gate
	began    int64
	answered int64 // when the upstream's answer began; 0 is not yet
	failed   bool  // it said that it was overloaded, or nothing
}

// enter reports whether a call may go on; a call that may has to land.
func (g *gate) enter(now int64) (*flight, bool) {
	if g == nil {
		return nil, true
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.shed.Enter(now) {
		return nil, false
	}
	return &flight{gate: g, began: now}, true
}

// answer notes that an answer of that status began.
func (f *flight) answer(now int64, status int) {
	if f == nil {
		return
	}
	f.answered = now
	f.failed = status == http.StatusServiceUnavailable || status == http.StatusBadGateway || status == http.StatusGatewayTimeout
}

// land ends the call. How long it took is until its answer began: a caller who
// reads slowly says nothing about the upstream, nor does one who hung up before.
func (f *flight) land(now int64) {
	if f == nil {
		return
	}
	took := f.answered - f.began
	if f.answered == 0 {
		took = -1
	}
	f.gate.mu.Lock()
	defer f.gate.mu.Unlock()
	f.gate.shed.Leave(now, time.Duration(took), f.failed)
}

// overloaded is the answer to a call that was shed. Its type is no limit's:
// the caller did nothing wrong, and no limit of its own will tell when to come
// back.
var overloaded = problem(`{"type":"https://github.com/weir-cli/weir/blob/main/docs/serve.md#overload",` +
	`"title":"The service is overloaded","status":503,"detail":"This is not about your limit. Try again a little later."}` + "\n")

// shedWait is at most how long a shed call is asked to stay away. Each is told
// 1 s to this, so that they do not return together.
const shedWait = 3

// turnAway answers a call that was shed. It tells nothing about limits.
func (g *gate) turnAway(w http.ResponseWriter, r *http.Request) {
	n := rand.New(rand.NewPCG(g.seed^0x73686564, g.drawn.Add(1))).IntN(shedWait)
	w.Header()["Retry-After"] = []string{strconv.Itoa(1 + n)}
	overloaded.write(w, r, http.StatusServiceUnavailable)
}

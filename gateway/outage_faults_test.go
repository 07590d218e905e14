package gateway

import (
	"net/http"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// trial is one fault of a server that twenty gateways share.
type trial struct {
	start func(t *testing.T) (*redistest.Redis, redisconn.Options)
	begin func(t *testing.T, r *redistest.Redis) // the fault
	end   func(t *testing.T, r *redistest.Redis)
	kind  redislimit.Kind // as which it shows, among others
	also  redislimit.Kind // or as this
	// lost says that the server comes back empty, so that each key may pass
	// its burst once more.
	lost bool
	// charged says that checks which got no answer may have been counted.
	charged bool
	// local says that the store is well and only these keys are not: no
	// breaker opens.
	local bool
}

func onServer(extra ...string) func(t *testing.T) (*redistest.Redis, redisconn.Options) {
	return func(t *testing.T) (*redistest.Redis, redisconn.Options) {
		r := redistest.Server(t, extra...)
		return r, redisconn.Options{URL: r.URL}
	}
}

// trialKey is the key that a trial asks about under a mode.
func trialKey(mode limit.FailMode) string { return "k-" + mode.String() }

var failModes = []limit.FailMode{limit.FailOpen, limit.FailClosed, limit.FailLocal}

// Each fault, under each failure mode. With a limit of b tokens and hardly any
// refill, N gateways, and k tokens that the store has given out before, a key
// gets of d requests while the fault lasts
//
//	open              all d
//	closed            none of d, and a caller is told when to come back
//	local             N × max(1, b/N) − k, for d large enough: shares are kept warm
//
// and of the store, before and after it, b; and k more where it lost the key.
func TestFaults(t *testing.T) {
	house := new(fullHouse)
	for name, tt := range map[string]trial{
		"killed and restarted": {
			start: onServer(), kind: redislimit.KindRefused, lost: true,
			begin: func(t *testing.T, r *redistest.Redis) { r.Kill() },
			end:   func(t *testing.T, r *redistest.Redis) { r.Restart() },
		},
		"paused": {
			start: onServer(), kind: redislimit.KindTimeout, charged: true,
			begin: func(t *testing.T, r *redistest.Redis) { r.Pause() },
			end:   func(t *testing.T, r *redistest.Redis) { r.Resume() },
		},
		"made a replica": {
			start: onServer(), kind: redislimit.KindReadOnly,
			begin: func(t *testing.T, r *redistest.Redis) { r.CLI("REPLICAOF", "127.0.0.1", "1") },
			end:   func(t *testing.T, r *redistest.Redis) { r.CLI("REPLICAOF", "NO", "ONE") },
		},
		"maxmemory with noeviction": {
			start: onServer(), kind: redislimit.KindOutOfMemory,
			begin: func(t *testing.T, r *redistest.Redis) { r.CLI("CONFIG", "SET", "maxmemory", "1") },
			end:   func(t *testing.T, r *redistest.Redis) { r.CLI("CONFIG", "SET", "maxmemory", "0") },
		},
		"connection limit": {
			start: onServer(), kind: redislimit.KindMaxClients, also: redislimit.KindBroken,
			begin: house.begin, end: house.end,
		},
		"password rotated": {
			start: func(t *testing.T) (*redistest.Redis, redisconn.Options) {
				r := redistest.ACL(t, "limiter on >old ~rl:* +@all")
				return r, redisconn.Options{URL: r.URL, User: "limiter", Password: "old"}
			},
			kind: redislimit.KindNoAuth,
			begin: func(t *testing.T, r *redistest.Redis) {
				r.CLI("ACL", "SETUSER", "limiter", "resetpass", ">new")
				r.CLI("CLIENT", "KILL", "USER", "limiter") // servers do not by themselves
			},
			end: func(t *testing.T, r *redistest.Redis) { r.CLI("ACL", "SETUSER", "limiter", ">old") },
		},
		"permission withdrawn": {
			start: func(t *testing.T) (*redistest.Redis, redisconn.Options) {
				r := redistest.ACL(t, "limiter on >old ~rl:* +@all")
				return r, redisconn.Options{URL: r.URL, User: "limiter", Password: "old"}
			},
			kind:  redislimit.KindNoPerm,
			begin: func(t *testing.T, r *redistest.Redis) { r.CLI("ACL", "SETUSER", "limiter", "-evalsha") },
			end:   func(t *testing.T, r *redistest.Redis) { r.CLI("ACL", "SETUSER", "limiter", "+evalsha") },
		},
		"wrong type at the key": {
			start: onServer(), kind: redislimit.KindWrongType, local: true, lost: true,
			begin: func(t *testing.T, r *redistest.Redis) {
				for _, mode := range failModes {
					r.CLI("SET", redislimit.Key("", trialKey(mode), "default"), "x", "EX", "1000")
				}
			},
			end: func(t *testing.T, r *redistest.Redis) {
				for _, mode := range failModes {
					r.CLI("DEL", redislimit.Key("", trialKey(mode), "default"))
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); tt.run(t) })
	}
}

func (tt trial) run(t *testing.T) {
	const gateways, burst, before = 20, 40, 10
	r, o := tt.start(t)
	timeout := 10 * time.Second
	if tt.kind == redislimit.KindTimeout {
		timeout = 150 * time.Millisecond
	}
	var crowds []*crowd
	for _, mode := range failModes {
		c := newCrowd(t, serving(t, o, Config{Gateways: gateways, Limit: spec(t, "1/h,burst=40"),
			OnFailure: mode, StoreTimeout: timeout, Breaker: quick}))
		for g := range before {
			if a := c.askedBy(g, trialKey(mode)); a.status != http.StatusOK || a.by != FromStore.String() && tt.kind != redislimit.KindTimeout {
				t.Fatalf("before: %+v", a)
			}
		}
		crowds = append(crowds, c)
	}
	tt.begin(t, r)
	for i, mode := range failModes {
		tt.during(t, crowds[i], mode, burst-before)
	}
	tt.end(t, r)
	for i, mode := range failModes {
		c, key := crowds[i], trialKey(mode)
		c.served("other-" + mode.String())
		c.served(key) // where no breaker opened, that means something
		if open := openBreakers(c.f); open != 0 {
			t.Errorf("%v: %d breakers are still open", mode, open)
		}
		for range 2 * burst { // what is left
			c.askedBy(0, key)
		}
		admitted := 0
		c.each(key, time.Time{}, time.Now(), func(a attempt) {
			if a.by == FromStore.String() && a.status == http.StatusOK {
				admitted++
			}
		})
		least, most := burst, burst
		if tt.lost {
			least, most = before+burst, before+burst
		}
		if tt.charged {
			least = 0
		}
		if admitted < least || admitted > most {
			t.Errorf("%v: the store let %d pass in all, want %d to %d", mode, admitted, least, most)
		}
		c.balanced()
	}
	tidyServer(t, r, len(failModes)*poolSize)
}

// during asks while the fault lasts. unused is how much of the gateways' shares
// no admission by the store has used up.
func (tt trial) during(t *testing.T, c *crowd, mode limit.FailMode, unused int) {
	key, byStore := trialKey(mode), by(c.f, FromStore)
	from := time.Now()
	c.atOnce(key, 6)
	for n := range 2 * len(c.urls) {
		c.ask(n%len(c.urls), key)
	}
	sent, admitted := c.between(key, from, time.Now())
	want := map[limit.FailMode]int{limit.FailOpen: sent, limit.FailClosed: 0, limit.FailLocal: unused}[mode]
	t.Logf("%v: %d of %d passed, computed %d", mode, admitted, sent, want)
	if admitted != want {
		t.Errorf("%v: %d of %d passed, want %d", mode, admitted, sent, want)
	}
	if n := by(c.f, FromStore); n != byStore {
		t.Errorf("%v: the store decided %d", mode, n-byStore)
	}
	c.each(key, from, time.Now(), func(a attempt) {
		refused := a.status == http.StatusTooManyRequests && a.problem == problemCapacity && a.wait != "" && a.wait != "0"
		if a.status != http.StatusOK && !refused || mode == limit.FailClosed && a.wait != "1" {
			t.Errorf("%v: a caller was told %+v", mode, a)
		}
	})
	kinds, shown := map[redislimit.Kind]int64{}, int64(0)
	for _, s := range c.f.stores {
		for kind, n := range s.Stats().Errors {
			kinds[kind] += n
		}
	}
	if shown = kinds[tt.kind] + kinds[tt.also]; shown == 0 {
		t.Errorf("%v: it did not show as %v, but as %v", mode, tt.kind, kinds)
	}
	open := openBreakers(c.f)
	switch {
	case !tt.local && open != len(c.urls), tt.local && open != 0:
		t.Errorf("%v: %d breakers are open", mode, open)
	case tt.local:
		if a := c.askedBy(0, "neighbour"); a.by != FromStore.String() {
			t.Errorf("a neighbour got %+v", a)
		}
	}
}

// fullHouse is a server on which one connection takes all the room there is.
type fullHouse struct{ last *redis.Conn }

// begin ends the gateways' connections and lets no others in.
func (h *fullHouse) begin(t *testing.T, r *redistest.Redis) {
	h.last = r.Client(t).(*redis.Client).Conn()
	h.do(t, "CONFIG", "SET", "maxclients", "1")
	h.do(t, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
}

func (h *fullHouse) end(t *testing.T, r *redistest.Redis) {
	h.do(t, "CONFIG", "SET", "maxclients", "1000")
	_ = h.last.Close()
}

func (h *fullHouse) do(t *testing.T, command ...any) {
	t.Helper()
	if err := h.last.Do(t.Context(), command...).Err(); err != nil {
		t.Fatal(err)
	}
}

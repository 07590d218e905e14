package redislimit

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

// Every way in which a server says no. None of them can have charged, so none
// is ambiguous; and once the cause is gone, the Store goes on.
func TestFaults(t *testing.T) {
	type fault struct {
		kind  Kind
		also  Kind // what go-redis makes of it at times; 0 is nothing else
		start func(t *testing.T) (*redistest.Redis, *redis.Options)
		begin func(t *testing.T, r *redistest.Redis, p Part)
		end   func(t *testing.T, r *redistest.Redis, p Part) // nil when it cannot be mended in place
	}
	plain := func(extra ...string) func(t *testing.T) (*redistest.Redis, *redis.Options) {
		return func(t *testing.T) (*redistest.Redis, *redis.Options) {
			r := redistest.Server(t, extra...)
			return r, &redis.Options{Addr: r.Addr}
		}
	}
	user := func(password, rules string) func(t *testing.T) (*redistest.Redis, *redis.Options) {
		return func(t *testing.T) (*redistest.Redis, *redis.Options) {
			r := redistest.ACL(t, "limiter on >right "+rules)
			return r, &redis.Options{Addr: r.Addr, Username: "limiter", Password: password}
		}
	}
	nothing := func(*testing.T, *redistest.Redis, Part) {}
	for name, f := range map[string]fault{
		"nobody listens": {
			KindRefused, 0, plain(),
			func(t *testing.T, r *redistest.Redis, p Part) { r.Kill() },
			func(t *testing.T, r *redistest.Redis, p Part) { r.Restart() },
		},
		"something else at the key": {
			KindWrongType, 0, plain(),
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("SET", p.Key, "1") },
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("DEL", p.Key) },
		},
		"memory is full": {
			KindOutOfMemory, 0, plain(),
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("CONFIG", "SET", "maxmemory", "1") },
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("CONFIG", "SET", "maxmemory", "0") },
		},
		"a replica": {
			KindReadOnly, 0, plain(),
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("REPLICAOF", "127.0.0.1", "1") },
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("REPLICAOF", "NO", "ONE") },
		},
		"a replica without its primary": {
			KindMasterDown, 0, plain("--replica-serve-stale-data", "no"),
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("REPLICAOF", "127.0.0.1", "1") },
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("REPLICAOF", "NO", "ONE") },
		},
		"too few replicas": {
			KindNoWrites, 0, plain(),
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("CONFIG", "SET", "min-replicas-to-write", "1") },
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("CONFIG", "SET", "min-replicas-to-write", "0") },
		},
		"another script runs on": {
			KindBusy, 0, plain("--lua-time-limit", "1"), busy,
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("SCRIPT", "KILL") },
		},
		"the data is still being read": {
			KindLoading, 0, plain("--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024"), loading,
			func(t *testing.T, r *redistest.Redis, p Part) {
				r.CLI("CONFIG", "SET", "key-load-delay", "0")
				c := r.Client(t)
				eventually(t, "all is read", func() bool { return c.Get(context.Background(), "filler-1").Err() == nil })
				r.CLI("REPLICAOF", "NO", "ONE")
			},
		},
		"no more connections": {
			KindMaxClients, KindBroken, plain(), full,
			func(t *testing.T, r *redistest.Redis, p Part) { r.Restart() },
		},
		"a wrong password": {kind: KindNoAuth, start: user("wrong", "~rl:* +@all"), begin: nothing},
		"no password":      {kind: KindNoAuth, start: user("", "~rl:* +@all"), begin: nothing},
		"not that command": {
			KindNoPerm, 0, user("right", "~rl:* +@all -evalsha"), nothing,
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("ACL", "SETUSER", "limiter", "+evalsha") },
		},
		"no loading of scripts": {
			KindNoPerm, 0, user("right", "~rl:* +@all -script"), nothing,
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("ACL", "SETUSER", "limiter", "+script") },
		},
		"not these keys": {
			KindNoPerm, 0, user("right", "~other:* +@all"), nothing,
			func(t *testing.T, r *redistest.Redis, p Part) { r.CLI("ACL", "SETUSER", "limiter", "~rl:*") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, o := f.start(t)
			// The client's own retries must not matter.
			o.MaxRetries, o.DialerRetries, o.ContextTimeoutEnabled, o.MinRetryBackoff, o.MaxRetryBackoff = 3, 1, true, -1, -1
			c := redis.NewClient(o)
			t.Cleanup(func() { _ = c.Close() })
			s := storeOn(t, c, Options{})
			p := part(t, "k", "1/h,burst=10", 1)
			f.begin(t, r, p)
			other := map[Kind]bool{}
			eventually(t, "it fails as "+f.kind.String(), func() bool {
				_, err := s.Take(context.Background(), p)
				if err == nil {
					return false
				}
				if kind := Classify(err); kind != f.kind && (f.also == 0 || kind != f.also) {
					if !other[kind] {
						t.Log("meanwhile: ", err)
					}
					other[kind] = true
					return false
				}
				e := failure(t, err, Classify(err))
				if e.Ambiguous() || strings.Contains(e.Error(), "right") && strings.Contains(e.Error(), "wrong") || e.Hint() == "" {
					t.Errorf("%v (%s): ambiguous %v", e, e.Hint(), e.Ambiguous())
				}
				return true
			})
			if f.end == nil {
				return
			}
			f.end(t, r, p)
			eventually(t, "it goes on", func() bool { _, err := s.Take(context.Background(), p); return err == nil })
			if a := take(t, s, p.costing(0)); a.Remaining != 9 {
				t.Errorf("%d left after one check of 10 was answered", a.Remaining)
			}
		})
	}
}

// busy has the server run a script without end until SCRIPT KILL.
func busy(t *testing.T, r *redistest.Redis, _ Part) {
	c := r.Client(t)
	go c.Eval(context.Background(), "while true do end", nil)
	eventually(t, "the script runs", func() bool { return Classify(c.Ping(context.Background()).Err()) == KindBusy })
}

// loading makes r read the data of a primary, which takes 15 s.
func loading(t *testing.T, r *redistest.Redis, _ Part) {
	primary := redistest.Server(t, "--repl-diskless-sync-delay", "0")
	for i := range 1500 {
		primary.CLI("SET", "filler-"+strconv.Itoa(i), strings.Repeat("x", 2000))
	}
	host, port, _ := net.SplitHostPort(primary.Addr)
	r.CLI("REPLICAOF", host, port)
	c := r.Client(t)
	eventually(t, "it reads", func() bool {
		return Classify(c.Get(context.Background(), "filler-1").Err()) == KindLoading
	})
}

// full takes all connections that the server allows.
func full(t *testing.T, r *redistest.Redis, _ Part) {
	r.CLI("CONFIG", "SET", "maxclients", "1")
	eventually(t, "one is all there are", func() bool {
		c, err := net.Dial("tcp", r.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(patience))
		if _, err := c.Write([]byte("PING\r\n")); err != nil {
			return true
		}
		answer := make([]byte, 64)
		n, _ := c.Read(answer)
		return !strings.HasPrefix(string(answer[:n]), "+PONG")
	})
}

func TestTLSFaults(t *testing.T) {
	r := redistest.TLS(t)
	trusting := func(file string) *tls.Config {
		pem, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		return &tls.Config{RootCAs: pool}
	}
	plain := redistest.Server(t)
	for name, tt := range map[string]struct {
		addr string
		conf *tls.Config
		kind Kind // KindUnexpected is none
	}{
		"the right CA": {r.Addr, trusting(r.CAFile), 0},
		"a wrong CA":   {r.Addr, trusting(r.OtherCAFile), KindTLS},
		// It takes the greeting for the start of a command, and waits for more.
		"no TLS there": {plain.Addr, trusting(r.CAFile), KindTimeout},
		"TLS there":    {r.Addr, nil, KindBroken},
	} {
		t.Run(name, func(t *testing.T) {
			c := redis.NewClient(&redis.Options{Addr: tt.addr, TLSConfig: tt.conf, DialerRetries: 1, ContextTimeoutEnabled: true})
			defer c.Close()
			timeout := patience
			if tt.kind == KindTimeout {
				timeout = 200 * time.Millisecond
			}
			s := storeOn(t, c, Options{Timeout: timeout})
			_, err := s.Take(context.Background(), part(t, "k", "1/h,burst=10", 1))
			if tt.kind == KindUnexpected {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if e := failure(t, err, tt.kind); e.Ambiguous() {
				t.Errorf("%v: said to be ambiguous", e)
			}
		})
	}
}

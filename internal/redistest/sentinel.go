package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Master is the name that sentinels know their primary by.
const Master = "weir"

// SentinelRedis is a primary with replicas, watched by three sentinels that
// need a majority. A primary that is silent for half a second is failed over.
type SentinelRedis struct {
	URL       string   // redis+sentinel://HOST:PORT,HOST:PORT,HOST:PORT/weir
	Servers   []*Redis // the first primary, then its replicas
	Sentinels []*Redis

	t testing.TB
}

// Sentinel starts the servers and waits until each sentinel knows all others.
// conf are more lines of the sentinels' configuration, such as
// "requirepass secret".
func Sentinel(t testing.TB, replicas int, conf ...string) *SentinelRedis {
	t.Helper()
	s := &SentinelRedis{t: t}
	quick := []string{"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"}
	s.Servers = []*Redis{Server(t, quick...)}
	_, port, _ := strings.Cut(s.Servers[0].Addr, ":")
	for range replicas {
		s.Servers = append(s.Servers, Server(t, append(quick, "--replicaof", "127.0.0.1", port)...))
	}
	for _, r := range s.Servers[1:] {
		eventually(t, func() string {
			if !strings.Contains(r.CLI("INFO", "replication"), "master_link_status:up") {
				return r.Addr + " has no data of its primary"
			}
			return ""
		})
	}
	var addrs []string
	for range 3 {
		r := server(t, func(p *process) []string {
			text := fmt.Sprintf("port %d\nbind 127.0.0.1\nsentinel monitor %[2]s 127.0.0.1 %[3]s 2\n"+
				"sentinel down-after-milliseconds %[2]s 500\nsentinel failover-timeout %[2]s 2000\n", p.port, Master, port) +
				strings.Join(conf, "\n") + "\n"
			// Sentinels keep what they learn in their configuration.
			if err := os.WriteFile(filepath.Join(p.dir, "sentinel.conf"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"sentinel.conf", "--sentinel"}
		})
		for _, line := range conf {
			if p, ok := strings.CutPrefix(line, "requirepass "); ok {
				r.admin.Password = p
			}
		}
		s.Sentinels = append(s.Sentinels, r)
		addrs = append(addrs, r.Addr)
	}
	s.URL = "redis+sentinel://" + strings.Join(addrs, ",") + "/" + Master
	s.wait(strconv.Itoa(replicas))
	return s
}

// wait waits until each sentinel knows the others and the replicas.
func (s *SentinelRedis) wait(replicas string) {
	s.t.Helper()
	eventually(s.t, func() string {
		for _, r := range s.Sentinels {
			f := strings.Split(r.CLI("SENTINEL", "MASTER", Master), "\n")
			have := map[string]string{}
			for i := 0; i+1 < len(f); i += 2 {
				have[f[i]] = f[i+1]
			}
			if have["flags"] != "master" || have["num-other-sentinels"] != "2" || have["num-slaves"] != replicas {
				return fmt.Sprintf("sentinel %s sees flags %s, %s other sentinels, %s replicas",
					r.Addr, have["flags"], have["num-other-sentinels"], have["num-slaves"])
			}
		}
		return ""
	})
}

// Client returns a client that follows the primary and sends nothing twice.
// It is closed when t ends.
func (s *SentinelRedis) Client(t testing.TB) redis.UniversalClient {
	t.Helper()
	o := &redis.FailoverOptions{MasterName: Master, SentinelPassword: s.Sentinels[0].admin.Password, MaxRetries: -1, DialerRetries: 1, ContextTimeoutEnabled: true}
	for _, r := range s.Sentinels {
		o.SentinelAddrs = append(o.SentinelAddrs, r.Addr)
	}
	c := redis.NewFailoverClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Primary returns the server that the sentinels say is the primary.
func (s *SentinelRedis) Primary() *Redis {
	s.t.Helper()
	return s.named(s.Sentinels[0])
}

func (s *SentinelRedis) named(by *Redis) *Redis {
	s.t.Helper()
	addr := strings.ReplaceAll(by.CLI("SENTINEL", "GET-MASTER-ADDR-BY-NAME", Master), "\n", ":")
	for _, r := range s.Servers {
		if r.Addr == addr {
			return r
		}
	}
	s.t.Fatalf("a sentinel names %s, which is none of ours", addr)
	return nil
}

// KillPrimary kills the primary, waits until all sentinels name another one
// that takes writes, and returns the dead server.
func (s *SentinelRedis) KillPrimary() *Redis {
	s.t.Helper()
	dead := s.Primary()
	dead.Kill()
	s.WaitFailover(dead)
	return dead
}

// WaitFailover waits until all sentinels name a primary other than old, and
// it takes writes.
func (s *SentinelRedis) WaitFailover(old *Redis) {
	s.t.Helper()
	eventually(s.t, func() string {
		for _, by := range s.Sentinels {
			r := s.named(by)
			if r == old {
				return "sentinel " + by.Addr + " still names the old primary"
			}
			if !strings.Contains(r.CLI("INFO", "replication"), "role:master") {
				return r.Addr + " is no primary yet"
			}
		}
		return ""
	})
}

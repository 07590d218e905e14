package redistest

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// patience bounds every wait of this package, for machines that are busy.
const patience = 30 * time.Second

// Redis is one server. Its methods end the test when they fail; they are for
// the goroutine of the test.
type Redis struct {
	URL  string               // redis://127.0.0.1:PORT, or what reaches it otherwise
	Addr string               // HOST:PORT
	Mini *miniredis.Miniredis // nil for a real server

	t     testing.TB
	proc  *process       // nil for miniredis
	admin *redis.Options // how CLI logs in
}

// Mini starts a miniredis.
func Mini(t testing.TB) *Redis {
	t.Helper()
	m := miniredis.NewMiniRedis()
	for try := 1; ; try++ {
		err := m.StartAddr(net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t))))
		if err == nil {
			break
		}
		if try == 10 {
			t.Fatal(err)
		}
	}
	t.Cleanup(m.Close)
	return &Redis{URL: "redis://" + m.Addr(), Addr: m.Addr(), Mini: m, t: t, admin: &redis.Options{Addr: m.Addr()}}
}

// Server starts a real redis-server. extra are more of its options, such as
// "--maxmemory", "1mb". CLI and Client know the password of a "--requirepass".
func Server(t testing.TB, extra ...string) *Redis {
	t.Helper()
	return server(t, func(p *process) []string { return append(plain(p), extra...) })
}

func server(t testing.TB, args func(p *process) []string) *Redis {
	t.Helper()
	p := start(t, args)
	r := &Redis{URL: "redis://" + p.addr(), Addr: p.addr(), t: t, proc: p, admin: &redis.Options{Addr: p.addr()}}
	if i := slices.Index(p.args, "--requirepass"); i >= 0 && i+1 < len(p.args) {
		r.admin.Password = p.args[i+1]
	}
	return r
}

// Each runs f on a miniredis and on a real server.
func Each(t *testing.T, f func(t *testing.T, r *Redis)) {
	t.Helper()
	t.Run("mini", func(t *testing.T) { f(t, Mini(t)) })
	t.Run("real", func(t *testing.T) { f(t, Server(t)) })
}

// Client returns a client that sends and dials nothing twice and heeds the
// deadlines of contexts. It is closed when t ends.
func (r *Redis) Client(t testing.TB) redis.UniversalClient {
	t.Helper()
	o := *r.admin
	return client(t, &o)
}

func client(t testing.TB, o *redis.Options) *redis.Client {
	o.MaxRetries, o.DialerRetries = -1, 1
	o.ContextTimeoutEnabled = true
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Kill ends the server as a crash would: no goodbye, and all it held is lost.
func (r *Redis) Kill() {
	r.t.Helper()
	if r.Mini != nil {
		r.Mini.Close()
		return
	}
	r.proc.kill()
}

// Restart starts the server again on the same port, empty and without
// scripts. One that still runs is killed first.
func (r *Redis) Restart() {
	r.t.Helper()
	if r.Mini == nil {
		r.proc.kill()
		r.proc.restart(r.t)
		return
	}
	r.Mini.Close()
	if err := r.Mini.Restart(); err != nil {
		r.t.Fatal(err)
	}
	r.Mini.FlushAll()
	r.CLI("SCRIPT", "FLUSH")
}

// Pause stops a real server where it stands: connections stay open and
// nothing answers, until Resume.
func (r *Redis) Pause() {
	r.t.Helper()
	if r.Mini != nil {
		r.t.Fatal("a miniredis cannot be paused")
	}
	r.proc.pause(r.t)
}

// Resume lets a paused server go on.
func (r *Redis) Resume() {
	r.t.Helper()
	r.proc.resume(r.t)
}

// CLI sends one command on a connection of its own and returns the reply as
// text, an array one element a line. An error reply ends the test.
func (r *Redis) CLI(args ...string) string {
	r.t.Helper()
	reply, err := r.do(args...)
	if err != nil {
		r.t.Fatalf("%s: %s: %v", r.Addr, strings.Join(args, " "), err)
	}
	return reply
}

// do is CLI that returns the error.
func (r *Redis) do(args ...string) (string, error) {
	o := *r.admin
	o.MaxRetries, o.PoolSize, o.DisableIdentity, o.Protocol = -1, 1, true, 2
	c := redis.NewClient(&o)
	defer c.Close()
	words := make([]any, len(args))
	for i, a := range args {
		words[i] = a
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	reply, err := c.Do(ctx, words...).Result()
	if err == redis.Nil {
		return "", nil
	}
	return text(reply), err
}

func text(reply any) string {
	list, ok := reply.([]any)
	if !ok {
		return fmt.Sprint(reply)
	}
	lines := make([]string, len(list))
	for i, e := range list {
		lines[i] = text(e)
	}
	return strings.Join(lines, "\n")
}

// eventually waits until met returns "", and otherwise ends the test with
// what met last said was missing.
func eventually(t testing.TB, met func() (missing string)) {
	t.Helper()
	missing := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if missing = met(); missing == "" {
			return
		}
	}
	t.Fatalf("after %v still: %s", patience, missing)
}

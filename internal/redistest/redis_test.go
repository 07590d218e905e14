package redistest

import (
	"context"
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

func TestEach(t *testing.T) {
	n := 0
	Each(t, func(t *testing.T, r *Redis) {
		n++
		if (r.Mini == nil) != (n == 2) {
			t.Errorf("server %d: Mini is %v", n, r.Mini)
		}
		ctx := context.Background()
		c := r.Client(t)
		if err := c.Set(ctx, "k", "v", 0).Err(); err != nil {
			t.Fatal(err)
		}
		sha, err := c.ScriptLoad(ctx, "return 7").Result()
		if err != nil {
			t.Fatal(err)
		}
		if got := r.CLI("MGET", "k", "none"); got != "v\n<nil>" {
			t.Errorf("MGET gave %q", got)
		}
		if got := r.CLI("GET", "none"); got != "" {
			t.Errorf("GET of nothing gave %q", got)
		}

		r.Kill()
		var down *net.OpError
		if err := c.Ping(ctx).Err(); err == nil {
			t.Error("a killed server answers")
		} else if err := c.Ping(ctx).Err(); !errors.As(err, &down) {
			t.Errorf("a killed server: %v", err)
		}
		r.Restart()
		if got := r.CLI("EXISTS", "k") + r.CLI("SCRIPT", "EXISTS", sha); got != "00" {
			t.Errorf("after a restart, key and script exist: %s", got)
		}
		if _, err := r.do("NOSUCH"); err == nil {
			t.Error("an error reply is no error")
		}
	})
	if n != 2 {
		t.Errorf("ran %d times", n)
	}
}

func TestPause(t *testing.T) {
	r := Server(t)
	c := r.Client(t)
	if err := c.Ping(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	r.Pause()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := c.Ping(ctx).Err(); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a paused server: %v", err)
	}
	r.Resume()
	if err := c.Ping(context.Background()).Err(); err != nil {
		t.Error(err)
	}
}

// A server's end and its files do not outlive the test.
func TestNothingIsLeft(t *testing.T) {
	var r *Redis
	t.Run("server", func(t *testing.T) { r = Server(t, "--maxmemory", "7mb") })
	if r == nil {
		t.Skip("no redis-server")
	}
	if _, err := net.Dial("tcp", r.Addr); err == nil {
		t.Error("the server still listens")
	}
	if _, err := os.Stat(r.proc.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its directory: %v", err)
	}
}

package redislimit

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
)

// cutter is a wire to a server that swallows replies when it is told to, and
// ends the connection in their place.
type cutter struct {
	net.Listener
	to  string
	cut atomic.Bool
	all sync.WaitGroup
}

func newCutter(t *testing.T, to string) *cutter {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, to: to}
	c.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.all.Go(func() { c.carry(conn) })
		}
	})
	return c
}

func (c *cutter) carry(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.to)
	if err != nil {
		return
	}
	defer server.Close()
	c.all.Go(func() {
		defer server.Close()
		b := make([]byte, 1<<16)
		for {
			n, err := client.Read(b)
			if err != nil {
				return
			}
			if _, err := server.Write(b[:n]); err != nil {
				return
			}
		}
	})
	b := make([]byte, 1<<16)
	for {
		n, err := server.Read(b)
		if err != nil || c.cut.Load() {
			return
		}
		if _, err := client.Write(b[:n]); err != nil {
			return
		}
	}
}

// A check whose reply was lost was executed: sending it again would charge it
// twice, so it is not, whatever the client is set to.
func TestNoCheckIsSentTwice(t *testing.T) {
	for name, batch := range map[string]int{"alone": 1, "in a pipeline": 64} {
		t.Run(name, func(t *testing.T) {
			r := redistest.Server(t)
			wire := newCutter(t, r.Addr)
			c := redis.NewClient(&redis.Options{Addr: wire.Addr().String(), MaxRetries: 5, MinRetryBackoff: -1, MaxRetryBackoff: -1})
			t.Cleanup(func() { // the client first: its connections hold the wire's goroutines
				_ = c.Close()
				_ = wire.Close()
				wire.all.Wait()
			})
			s := storeOn(t, c, Options{Lanes: 1, Batch: batch})
			p := part(t, "k", "1/h,burst=1000", 1)
			take(t, s, p)
			before := executed(t, r)
			wire.cut.Store(true)
			var all sync.WaitGroup
			var ambiguous atomic.Int64
			for range 20 {
				all.Go(func() {
					if _, err := s.Take(context.Background(), p); err == nil {
						t.Error("a check without a reply was answered")
					} else if failure(t, err, KindBroken).Ambiguous() {
						ambiguous.Add(1)
					}
				})
			}
			all.Wait()
			wire.cut.Store(false)
			left := take(t, s, p.costing(0)).Remaining
			ran := executed(t, r) - before - 1
			if ran < 1 || ran > ambiguous.Load() || left != 1000-1-ran {
				t.Errorf("of 20 checks %d were executed and %d said to be ambiguous; %d tokens are left of 999", ran, ambiguous.Load(), left)
			}
		})
	}
}

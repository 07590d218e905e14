package replay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

// behind is a connection to a server that serve is, until it returns.
func behind(t *testing.T, network string, serve func(c net.Conn)) net.Conn {
	t.Helper()
	at := "127.0.0.1:0"
	if network == "unix" {
		at = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		defer l.Close()
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	}()
	c, err := net.Dial(network, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); <-served })
	return c
}

// pings are orders of one call of about so many bytes.
func pings(size, pipeline int) *orders {
	return newOrders([]command{{"PING", strings.Repeat("x", size)}}, pipeline)
}

// answering says reply for each call that it reads, in pieces of so many bytes.
func answering(reply string, piece int) func(net.Conn) {
	return func(c net.Conn) {
		buf := make([]byte, 32<<10)
		for {
			n, err := c.Read(buf)
			if err != nil {
				return
			}
			out := strings.Repeat(reply, bytes.Count(buf[:n], []byte("PING")))
			for len(out) > 0 {
				k := min(piece, len(out))
				if _, err := io.WriteString(c, out[:k]); err != nil {
					return
				}
				out = out[k:]
			}
		}
	}
}

func TestDriveHostileServers(t *testing.T) {
	long := "$200000\r\n" + strings.Repeat("y", 200000) + "\r\n"
	list := "*3\r\n:1\r\n*1\r\n$-1\r\n$0\r\n\r\n"
	for _, tt := range []struct {
		name, network  string
		serve          func(net.Conn)
		size, pipeline int
		want           string // of the error; "" is none
	}{
		{"an answer byte by byte", "tcp", answering("+PONG\r\n", 1), 1, 4, ""},
		{"a unix socket", "unix", answering(list, 5), 1, 3, ""},
		{"long answers", "tcp", answering(long, 70001), 1, 8, ""},
		{"an error each", "tcp", answering("-ERR no\r\n", 3), 1, 2, ""},
		{"more than a socket holds at once", "unix", answering("+OK\r\n", 1<<20), 1 << 20, 16, ""},
		{"hanging up at once", "tcp", func(net.Conn) {}, 1, 1, "connection|reset|pipe"},
		{"hanging up in an answer", "tcp", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 1<<10))
			_, _ = io.WriteString(c, "$5\r\nab")
		}, 1, 1, "connection|reset"},
		{"no RESP", "tcp", answering("HTTP/1.1 400 Bad Request\r\n", 100), 1, 1, errProtocol.Error()},
		{"an answer without an end", "tcp", answering(strings.Repeat("+", 200_000), 1000), 1, 1, errProtocol.Error()},
		{"an announcement too large", "tcp", answering("$999999999\r\n", 100), 1, 1, errProtocol.Error()},
		{"a list of lists", "tcp", answering(strings.Repeat("*60000000\r\n", 3), 100), 1, 1, errProtocol.Error()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := behind(t, tt.network, tt.serve)
			got, err := drive(t.Context(), []net.Conn{c}, pings(tt.size, tt.pipeline), tt.pipeline, time.Millisecond)
			if tt.want == "" {
				if err != nil || got.calls < int64(tt.pipeline) || got.calls%int64(tt.pipeline) != 0 {
					t.Errorf("%d calls, %v", got.calls, err)
				}
				if failed := tt.name == "an error each"; failed != (got.failed == got.calls) || failed != (got.first != "") {
					t.Errorf("%d of %d failed, %q", got.failed, got.calls, got.first)
				}
				return
			}
			if err == nil {
				t.Fatal("no error")
			}
			for w := range strings.SplitSeq(tt.want, "|") {
				if strings.Contains(err.Error(), w) {
					return
				}
			}
			t.Errorf("%v", err)
		})
	}
}

// An end from outside is not waited out.
func TestDriveIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	answer := answering("+OK\r\n", 100)
	c := behind(t, "tcp", func(c net.Conn) { cancel(); answer(c) })
	if _, err := drive(ctx, []net.Conn{c}, pings(1, 1), 1, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

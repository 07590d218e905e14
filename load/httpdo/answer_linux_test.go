package httpdo

import (
	"net/url"
	"testing"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// offline is an event loop with one connection whose answers come from a
// test and not from a socket.
type offline struct {
	loop *eventLoop
	got  *load.Attempt
}

func newOffline(t testing.TB) *offline {
	cfg := &Config{Targets: []*url.URL{{Scheme: "http", Host: "127.0.0.1:1"}}, Method: "GET", AppendKey: func(b []byte, _ uint32) []byte { return append(b, 'k') },
		Connections: 1, Timeout: time.Second, MaxBody: 1 << 16, Clock: func() int64 { return 1 }, Texts: new(report.Texts)}
	cfg.Refused.Status, _ = ParseStatusSet("429")
	l, err := newEventLoop(cfg, make([]addrRing, 1))
	if err != nil {
		t.Fatal(err)
	}
	o := &offline{loop: l}
	l.done = func(a *load.Attempt) { o.got = a }
	return o
}

// answer feeds an answer in pieces and returns the event that came of it,
// or false when it is not complete.
func (o *offline) answer(b []byte, piece int) (report.Event, bool) {
	l := o.loop
	c := l.slot()
	c.fd, c.state, c.a = -1, connHead, new(load.Attempt)
	l.openNow++
	l.busy(c)
	o.got = nil
	gen := c.gen
	for len(b) > 0 && o.got == nil && c.gen == gen {
		n := min(piece, len(b))
		l.stamp = 1
		l.consume(c, b[:n])
		b = b[n:]
	}
	if len(l.failed) > 0 {
		o.got, l.failed = l.failed[0], nil
	}
	var ev report.Event
	if o.got != nil {
		ev = o.got.Event
	}
	switch {
	case c.gen != gen:
	case c.state == connIdle:
		l.unidle(c)
		l.close(c)
	default:
		l.unbusy(c)
		l.close(c)
	}
	return ev, o.got != nil
}

// However an answer is cut into reads, and whatever was read before it, the
// outcome is the same; nothing panics, and nothing keeps more than its caps.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		ok,
		"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Length: 7\r\n\r\nrefused",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 103 Early\r\n\r\n" + ok,
		"HTTP/1.1 429 x\r\nRetry-After: Sat, 14 Mar 2026 10:00:05 GMT\r\nDate: Sat, 14 Mar 2026 10:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 429 x\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{\"retry_after\": 2.5}",
		"HTTP/1.0 200 OK\n\nuntil close", ok + ok, "SSH-2.0\r\n\r\n", "",
	} {
		f.Add([]byte(s), uint8(3))
	}
	o := newOffline(f)
	f.Fuzz(func(t *testing.T, b []byte, piece uint8) {
		if len(b) > 1<<17 {
			return
		}
		whole, ended := o.answer(b, len(b)+1)
		again, endedAgain := o.answer(b, len(b)+1)
		pieces, endedPieces := o.answer(b, int(piece)+1)
		if ended != endedAgain || whole != again {
			t.Fatalf("read twice, two outcomes: %+v and %+v", whole, again)
		}
		// An answer cut short by the cap on bodies may end within another read.
		whole.Bytes, pieces.Bytes = 0, 0
		if ended != endedPieces || whole != pieces {
			t.Fatalf("whole: %v %+v\npieces of %d: %v %+v", ended, whole, piece+1, endedPieces, pieces)
		}
		if ended && whole.RetryAfter < 0 {
			t.Fatalf("negative wait %d", whole.RetryAfter)
		}
		if len(o.loop.conns) > 2 || len(o.loop.last.raw) > maxHead {
			t.Fatalf("%d connections, %d bytes remembered", len(o.loop.conns), len(o.loop.last.raw))
		}
	})
}

// The reader's cost for what a limiter answers, header parsing included and
// remembered.
func BenchmarkAnswer(b *testing.B) {
	for name, raw := range map[string]string{
		"ok":      "HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sun, 29 Nov 2026 20:47:00 GMT\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
		"refused": "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nRateLimit: \"default\";r=0;t=1\r\nRateLimit-Policy: \"default\";q=20;w=2\r\nContent-Length: 7\r\n\r\nrefused",
	} {
		for _, remembered := range []bool{true, false} {
			b.Run(name+map[bool]string{true: "/same", false: "/new"}[remembered], func(b *testing.B) {
				o := newOffline(b)
				c := o.loop.slot()
				c.state, c.fd = connIdle, -1
				o.loop.idle[0].push(c)
				a := new(load.Attempt)
				b.ReportAllocs()
				for b.Loop() {
					if !remembered {
						o.loop.last.raw = o.loop.last.raw[:0]
					}
					o.loop.unidle(c)
					c.a, c.state = a, connHead
					o.loop.busy(c)
					o.loop.consume(c, []byte(raw))
				}
			})
		}
	}
}

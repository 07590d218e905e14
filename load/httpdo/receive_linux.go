package httpdo

import (
	"golang.org/x/sys/unix"

	"github.com/weir-cli/weir/report"
)

// fullReadsMax is how many full buffers one connection may fill in a row
// before timers and other connections get their turn: an answer that comes
// faster than it is read must not hold up the loop.
const fullReadsMax = 16

// receive reads what is there. hup says the peer has closed its side.
func (l *eventLoop) receive(c *conn, hup bool) {
	gen := c.gen
	l.hup = hup
	for reads := 0; ; reads++ {
		if reads == fullReadsMax {
			l.rearm(c)
			return
		}
		n, came, errno := l.recv(c)
		if errno == unix.EAGAIN {
			return
		}
		if c.state == connIdle {
			// Closed, or bytes nobody asked for: either way of no more use.
			l.unidle(c)
			l.close(c)
			return
		}
		l.stamp = l.cfg.Clock()
		if came > 0 {
			// Never before the request or its first byte nor after this moment,
			// whatever the wall clock did.
			l.stamp = min(max(came, c.a.Event.Sent, c.a.Event.First), l.stamp)
		}
		if errno != 0 {
			l.fail(c, classOf(errno))
			return
		}
		if n == 0 {
			l.ended(c)
			return
		}
		if c.a.Event.Has&report.HasFirst == 0 {
			c.a.Event.Has |= report.HasFirst
			c.a.Event.First = l.stamp
		}
		l.consume(c, l.buf[:n])
		// A short read emptied the socket; what comes later is a new event.
		if n < len(l.buf) && !hup || c.gen != gen || c.state == connFree {
			return
		}
	}
}

func (l *eventLoop) recv(c *conn) (n int, came int64, errno unix.Errno) {
	if l.stamping {
		return l.recvStamped(c, l.buf)
	}
	n, errno = recv(c.fd, l.buf)
	return n, 0, errno
}

// ended handles the peer's close.
func (l *eventLoop) ended(c *conn) {
	if c.state == connBody && c.body.kind == untilClose {
		l.complete(c, &c.head, c.kept, false)
		return
	}
	l.fail(c, report.ClosedEarly)
}

// consume takes the next bytes of an answer.
func (l *eventLoop) consume(c *conn, b []byte) {
	switch {
	case c.state == connBody:
		l.content(c, b)
	case len(c.in) > 0:
		c.in = append(c.in, b...)
		l.pieces(c)
	default:
		l.whole(c, b)
	}
}

// whole takes bytes that begin with a header block.
func (l *eventLoop) whole(c *conn, b []byte) {
	if !l.last.matches(b, c.isHead) {
		end := headEnd(b)
		if end == 0 {
			c.in = append(c.in, b...)
			l.pieces(c)
			return
		}
		if !l.parsed(c, l.last.read(b[:end], c.isHead, &l.cfg.Refused)) {
			return
		}
		if l.last.head.interim() {
			l.last.raw = l.last.raw[:0]
			if l.interim(c, end) && len(b) > end {
				l.whole(c, b[end:])
			}
			return
		}
	}
	h := &l.last.head
	rest := b[h.size:]
	if h.length >= 0 && int64(len(rest)) >= h.length && h.length <= l.cfg.MaxBody {
		// The whole answer in one piece: the common case.
		c.body = body{read: h.length}
		l.complete(c, h, rest[:min(h.length, bodyKept)], int64(len(rest)) == h.length)
		return
	}
	// The next read overwrites the buffer, and the next answer elsewhere the
	// last block: this connection needs its own copy.
	c.in = append(c.in[:0], b[:h.size]...)
	if !l.parsed(c, c.head.parse(c.in, c.isHead, &l.cfg.Refused)) {
		return
	}
	l.startBody(c, rest)
}

// pieces looks for a header block in what has come so far.
func (l *eventLoop) pieces(c *conn) {
	end := headEnd(c.in)
	if end == 0 && len(c.in) > maxHead || end > maxHead {
		l.fail(c, report.TooLarge)
		return
	}
	if end == 0 || !l.parsed(c, c.head.parse(c.in[:end], c.isHead, &l.cfg.Refused)) {
		return
	}
	if c.head.interim() {
		c.in = c.in[end:]
		if l.interim(c, end) && len(c.in) > 0 {
			l.pieces(c)
		}
		return
	}
	rest := append([]byte(nil), c.in[end:]...)
	c.in = c.in[:end]
	l.startBody(c, rest)
}

// interim counts an interim answer of size bytes, after which the real one
// follows; false when there were too many of them.
func (l *eventLoop) interim(c *conn, size int) bool {
	if c.interim += size; c.interim > maxHead {
		l.fail(c, report.TooLarge)
		return false
	}
	return true
}

// parsed fails the attempt when its header block could not be read.
func (l *eventLoop) parsed(c *conn, err error) bool {
	if err != nil {
		l.fail(c, report.Malformed)
	}
	return err == nil
}

func (l *eventLoop) startBody(c *conn, rest []byte) {
	c.state, c.body = connBody, newBody(c.head.length)
	if len(rest) > 0 || c.head.length == 0 {
		l.content(c, rest)
	}
}

// content takes bytes of the body.
func (l *eventLoop) content(c *conn, b []byte) {
	n, done, err := c.body.feed(b, func(p []byte) {
		if room := bodyKept - len(c.kept); room > 0 {
			c.kept = append(c.kept, p[:min(room, len(p))]...)
		}
	})
	switch {
	case err != nil:
		l.fail(c, report.Malformed)
	case done:
		l.complete(c, &c.head, c.kept, n == len(b))
	case c.body.read > l.cfg.MaxBody:
		// Enough to know the verdict; the rest is not worth the memory or
		// the time, and the connection goes with it.
		l.complete(c, &c.head, c.kept, false)
	}
}

// complete ends an answered attempt. clean says that the connection stands
// exactly at the end of the answer.
func (l *eventLoop) complete(c *conn, h *head, body []byte, clean bool) {
	a := c.a
	a.Event.Bytes = uint32(min(c.body.read, 1<<32-1))
	a.Event.Done = l.stamp
	if h != &l.last.head || !l.last.same(body) {
		l.judge.read(h.status, h.fields, body, l.stamp)
		l.last.answered(h, body, &l.judge)
	}
	l.judge.fill(a, h.status, h.refused, body)
	l.unbusy(c)
	c.a, c.in, c.kept = nil, c.in[:0], c.kept[:0]
	if clean && h.keep && !l.hup && len(c.out) == 0 && l.cfg.Mode != NewConn {
		c.state = connIdle
		l.idle[c.target].push(c)
	} else {
		l.close(c)
	}
	l.finished++
	l.done(a)
}

package replay

import (
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// driven is one connection of a drive.
type driven struct {
	fd   int
	buf  []byte
	n    int // bytes in buf
	due  int // replies to come
	sent time.Time
	next int // in the load
}

// drive sends the load over the connections for a time, each with so many
// calls in flight, from one thread: what is measured is the server. It closes
// the connections. When ctx ends, so does it with the next answer.
func drive(ctx context.Context, conns []net.Conn, l *orders, pipeline int, d time.Duration) (t tally, err error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return t, err
	}
	defer unix.Close(ep)
	var all []*driven
	defer func() {
		for _, c := range all {
			_ = unix.Close(c.fd)
		}
		for _, c := range conns {
			_ = c.Close() // where it was not taken over
		}
	}()
	for i, c := range conns {
		fd, err := takeOver(c)
		if err != nil {
			return t, err
		}
		all = append(all, &driven{fd: fd, buf: make([]byte, 64<<10), next: i * l.n / len(conns)})
		if err := unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(i)}); err != nil {
			return t, err
		}
	}
	start := time.Now()
	now := start
	for _, c := range all {
		if err := c.send(l, pipeline, now); err != nil {
			return t, err
		}
	}
	events := make([]unix.EpollEvent, 128)
	flying := len(all)
	for flying > 0 {
		n, err := waitReadable(ep, events)
		if err != nil {
			return t, err
		}
		if err := ctx.Err(); err != nil {
			return t, err
		}
		if n == 0 {
			return t, errors.New("the server does not answer")
		}
		now = time.Now()
		for _, e := range events[:n] {
			c := all[e.Fd]
			whole, err := c.receive(&t)
			if err != nil {
				return t, err
			}
			if !whole {
				continue
			}
			t.batch(pipeline, now.Sub(c.sent))
			if now.Sub(start) >= d {
				flying--
				continue
			}
			if err := c.send(l, pipeline, now); err != nil {
				return t, err
			}
		}
	}
	t.took = now.Sub(start)
	return t, nil
}

// takeOver is a connection's socket, which does not block. The connection is
// closed, or its answers would each wake the scheduler, too.
func takeOver(c net.Conn) (fd int, err error) {
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = raw.Control(func(p uintptr) { fd, failed = unix.FcntlInt(p, unix.F_DUPFD_CLOEXEC, 0) })
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, err
	}
	return fd, c.Close()
}

func (c *driven) send(l *orders, pipeline int, now time.Time) error {
	var out []byte
	out, c.next = l.batch(c.next, pipeline)
	c.due, c.sent = pipeline, now
	for len(out) > 0 {
		n, errno := writeNow(c.fd, out)
		switch errno {
		case 0:
			out = out[n:]
		case unix.EINTR:
		case unix.EAGAIN:
			switch n, err := unix.Poll([]unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLOUT}}, int(patience/time.Millisecond)); {
			case errors.Is(err, unix.EINTR):
			case err != nil:
				return err
			case n == 0:
				return errors.New("the server takes nothing more")
			}
		default:
			return errno
		}
	}
	return nil
}

// receive reads what has come and reports whether all replies are there.
func (c *driven) receive(t *tally) (bool, error) {
	if c.n == len(c.buf) {
		if c.n > maxReply {
			return false, errProtocol
		}
		c.buf = append(c.buf, make([]byte, len(c.buf))...)
	}
	n, errno := readNow(c.fd, c.buf[c.n:])
	if errno == unix.EAGAIN || errno == unix.EINTR {
		return false, nil
	}
	if errno != 0 {
		return false, errno
	}
	if n == 0 {
		return false, errors.New("the server closed the connection")
	}
	c.n += n
	at := 0
	for c.due > 0 {
		size, failed, err := replyLen(c.buf[at:c.n])
		if err != nil {
			return false, err
		}
		if size == 0 {
			break
		}
		if failed {
			t.fail(c.buf[at : at+size])
		}
		at += size
		c.due--
	}
	copy(c.buf, c.buf[at:c.n])
	c.n -= at
	return c.due == 0, nil
}

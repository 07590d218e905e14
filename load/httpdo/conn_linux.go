package httpdo

import (
	"golang.org/x/sys/unix"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

type connState uint8

const (
	connFree connState = iota
	connIdle
	connConnecting
	connHead // request sent or being sent, header block awaited
	connBody
)

// conn is one socket of the event loop. Slots are reused; gen tells an old
// event from one of the present socket.
type conn struct {
	fd      int
	gen     int32
	id      int32
	state   connState
	isHead  bool // the request is a HEAD
	stamped bool // the kernel has been asked to stamp what arrives
	target  uint16
	a       *load.Attempt
	out     []byte // of the request, not yet taken by the kernel
	in      []byte // of the header block, when it came in pieces
	kept    []byte // first bytes of a body that came in pieces
	head    head
	body    body
	// interim is how many bytes of interim answers came for this request.
	interim int
	// Busy connections form a list by time of sending, which is the order
	// in which they time out. Idle ones know their place in the idle stack.
	prev, next int32
	pos        int
}

// idleStack holds the idle connections of one target, warmest last.
type idleStack []int32

func (s *idleStack) push(c *conn) {
	c.pos = len(*s)
	*s = append(*s, c.id)
}

func (l *eventLoop) unidle(c *conn) {
	s := &l.idle[c.target]
	last := len(*s) - 1
	moved := (*s)[last]
	(*s)[c.pos] = moved
	l.conns[moved].pos = c.pos
	*s = (*s)[:last]
}

// busy appends c to the list of those that wait for an answer.
func (l *eventLoop) busy(c *conn) {
	c.interim = 0
	c.prev, c.next = l.newest, -1
	if l.newest >= 0 {
		l.conns[l.newest].next = c.id
	} else {
		l.oldest = c.id
	}
	l.newest = c.id
}

func (l *eventLoop) unbusy(c *conn) {
	if c.prev >= 0 {
		l.conns[c.prev].next = c.next
	} else {
		l.oldest = c.next
	}
	if c.next >= 0 {
		l.conns[c.next].prev = c.prev
	} else {
		l.newest = c.prev
	}
}

// open starts connecting to a target; the error class is NoError on success.
func (l *eventLoop) open(target uint16) (*conn, report.Class) {
	addr := l.addrs[target].next()
	fd, err := unix.Socket(addr.family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, classOf(err)
	}
	if addr.family != unix.AF_UNIX {
		// Without it a request waits for the previous one's acknowledgement.
		_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	err = unix.Connect(fd, addr.sockaddr)
	if err != nil && err != unix.EINPROGRESS {
		_ = unix.Close(fd)
		return nil, classOf(err)
	}
	c := l.slot()
	c.fd, c.target, c.state = fd, target, connConnecting
	ev := c.interest()
	if err := unix.EpollCtl(l.epfd, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
		_ = unix.Close(fd)
		c.state = connFree
		l.free = append(l.free, c.id)
		return nil, classOf(err)
	}
	l.opened++
	l.openNow++
	l.connecting++
	return c, report.NoError
}

// interest is what the event loop wants to hear about c.
func (c *conn) interest() unix.EpollEvent {
	return unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: c.id, Pad: c.gen}
}

// rearm makes the kernel report again what is still to be read from c, which
// edge-triggered events by themselves would not.
func (l *eventLoop) rearm(c *conn) {
	ev := c.interest()
	if err := unix.EpollCtl(l.epfd, unix.EPOLL_CTL_MOD, c.fd, &ev); err != nil {
		l.fail(c, classOf(err))
	}
}

func (l *eventLoop) slot() *conn {
	if n := len(l.free); n > 0 {
		c := l.conns[l.free[n-1]]
		l.free = l.free[:n-1]
		return c
	}
	c := &conn{id: int32(len(l.conns))}
	l.conns = append(l.conns, c)
	return c
}

// close gives the socket back. c must be neither idle nor busy.
func (l *eventLoop) close(c *conn) {
	_ = unix.Close(c.fd)
	if c.state == connConnecting {
		l.connecting--
	}
	c.gen++
	c.state, c.a, c.stamped = connFree, nil, false
	c.out, c.in, c.kept = c.out[:0], nil, nil
	l.openNow--
	l.free = append(l.free, c.id)
}

// classOf names a socket error.
func classOf(err error) report.Class {
	switch err {
	case unix.ECONNREFUSED, unix.ENOENT:
		return report.ConnectRefused
	case unix.ETIMEDOUT:
		return report.ConnectTimeout
	case unix.EHOSTUNREACH, unix.ENETUNREACH, unix.EACCES, unix.EPERM:
		return report.Unreachable
	case unix.ECONNRESET, unix.EPIPE, unix.ECONNABORTED:
		return report.ConnReset
	case unix.EMFILE, unix.ENFILE, unix.EADDRNOTAVAIL, unix.ENOBUFS, unix.ENOMEM, unix.EAGAIN:
		return report.NoHandles
	}
	return report.OtherError
}

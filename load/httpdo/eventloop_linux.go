package httpdo

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

const (
	readSize  = 64 << 10
	eventsMax = 512
	// connectingMax bounds handshakes under way, so that a start with many
	// connections does not overrun the server's listen queue and then wait
	// for lost handshakes to be repeated.
	connectingMax = 256
)

// eventLoop is the sender for plain HTTP/1.1 on Linux: non-blocking sockets
// under edge-triggered epoll, all on the engine loop's own thread. System
// calls that cannot block are raw, which keeps the Go scheduler out of the
// path; only an epoll wait with nothing ready tells it.
type eventLoop struct {
	cfg        *Config
	epfd       int
	conns      []*conn
	free       []int32
	idle       []idleStack // per target
	own        []int32     // per client, in PerClient mode: its connection + 1
	oldest     int32       // list of busy connections
	newest     int32
	openNow    int
	opened     int64
	connecting int
	addrs      []addrRing
	requests   []*request // per target and route
	cache      requestCache
	judge      judge
	last       lastHead
	failed     []*load.Attempt // to hand back at the next Poll
	done       func(*load.Attempt)
	finished   int
	stamping   bool  // the kernel says when answers came
	wallOffset int64 // wall clock minus the run's clock
	control    [64]byte
	pause      unix.Timespec // of the sleep under way; here because the heap does not move
	naps       bool          // a processor is left for the collector while this one sleeps
	hup        bool          // the peer of the connection being read has closed its side
	stamp      int64         // the clock while answers are being handled, else 0
	buf        []byte
	key        []byte
	scratch    []byte
	events     [eventsMax]unix.EpollEvent
}

// newEventLoop makes one sender. Its addresses were resolved before the run.
func newEventLoop(cfg *Config, addrs []addrRing) (*eventLoop, error) {
	epfd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll: %w", err)
	}
	l := &eventLoop{cfg: cfg, epfd: epfd, idle: make([]idleStack, len(cfg.Targets)),
		oldest: -1, newest: -1, addrs: addrs, buf: make([]byte, readSize), judge: judge{cfg: cfg},
		naps: runtime.GOMAXPROCS(0) > 1}
	for _, t := range cfg.Targets {
		for _, r := range cfg.routes() {
			q, err := cfg.newRequest(t, r)
			if err != nil {
				return nil, err
			}
			l.requests = append(l.requests, q)
		}
	}
	return l, nil
}

func (l *eventLoop) Opened() int64 { return l.opened }

func (l *eventLoop) Room(target uint16, client uint32) bool {
	if l.cfg.Mode == PerClient {
		if l.mine(client) != nil {
			return true
		}
	} else if len(l.idle[target]) > 0 {
		return true
	}
	if l.connecting >= connectingMax {
		return false
	}
	return l.openNow < l.cfg.Connections || l.evict()
}

// evict closes an idle connection to make room for one to another target, or
// to another client: the coldest of the target that has the most.
func (l *eventLoop) evict() bool {
	most := 0
	for t := range l.idle {
		if len(l.idle[t]) > len(l.idle[most]) {
			most = t
		}
	}
	if len(l.idle[most]) == 0 {
		return false
	}
	c := l.conns[l.idle[most][0]]
	l.unidle(c)
	l.close(c)
	return true
}

// mine returns the idle connection of a client in PerClient mode.
func (l *eventLoop) mine(client uint32) *conn {
	if int(client) < len(l.own) && l.own[client] > 0 {
		if c := l.conns[l.own[client]-1]; c.state == connIdle {
			return c
		}
	}
	return nil
}

func (l *eventLoop) Send(a *load.Attempt) {
	ev := &a.Event
	ev.Sent = l.stamp
	if l.stamp == 0 || l.stamping {
		ev.Sent = l.cfg.Clock()
	}
	var c *conn
	if l.cfg.Mode == PerClient {
		if c = l.mine(ev.Client); c != nil && c.target != ev.Target {
			l.unidle(c)
			l.close(c)
			c = nil
		}
	} else if s := l.idle[ev.Target]; len(s) > 0 {
		c = l.conns[s[len(s)-1]]
	}
	if c != nil {
		l.unidle(c)
		l.start(c, a)
		return
	}
	c, class := l.open(ev.Target)
	if class != report.NoError {
		ev.Verdict, ev.Class, ev.Done = report.Failed, class, ev.Sent
		l.failed = append(l.failed, a)
		return
	}
	ev.Has |= report.NewConn
	if l.cfg.Mode == PerClient {
		for int(ev.Client) >= len(l.own) {
			l.own = append(l.own, make([]int32, max(1024, len(l.own)))...)
		}
		l.own[ev.Client] = c.id + 1
	}
	c.a = a
	c.out = append(c.out[:0], l.render(c, a)...)
	l.busy(c)
}

// render returns the request's bytes, valid until the next call.
func (l *eventLoop) render(c *conn, a *load.Attempt) []byte {
	ev := &a.Event
	n := int(ev.Target)*len(l.cfg.routes()) + int(ev.Route)
	q := l.requests[n]
	c.isHead = q.method == "HEAD"
	if !q.varies {
		if b := l.cache.get(n, ev.Key); b != nil {
			return b
		}
	}
	l.key = l.cfg.AppendKey(l.key[:0], ev.Key)
	v := vars{key: l.key, client: ev.Client, seq: a.Seq}
	b, scratch := q.append(l.buf[:0], v, l.scratch, l.cfg.Mode == NewConn)
	l.scratch = scratch
	if !q.varies {
		return l.cache.put(n, ev.Key, b)
	}
	return b
}

// start sends an attempt on a connected socket.
func (l *eventLoop) start(c *conn, a *load.Attempt) {
	c.a, c.state = a, connHead
	l.busy(c)
	b := l.render(c, a)
	n, errno := send(c.fd, b)
	if n == len(b) {
		return
	}
	if errno != 0 && errno != unix.EAGAIN {
		l.giveBack(c, classOf(errno), a.Event.Sent)
		return
	}
	c.out = append(c.out[:0], b[max(n, 0):]...)
}

// flush goes on sending; false when the connection broke.
func (l *eventLoop) flush(c *conn) bool {
	for len(c.out) > 0 {
		n, errno := send(c.fd, c.out)
		if errno == unix.EAGAIN {
			return true
		}
		if errno != 0 {
			l.fail(c, classOf(errno))
			return false
		}
		c.out = c.out[:copy(c.out, c.out[n:])]
	}
	return true
}

func (l *eventLoop) Poll(until int64, nap bool, done func(*load.Attempt)) {
	l.done, l.finished = done, 0
	l.expire()
	l.handBack()
	l.stamping = nap
	if nap {
		l.nap(until)
	}
	n := l.wait(0)
	if n == 0 && !nap && l.finished == 0 {
		now := l.cfg.Clock()
		if l.oldest >= 0 {
			until = min(until, l.conns[l.oldest].a.Event.Sent+int64(l.cfg.Timeout)+1)
		}
		if until > now {
			n = l.wait(until - now)
		}
	}
	for i := range n {
		ev := &l.events[i]
		c := l.conns[ev.Fd]
		if c.gen == ev.Pad && c.state != connFree {
			l.event(c, ev.Events)
		}
	}
	l.stamp = 0
	l.handBack()
}

// handBack reports attempts that failed where done could not be called.
func (l *eventLoop) handBack() {
	for len(l.failed) > 0 {
		batch := l.failed
		l.failed = nil
		for _, a := range batch {
			l.finished++
			l.done(a)
		}
		if l.failed == nil {
			l.failed = batch[:0]
			return
		}
		if l.finished > eventsMax {
			return
		}
	}
}

// expire fails what has waited longer than the timeout.
func (l *eventLoop) expire() {
	if l.oldest < 0 {
		return
	}
	now := l.cfg.Clock()
	for l.oldest >= 0 {
		c := l.conns[l.oldest]
		if now-c.a.Event.Sent <= int64(l.cfg.Timeout) {
			return
		}
		class := report.Timeout
		if c.state == connConnecting {
			class = report.ConnectTimeout
		}
		l.giveBack(c, class, now)
	}
}

func (l *eventLoop) event(c *conn, events uint32) {
	if c.state == connConnecting {
		errno, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR)
		if err != nil || errno != 0 {
			l.stamp = l.cfg.Clock()
			l.fail(c, classOf(unix.Errno(errno)))
			return
		}
		if events&unix.EPOLLOUT == 0 {
			return
		}
		l.connecting--
		c.state = connHead
	}
	if len(c.out) > 0 && !l.flush(c) {
		return
	}
	if events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		l.receive(c, events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0)
	}
}

// giveBack fails c's attempt, and the connection with it.
func (l *eventLoop) giveBack(c *conn, class report.Class, at int64) {
	a := c.a
	a.Event.Verdict, a.Event.Class, a.Event.Done = report.Failed, class, at
	l.unbusy(c)
	l.close(c)
	l.failed = append(l.failed, a)
}

// fail is giveBack for what broke while its events were being handled.
func (l *eventLoop) fail(c *conn, class report.Class) {
	if l.stamp == 0 {
		l.stamp = l.cfg.Clock()
	}
	// The stamp may be of an answer that was there before this was sent.
	l.giveBack(c, class, max(l.stamp, c.a.Event.Sent))
}

func (l *eventLoop) Abort(done func(*load.Attempt)) {
	for _, a := range l.failed {
		done(a)
	}
	l.failed = nil
	for l.oldest >= 0 {
		c := l.conns[l.oldest]
		a := c.a
		l.unbusy(c)
		l.close(c)
		done(a)
	}
}

func (l *eventLoop) Close() error {
	for _, c := range l.conns {
		if c.state != connFree {
			_ = unix.Close(c.fd)
			c.state = connFree
		}
	}
	return unix.Close(l.epfd)
}

package httpdo

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func send(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func recv(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// recvStamped is recv that also tells when the bytes reached the socket, on
// the run's clock; 0 when the kernel does not say.
func (l *eventLoop) recvStamped(c *conn, b []byte) (int, int64, unix.Errno) {
	iov := unix.Iovec{Base: unsafe.SliceData(b)}
	iov.SetLen(len(b))
	msg := unix.Msghdr{Iov: &iov, Control: &l.control[0]}
	msg.SetIovlen(1)
	msg.SetControllen(len(l.control))
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVMSG, uintptr(c.fd), uintptr(unsafe.Pointer(&msg)), 0, 0, 0, 0)
	if errno != 0 {
		return 0, 0, errno
	}
	if int(msg.Controllen) >= unix.SizeofCmsghdr+int(unsafe.Sizeof(unix.Timespec{})) {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&l.control[0]))
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SO_TIMESTAMPNS {
			ts := (*unix.Timespec)(unsafe.Pointer(&l.control[unix.SizeofCmsghdr]))
			return int(n), ts.Nano() - l.wallOffset, 0
		}
	}
	// The first answer after stamps were wished for comes without one, and all
	// do on a unix socket.
	if !c.stamped {
		c.stamped = true
		_ = unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	return int(n), 0, 0
}

// nap sleeps until an instant on the run's clock without watching sockets.
func (l *eventLoop) nap(until int64) {
	now := l.cfg.Clock()
	l.wallOffset = time.Now().UnixNano() - now
	if until > now {
		l.pause = unix.NsecToTimespec(until - now)
		l.sleep(until-now)(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&l.pause)), 0, 0, 0, 0, 0)
	}
}

// wait collects events. With 0 it only looks; otherwise it sleeps for up to
// ns nanoseconds and lets the scheduler have the processor meanwhile.
func (l *eventLoop) wait(ns int64) int {
	events := uintptr(unsafe.Pointer(&l.events[0]))
	if ns <= 0 {
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(l.epfd), events, eventsMax, 0, 0, 0)
		if errno != 0 {
			return 0
		}
		return int(n)
	}
	l.pause = unix.NsecToTimespec(ns)
	n, _, errno := l.sleep(ns)(unix.SYS_EPOLL_PWAIT2, uintptr(l.epfd), events, eventsMax, uintptr(unsafe.Pointer(&l.pause)), 0, 0)
	if errno == unix.ENOSYS || errno == unix.EPERM {
		// Before Linux 5.11, or in a sandbox older than that: whole milliseconds.
		n, _, errno = l.sleep(ns)(unix.SYS_EPOLL_PWAIT, uintptr(l.epfd), events, eventsMax, uintptr((ns+999_999)/1_000_000), 0, 0)
	}
	if errno != 0 {
		return 0
	}
	return int(n)
}

// napNS is the longest sleep that the scheduler is not told of. Telling it
// costs a hand-over of the processor and keeps its monitor thread awake,
// which at 20,000 answers a second is most of the bill; not telling it holds
// up a garbage collection by as much.
const napNS = int64(time.Millisecond)

type syscall6 func(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2 uintptr, err unix.Errno)

func (l *eventLoop) sleep(ns int64) syscall6 {
	if ns <= napNS && l.naps {
		return unix.RawSyscall6
	}
	return unix.Syscall6
}

package replay

import (
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The scheduler is not told of calls on sockets that never block: telling it
// costs more than some of them do.

func writeNow(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func readNow(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// waitReadable waits a while for what can be read; none after that
// is no error. The first millisecond, which is all that a busy server takes, is
// not told to the scheduler either: it holds up a garbage collection by as much.
func waitReadable(ep int, events []unix.EpollEvent) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 1, 0, 0)
	if errno == 0 && n > 0 {
		return int(n), nil
	}
	for {
		n, err := unix.EpollWait(ep, events, int(patience/time.Millisecond))
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

package httpdo

import (
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weir-cli/weir/profiles"
)

// stamper is a server that knows when each request reached its socket: from
// the kernel, so that its own delays are no part of it.
type stamper struct {
	mu sync.Mutex
	at []int64 // nanoseconds
}

func (s *stamper) serve(c net.Conn) {
	raw, err := c.(*net.TCPConn).SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1) })
	buf, oob := make([]byte, 4096), make([]byte, 64)
	for {
		var n, control int
		var broke error
		err := raw.Read(func(fd uintptr) bool {
			n, control, _, _, broke = unix.Recvmsg(int(fd), buf, oob, 0)
			return broke != unix.EAGAIN
		})
		if err != nil || broke != nil || n == 0 {
			return
		}
		if control >= unix.CmsgSpace(int(unsafe.Sizeof(unix.Timespec{}))) {
			ts := (*unix.Timespec)(unsafe.Pointer(&oob[unix.CmsgLen(0)]))
			s.mu.Lock()
			s.at = append(s.at, ts.Nano())
			s.mu.Unlock()
		}
		if _, err := io.WriteString(c, ok); err != nil {
			return
		}
	}
}

// gaps are the seconds between arrivals so far.
func (s *stamper) gaps() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.Sort(s.at)
	var gaps []float64
	for i := 1; i < len(s.at); i++ {
		gaps = append(gaps, float64(s.at[i]-s.at[i-1])/1e9)
	}
	return gaps
}

// Arrivals that come faster than the loop's tick are even all the same, as
// long as they are few enough to have a wake-up each: by the tick, gaps at
// this rate would vary by 0.7.
func TestFastArrivalsAreEven(t *testing.T) {
	const rate = 3000
	// A loop that was held up sends what it missed in one go, evenly too.
	uneven := func(gaps []float64) float64 {
		if m := mean(gaps) * rate; m < 0.9 || m > 1.1 {
			return math.Inf(1)
		}
		return variation(gaps)
	}
	best := math.Inf(1)
	for range 20 {
		s := new(stamper)
		testRun{urls: []string{serveConns(t, s.serve)}, profile: arrivals(profiles.Constant, rate, 300*time.Millisecond)}.do(t, false)
		if best = min(best, bestStretch(s.gaps(), 50, uneven)); best <= 0.25 {
			return
		}
	}
	t.Errorf("coefficient of variation of gaps %.3f at the best, want at most 0.25", best)
}

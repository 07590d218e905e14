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

// variation is the coefficient of variation.
func variation(xs []float64) float64 {
	mean, sq := 0.0, 0.0
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		sq += (x - mean) * (x - mean) / float64(len(xs))
	}
	return math.Sqrt(sq) / mean
}

// A constant rate must be even and a random one random, at the far end of
// the wire. A run whose sender was kept from the processor says so in its
// lateness and proves nothing either way.
func TestArrivalsHaveTheShapeTheyClaim(t *testing.T) {
	for _, c := range []struct {
		name     string
		kind     profiles.ArrivalKind
		rate     float64
		d        time.Duration
		min, max float64
	}{
		{"constant", profiles.Constant, 200, 2 * time.Second, 0, 0.15},
		{"constant and fast", profiles.Constant, 3000, time.Second, 0, 0.3},
		{"poisson", profiles.Poisson, 200, 6 * time.Second, 0.9, 1.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 3 {
				s := new(stamper)
				url := serveConns(t, s.serve)
				r, _ := testRun{urls: []string{url}, profile: arrivals(c.kind, c.rate, c.d)}.do(t, false)
				cv, late := variation(s.gaps()), r.Sender.LateMS
				t.Logf("%d arrivals, coefficient of variation of gaps %.3f, late %+v", len(s.at), cv, late)
				if late.P999 > 1000/c.rate {
					continue
				}
				if cv < c.min || cv > c.max {
					t.Errorf("coefficient of variation %.3f, want %.2f to %.2f", cv, c.min, c.max)
				}
				return
			}
			t.Skip("this machine is too busy to send evenly")
		})
	}
}

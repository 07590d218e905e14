package httpdo

import (
	"fmt"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// deaf is the address of a socket that listens with a full queue, so that
// most handshakes with it get no answer.
func deaf(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
}

func TestHandshakesWithoutAnswerTimeOut(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		url := deaf(t)
		classes := map[report.Class]int{}
		r, _ := testRun{urls: []string{url}, profile: clients(8, "give-up"), max: 8,
			change: func(c *Config) { c.Timeout = 300 * time.Millisecond },
			tap: func(e *report.Event) {
				classes[e.Class]++
				if waited := e.Done - e.Sent; waited < 290e6 || waited > 1500e6 {
					t.Errorf("%v after %v", e.Class, time.Duration(waited))
				}
			}}.do(t, portable)
		if r.Totals.Failed != 8 || classes[report.ConnectTimeout] < 4 {
			t.Errorf("%+v %v", r.Totals, classes)
		}
	})
}

// Handshakes under way are bounded, and an aborted run leaves none behind.
func TestAbortWhileConnecting(t *testing.T) {
	o := newOffline(t)
	l := o.loop
	l.cfg.Connections, l.cfg.Mode, l.cfg.Timeout = 1000, NewConn, time.Minute
	var port int
	if _, err := fmt.Sscanf(deaf(t), "http://127.0.0.1:%d", &port); err != nil {
		t.Fatal(err)
	}
	l.addrs[0] = addrRing{addrs: []addr{{unix.AF_INET, &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}}}}
	sent := 0
	for l.Room(0, 0) {
		l.Send(new(load.Attempt))
		sent++
	}
	if sent != connectingMax || l.connecting != connectingMax {
		t.Errorf("%d handshakes begun, %d under way, bound %d", sent, l.connecting, connectingMax)
	}
	l.Poll(0, false, func(*load.Attempt) { t.Error("something finished") })
	back := map[*load.Attempt]bool{}
	l.Abort(func(a *load.Attempt) { back[a] = true })
	if len(back) != sent || l.connecting != 0 || l.openNow != 0 || l.oldest != -1 || l.newest != -1 {
		t.Errorf("%d of %d came back; %d connecting, %d open, list %d..%d", len(back), sent, l.connecting, l.openNow, l.oldest, l.newest)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

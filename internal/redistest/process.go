package redistest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/peertest"
)

// Ports are taken from below the range that systems give to outgoing
// connections, so that a client that calls a dead server neither takes its
// port nor reaches itself. A cluster's bus is busAbove its port.
const (
	firstPort = 2_000
	lastPort  = 6_000
	busAbove  = 10_000
)

// logTail is how much of a server's log, in bytes, a failed test shows.
const logTail = 4 << 10

// ready is what a server or a sentinel writes when it serves.
var ready = regexp.MustCompile(`eady to accept connections|Sentinel ID is`)

// process is one redis-server that belongs to a test.
type process struct {
	program string
	dir     string // its files; the log is dir/log
	port    int
	args    []string
	cmd     *exec.Cmd     // nil when it does not run
	ended   chan struct{} // closed when cmd has
}

// plain are the options that every server has.
func plain(p *process) []string {
	return []string{"--port", strconv.Itoa(p.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no"}
}

// start runs a redis-server and waits until it serves. args gives its
// arguments once its directory and port are known, again for each port: one
// that somebody else was faster to take is left for another.
func start(t testing.TB, args func(p *process) []string) *process {
	t.Helper()
	p := &process{program: peertest.Need(t, "redis-server")}
	var err error
	// Not t.TempDir: a path to a unix socket must be short.
	if p.dir, err = os.MkdirTemp("", "redis"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("redis-server on port %d wrote:\n%s", p.port, p.log(logTail))
		}
		_ = os.RemoveAll(p.dir)
	})
	for try := 1; ; try++ {
		p.port = freePort(t)
		p.args = args(p)
		if err = p.run(); err == nil {
			return p
		}
		if try == 10 || !bytes.Contains(p.log(logTail), []byte("in use")) {
			t.Fatal(err)
		}
	}
}

// restart runs a process that was killed again. Its port may be held for a
// moment longer.
func (p *process) restart(t testing.TB) {
	t.Helper()
	eventually(t, func() string {
		if err := p.run(); err != nil {
			return err.Error()
		}
		return ""
	})
}

func (p *process) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

// run starts the program and returns once it serves.
func (p *process) run() error {
	f, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := exec.Command(p.program, p.args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = p.dir, f, f, dieTogether()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // killed is how it ends
		close(ended)
	}()
	p.cmd, p.ended = cmd, ended
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if ready.Match(p.log(1 << 20)) {
			return nil
		}
		select {
		case <-ended:
			p.cmd = nil
			return fmt.Errorf("redis-server ended at once:\n%s", p.log(logTail))
		case <-time.After(3 * time.Millisecond):
		}
	}
	p.kill()
	return fmt.Errorf("redis-server does not serve after %v:\n%s", patience, p.log(logTail))
}

// kill ends the process, if it runs, and waits until it has ended.
func (p *process) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.ended
	p.cmd = nil
}

// log returns the last n bytes of what the program wrote.
func (p *process) log(n int) []byte {
	b, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return b[max(0, len(b)-n):]
}

// freePort returns a port that is free now, and its bus port too.
func freePort(t testing.TB) int {
	t.Helper()
	for range 1000 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		if isFree(port) && isFree(port+busAbove) {
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

package replay

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Server is a redis-server that a run started for itself: on a free port of
// this machine only, without persistence. Not safe for concurrent use.
type Server struct {
	program string
	dir     string
	port    int
	cmd     *exec.Cmd
	ended   chan struct{}
}

// startPatience bounds how long a server may take to serve.
const startPatience = 15 * time.Second

// StartServer finds a redis-server on the PATH and starts it.
func StartServer(ctx context.Context) (*Server, error) {
	program, err := exec.LookPath("redis-server")
	if err != nil {
		return nil, fmt.Errorf("no redis-server is on the PATH: %w", err)
	}
	p := &Server{program: program}
	if p.dir, err = os.MkdirTemp("", "weir-redis"); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		if p.port, err = freePort(); err == nil {
			err = p.run(ctx)
		}
		if err == nil {
			return p, nil
		}
		if try == 3 || ctx.Err() != nil {
			p.Stop()
			return nil, err
		}
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// URL is where it serves.
func (p *Server) URL() string { return "redis://" + p.addr() }

func (p *Server) addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)) }

func (p *Server) run(ctx context.Context) error {
	log, err := os.Create(filepath.Join(p.dir, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(p.program, "--port", strconv.Itoa(p.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no")
	cmd.Dir, cmd.Stdout, cmd.Stderr = p.dir, log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait() // killed is how it ends
		close(ended)
	}(p.ended)
	for end := time.Now().Add(startPatience); time.Now().Before(end) && ctx.Err() == nil; {
		text, _ := os.ReadFile(log.Name())
		if strings.Contains(string(text), "eady to accept connections") {
			return nil
		}
		select {
		case <-p.ended:
			p.cmd = nil
			return fmt.Errorf("redis-server ended at once: %.200s", strings.TrimSpace(string(text)))
		case <-time.After(5 * time.Millisecond):
		}
	}
	p.kill()
	return fmt.Errorf("redis-server does not serve after %v", startPatience)
}

func (p *Server) kill() {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended by itself
	<-p.ended
	p.cmd = nil
}

// Restart kills it and starts it again, empty, on the same port.
func (p *Server) Restart(ctx context.Context) error {
	p.kill()
	return p.run(ctx)
}

// Stop ends it and removes its files.
func (p *Server) Stop() {
	p.kill()
	_ = os.RemoveAll(p.dir)
}

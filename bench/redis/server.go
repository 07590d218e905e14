//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// server is a redis-server of our own on loopback, without persistence.
type server struct {
	cmd    *exec.Cmd
	dir    string
	port   string
	client *redis.Client
}

func startServer() (*server, error) {
	dir, err := os.MkdirTemp("", "weir-bench-redis-")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		return nil, err
	}
	s := &server{dir: dir, port: port}
	s.cmd = exec.Command("redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w (apt-get install redis-server redis-tools)", err)
	}
	s.client = redis.NewClient(&redis.Options{Addr: "127.0.0.1:" + port, MaxRetries: -1, ContextTimeoutEnabled: true, PoolSize: 100, PipelinePoolSize: 100})
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if err = s.client.Ping(context.Background()).Err(); err == nil {
			return s, nil
		}
		if time.Now().After(end) {
			s.stop()
			return nil, fmt.Errorf("redis-server does not answer: %w", err)
		}
	}
}

func (s *server) stop() {
	_ = s.client.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	_ = os.RemoveAll(s.dir)
}

var (
	callsLine = regexp.MustCompile(`cmdstat_evalsha:calls=(\d+)`)
	cpuLine   = regexp.MustCompile(`used_cpu_(?:sys|user):([0-9.]+)`)
)

// spent is how many EVALSHA the server has executed, and its CPU-seconds.
func (s *server) spent() (calls int64, cpu float64, err error) {
	info, err := s.client.Info(context.Background(), "commandstats", "cpu").Result()
	if err != nil {
		return 0, 0, err
	}
	if m := callsLine.FindStringSubmatch(info); m != nil {
		calls, err = strconv.ParseInt(m[1], 10, 64)
	}
	for _, m := range cpuLine.FindAllStringSubmatch(info, -1) {
		x, parseErr := strconv.ParseFloat(m[1], 64)
		cpu, err = cpu+x, errors.Join(err, parseErr)
	}
	return calls, cpu, err
}

// benchmark has redis-benchmark send a command and returns its CPU time.
func (s *server) benchmark(pipeline, n int, words []string) (time.Duration, error) {
	cmd := exec.Command("redis-benchmark", append([]string{"-p", s.port, "-c", "50", "-P", strconv.Itoa(pipeline), "-n", strconv.Itoa(n), "-q"}, words...)...)
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("rror")) {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

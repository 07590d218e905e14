//go:build linux

package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

func now() float64 { return float64(time.Now().UnixNano()) / 1e9 }

// nginx is the server that all tools are aimed at: one worker that answers
// at once.
type nginx struct {
	cmd  *exec.Cmd
	url  string
	done chan error
}

const nginxConf = `worker_processes 1;
daemon off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
worker_rlimit_nofile 20000;
events { worker_connections 15000; }
http {
  access_log off;
  keepalive_requests 1000000000;
  server {
    listen 127.0.0.1:%[2]d backlog=16384;
    location / { return 200 "ok"; }
    location /status { stub_status; }
  }
}
`

func startNginx(dir string) (*nginx, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return nil, fmt.Errorf("%w; install it with: apt-get install nginx-light wrk nghttp2-client", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, port), 0o644); err != nil {
		return nil, err
	}
	n := &nginx{cmd: exec.Command(path, "-c", conf, "-p", dir), url: fmt.Sprintf("http://127.0.0.1:%d/", port), done: make(chan error, 1)}
	if err := n.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { n.done <- n.cmd.Wait() }()
	for range 100 {
		if _, err := n.requests(); err == nil {
			return n, nil
		}
		select {
		case err := <-n.done:
			return nil, fmt.Errorf("nginx ended: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	n.stop()
	return nil, fmt.Errorf("nginx does not answer")
}

func (n *nginx) stop() {
	_ = n.cmd.Process.Signal(os.Interrupt)
	<-n.done
}

// requests is the server's own count so far.
func (n *nginx) requests() (int64, error) {
	client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(n.url + "status")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 4096))
	if err != nil {
		return 0, err
	}
	var active, accepts, handled, requests int64
	_, err = fmt.Sscanf(string(body), "Active connections: %d \nserver accepts handled requests\n %d %d %d", &active, &accepts, &handled, &requests)
	return requests, err
}

package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/peertest"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
)

// nginxConf limits each key to 50 a second. limit_req with burst=20 and
// nodelay lets 21 through at once: one and twenty more.
const nginxConf = `daemon off;
pid %[1]s/pid;
error_log %[1]s/error.log;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path %[1]s;
  proxy_temp_path %[1]s;
  fastcgi_temp_path %[1]s;
  uwsgi_temp_path %[1]s;
  scgi_temp_path %[1]s;
  limit_req_zone $http_x_api_key zone=keys:1m rate=50r/s;
  server {
    listen 127.0.0.1:%[2]d;
    location / {
      limit_req zone=keys burst=20 nodelay;
      limit_req_status 429;
      try_files /none @ok;
    }
    location @ok { return 200 "ok"; }
  }
}
`

// A limiter that others wrote: nginx keeps what it is configured to, says
// nothing about when to come back, and weir says both.
func TestNginxLimitReq(t *testing.T) {
	peertest.Need(t, "nginx")
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, fmt.Appendf(nil, nginxConf, dir, port), 0o644); err != nil {
		t.Fatal(err)
	}
	server := exec.Command("nginx", "-c", conf, "-p", dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	}()
	address := fmt.Sprintf("127.0.0.1:%d", port)
	for try := 0; ; try++ {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		}
		if try == 200 {
			t.Fatal("nginx does not listen")
		}
		time.Sleep(25 * time.Millisecond)
	}
	_, promise, err := parseLimit("50/s,burst=21")
	if err != nil {
		t.Fatal(err)
	}
	a, _, _ := testApp()
	a.now = time.Now
	p := profiles.Profile{Name: "storm", Duration: 2 * time.Second, Populations: []profiles.Population{{Name: "workers", Clients: 6,
		Keys: profiles.Keys{Kind: profiles.KeyCycle, Count: 2, Prefix: "k-"}, Behaviour: "fixed:5ms", Arrivals: profiles.Arrivals{Kind: profiles.Closed}}}}
	r := &loadRun{app: a, name: "nginx", profile: &p, promise: promise, seed: 1, threads: 1, limits: load.Limits{MaxWait: time.Minute},
		attempts: 100_000, dropAfter: time.Second}
	if err := r.compile(time.Now()); err != nil {
		t.Fatal(err)
	}
	r.http = httpdo.Config{Targets: []*url.URL{{Scheme: "http", Host: address, Path: "/"}}, Method: "GET", KeyHeader: "X-API-Key",
		Connections: 6, Timeout: 20 * time.Second}
	r.http.Refused.Status, _ = httpdo.ParseStatusSet("429")
	res, err := r.do(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// nginx counts whole milliseconds, so a call can pass a twentieth of a
	// token early.
	if res.Bound.WorstExcess > 0.2 || res.Totals.Failed != 0 || res.Bound.KeysJudged != 2 {
		t.Errorf("%+v, %+v, %v", res.Bound, res.Totals, res.Errors)
	}
	if res.Totals.Admitted < 2*21 || res.Totals.Refused == 0 || res.RetryAfter.Missing != res.Totals.Refused {
		t.Errorf("%+v, hints %+v", res.Totals, res.RetryAfter)
	}
}

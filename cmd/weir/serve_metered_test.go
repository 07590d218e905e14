package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
)

// Two fleets, one after the other, keep their totals in one Redis.
func TestServeMetersToRedis(t *testing.T) {
	redistest.Each(t, func(t *testing.T, r *redistest.Redis) {
		for range 2 {
			if code, stdout, stderr := served(t, 6, "--gateways=2", "--limit=1/h,burst=4", "--redis="+r.URL, "--store-timeout=10s", "--meter=redis"); code != exitOK {
				t.Fatalf("exit %d, %s%s", code, stdout, stderr)
			}
			r.CLI("DEL", "rl:{k}:default") // so that the next one admits, too
		}
		a, out, errs := testApp()
		code := a.execute(t.Context(), newRoot(a, newServeCmd(a)), []string{"serve", "metered", "--redis", r.URL})
		if code != exitOK || !strings.Contains(out.String(), "1 key used 8 units, counted by 4 gateways up to ") {
			t.Errorf("exit %d, %s%s", code, out, errs)
		}
	})
}

// saidSoFar is a stream that can be read while others write to it.
type saidSoFar struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *saidSoFar) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *saidSoFar) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// The admin listener has the metrics, for those who have its token.
func TestAdminHasTheMetrics(t *testing.T) {
	dir := t.TempDir()
	ports, token := filepath.Join(dir, "ports"), filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, out, _ := testApp()
	said := &saidSoFar{}
	a.stderr = said
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() {
		done <- a.execute(ctx, newRoot(a, newServeCmd(a)), []string{"serve", "--listen=127.0.0.1:0", "--ports-file=" + ports, "--admin=127.0.0.1:0", "--admin-token-file=" + token})
	}()
	url := ""
	for deadline := time.Now().Add(30 * time.Second); url == ""; time.Sleep(time.Millisecond) {
		if _, rest, ok := strings.Cut(said.text(), "admin: "); ok && strings.Contains(rest, "\n") {
			url, _, _ = strings.Cut(rest, "\n")
		}
		if time.Now().After(deadline) {
			t.Fatalf("no admin listener after 30s: %s", said.text())
		}
	}
	for _, tt := range []struct {
		token string
		code  int
	}{{"", 401}, {"Bearer 0123456789abcdef", 200}} {
		req, _ := http.NewRequest("GET", url+"/metrics", nil)
		req.Header.Set("Authorization", tt.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.code {
			t.Errorf("with %q: %d, want %d", tt.token, res.StatusCode, tt.code)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	cancel()
	if code := <-done; code != exitOK {
		t.Errorf("exit %d, %s", code, out)
	}
}

package httpdo

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/weir-cli/weir/report"
)

// refuseOdd answers every second request of a server with a 429.
func refuseOdd(protocol *atomic.Value) http.HandlerFunc {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		protocol.Store(r.Proto)
		if n.Add(1)%2 == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		}
		_, _ = io.WriteString(w, "hello")
	}
}

// half checks that ten attempts came back as five and five, with the hint.
func half(t *testing.T, r *report.Result) {
	t.Helper()
	if r.Totals.Admitted != 5 || r.Totals.Refused != 5 || r.RetryAfter.Seen != 5 {
		t.Errorf("%+v, hints %+v, errors %v", r.Totals, r.RetryAfter, r.Errors)
	}
}

func TestTLS(t *testing.T) {
	var protocol atomic.Value
	server := httptest.NewUnstartedServer(refuseOdd(&protocol))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	run := func(change func(*Config)) *report.Result {
		r, _ := testRun{urls: []string{server.URL}, profile: clients(1, "give-up"), max: 10, change: change}.do(t, false)
		return r
	}
	half(t, run(func(c *Config) { c.TLS = &tls.Config{RootCAs: pool} }))
	half(t, run(func(c *Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }))
	if p := protocol.Load(); p != "HTTP/1.1" {
		t.Errorf("spoke %v without being asked for HTTP/2", p)
	}
	half(t, run(func(c *Config) { c.TLS, c.HTTP2 = &tls.Config{RootCAs: pool}, true }))
	if p := protocol.Load(); p != "HTTP/2.0" {
		t.Errorf("asked for HTTP/2 and spoke %v", p)
	}
	if r := run(func(c *Config) { c.TLS = &tls.Config{} }); r.Errors["tls-failed"] != 10 {
		t.Errorf("an unknown authority gave %v", r.Errors)
	}
}

func TestHTTP2InTheClear(t *testing.T) {
	var protocol atomic.Value
	server := httptest.NewUnstartedServer(refuseOdd(&protocol))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	r, _ := testRun{urls: []string{server.URL}, profile: clients(1, "give-up"), max: 10,
		change: func(c *Config) { c.HTTP2 = true }}.do(t, false)
	half(t, r)
	if p := protocol.Load(); p != "HTTP/2.0" {
		t.Errorf("spoke %v", p)
	}
}

func TestUnixSocket(t *testing.T) {
	var protocol atomic.Value
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no unix sockets here: %v", err)
	}
	both(t, func(t *testing.T, portable bool) {
		server := &http.Server{Handler: refuseOdd(&protocol)}
		go server.Serve(l)
		r, _ := testRun{urls: []string{"http://localhost/"}, profile: clients(1, "give-up"), max: 10,
			change: func(c *Config) { c.Unix = path }}.do(t, portable)
		half(t, r)
	})
	l.Close()
	both(t, func(t *testing.T, portable bool) {
		r, _ := testRun{urls: []string{"http://localhost/"}, profile: clients(1, "give-up"), max: 3,
			change: func(c *Config) { c.Unix = path }}.do(t, portable)
		if r.Errors["connect-refused"] != 3 {
			t.Errorf("a socket without a server gave %v", r.Errors)
		}
	})
}

func TestProxy(t *testing.T) {
	var protocol atomic.Value
	server := httptest.NewServer(refuseOdd(&protocol))
	defer server.Close()
	var through atomic.Int64
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		through.Add(1)
		req := r.Clone(r.Context())
		req.RequestURI = ""
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer res.Body.Close()
		maps.Copy(w.Header(), res.Header)
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body)
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	r, _ := testRun{urls: []string{server.URL}, profile: clients(1, "give-up"), max: 10,
		change: func(c *Config) { c.Proxy = u }}.do(t, false)
	half(t, r)
	if through.Load() != 10 {
		t.Errorf("%d of 10 went through the proxy", through.Load())
	}
}

// What counts as refused is the user's to say: a status, a header or a text
// in the body of an answer that looks well otherwise.
func TestRefusalsThatLookLikeSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		answer  string
		refusal Refusal
	}{
		"header":          {"HTTP/1.1 200 OK\r\nX-Throttled: yes, now\r\nContent-Length: 2\r\n\r\nok", Refusal{Header: Line{"x-throttled", "yes"}}},
		"any header":      {"HTTP/1.1 200 OK\r\nX-Throttled: no matter\r\nContent-Length: 2\r\n\r\nok", Refusal{Header: Line{"X-Throttled", ""}}},
		"body":            {"HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n{\"code\": \"THROTTLED\"}", Refusal{Body: "THROTTLED"}},
		"body in chunks":  {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nTHRO\r\n5\r\nTTLED\r\n0\r\n\r\n", Refusal{Body: "THROTTLED"}},
		"another status":  {"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", Refusal{Status: mustSet("429,503")}},
		"status and body": {"HTTP/1.1 429 Slow\r\nContent-Length: 2\r\n\r\nno", Refusal{Status: mustSet("429"), Body: "THROTTLED"}},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, portable bool) {
				r, _ := testRun{urls: []string{serveRaw(t, answering(c.answer))}, profile: clients(1, "give-up"), max: 4,
					change: func(cfg *Config) { cfg.Refused = c.refusal }}.do(t, portable)
				if r.Totals.Refused != 4 {
					t.Errorf("%+v %v", r.Totals, r.Errors)
				}
			})
		})
	}
}

func mustSet(s string) StatusSet {
	set, err := ParseStatusSet(s)
	if err != nil {
		panic(err)
	}
	return set
}

package gateway

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The books with injected faults: what a client saw and what the fleet wrote
// down differ by exactly the cuts.
func TestFaultsAndBooks(t *testing.T) {
	f := started(t, Config{Gateways: 2, Design: Central, Limit: spec(t, "1/h,burst=100"),
		Faults: Faults{Before: 0.1, After: 0.1, Seed: 7}})
	const sent = 8 * 50
	got := storm(t, f, "k", 8, 50)
	sn := f.Counts(5)
	balanced(t, sn)
	c := sn.Totals
	if c.CutBefore == 0 || c.CutAfter == 0 || c.CutAfterAdmitted == 0 || c.Admitted != 100 {
		t.Errorf("books %+v", c)
	}
	if c.Offered+c.CutBefore != sent || int64(got.failed) != c.CutBefore+c.CutAfter ||
		int64(got.status[200]) != c.Admitted-c.CutAfterAdmitted ||
		int64(got.status[429]) != c.Refused-(c.CutAfter-c.CutAfterAdmitted) {
		t.Errorf("the client saw %v, the fleet %+v", got, c)
	}

	// The same seed cuts as many of as many.
	g := started(t, Config{Limit: spec(t, "1/h,burst=100"), Faults: Faults{Before: 0.1, After: 0.1, Seed: 7}})
	storm(t, g, "k", 3, 134)
	if d := g.Counts(0).Totals; d.CutBefore < c.CutBefore || d.CutBefore > c.CutBefore+2 {
		t.Errorf("402 requests cut %d, 400 cut %d", d.CutBefore, c.CutBefore)
	}
}

func TestFaultsOnHTTP2AndHead(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5"), Faults: Faults{After: 1}})
	for _, method := range []string{"GET", "HEAD"} {
		c := h2cClient(t)
		req, _ := http.NewRequest(method, f.URLs()[0], nil)
		res, err := c.Do(req)
		if err == nil {
			_, err = io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		if err == nil {
			t.Errorf("%s: the answer was whole", method)
		}
	}
	if c := f.Counts(0).Totals; c.Offered != 2 || c.CutAfter != 2 || c.CutAfterAdmitted != 2 {
		t.Errorf("books %+v", c)
	}
}

func h2cClient(t *testing.T) *http.Client {
	tr := &http.Transport{Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// get returns the protocol of a 200.
func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	res, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("%s: %d %s %v", url, res.StatusCode, text, err)
	}
	return res.Proto
}

func TestProtocols(t *testing.T) {
	plain := started(t, Config{Limit: spec(t, "1/h,burst=9")})
	if p := get(t, http.DefaultClient, plain.URLs()[0]); p != "HTTP/1.1" {
		t.Error(p)
	}
	if p := get(t, h2cClient(t), plain.URLs()[0]); p != "HTTP/2.0" {
		t.Error(p)
	}

	enc := started(t, Config{Gateways: 3, Limit: spec(t, "1/h,burst=9"), TLS: TLS{On: true}})
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(enc.Certificate()) {
		t.Fatal("no certificate to trust")
	}
	for _, h2 := range []bool{false, true} {
		tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: h2}
		want := map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"}[h2]
		if p := get(t, &http.Client{Transport: tr}, enc.URLs()[0]); p != want {
			t.Errorf("over TLS: %s, want %s", p, want)
		}
		tr.CloseIdleConnections()
	}
	if _, err := http.Get(enc.URLs()[0]); err == nil {
		t.Error("a client that does not know the certificate trusts it")
	}
}

func TestCertificateFiles(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "none.pem")
	f, err := New(Config{Limit: spec(t, "1/s,burst=1"), TLS: TLS{On: true, CertFile: missing, KeyFile: missing}})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a certificate that is not there: %v", err)
	}
	for _, c := range []TLS{{On: true, CertFile: "a"}, {CertFile: "a", KeyFile: "b"}} {
		if _, err := New(Config{Limit: spec(t, "1/s,burst=1"), TLS: c}); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

func TestUnixSockets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file modes of sockets differ on windows")
	}
	// Socket paths are short everywhere; a test's own folder may not be.
	dir, err := os.MkdirTemp("", "weir")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "s")
	f := started(t, Config{Gateways: 2, Limit: spec(t, "1/h,burst=1"), Design: Central, Unix: path})
	status := map[int]int{}
	for i, u := range f.URLs() {
		if u != fmt.Sprintf("unix:%s.%d", path, i+1) {
			t.Error(u)
		}
		name := strings.TrimPrefix(u, "unix:")
		tr := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", name)
		}}
		defer tr.CloseIdleConnections()
		res, err := (&http.Client{Transport: tr}).Get("http://weir/")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		status[res.StatusCode]++
		if st, err := os.Stat(name); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", st, err)
		}
	}
	if status[200] != 1 || status[429] != 1 {
		t.Errorf("%v: callers without a name share one key", status)
	}

	// A socket in use and a file are left alone; a stale socket is replaced.
	for _, tt := range []struct {
		make func(p string)
		ok   bool
	}{
		{func(p string) { os.WriteFile(p, []byte("mine"), 0o600) }, false},
		{func(p string) {
			l, _ := net.Listen("unix", p)
			t.Cleanup(func() { l.Close() })
		}, false},
		{func(p string) {
			l, _ := net.ListenUnix("unix", &net.UnixAddr{Name: p})
			l.SetUnlinkOnClose(false)
			l.Close()
		}, true},
	} {
		p := filepath.Join(dir, "t")
		os.Remove(p)
		tt.make(p)
		f, err := New(Config{Limit: spec(t, "1/h,burst=1"), Unix: p})
		if err != nil {
			t.Fatal(err)
		}
		err = f.Start()
		if (err == nil) != tt.ok {
			t.Errorf("start: %v, want ok %t", err, tt.ok)
		}
		if err == nil {
			f.Stop(context.Background())
		}
	}
}

func TestListening(t *testing.T) {
	ok := spec(t, "1/s,burst=1")
	for _, tt := range []struct {
		listen string
		remote bool
		n      int
		ok     bool
	}{
		{"127.0.0.1:0", false, 1, true},
		{"localhost:8080", false, 1, true},
		{"[::1]:0", false, 1, true},
		{"127.9.9.9:0", false, 1, true},
		{":8080", false, 1, false},
		{"0.0.0.0:8080", false, 1, false},
		{"[::]:8080", false, 1, false},
		{"192.0.2.1:8080", false, 1, false},
		{"example.org:80", false, 1, false},
		{"0.0.0.0:8080", true, 1, true},
		{"127.0.0.1", false, 1, false},
		{"127.0.0.1:70000", false, 1, false},
		{"127.0.0.1:65535", false, 1, true},
		{"127.0.0.1:65535", false, 2, false},
	} {
		_, err := New(Config{Limit: ok, Listen: tt.listen, AllowRemote: tt.remote, Gateways: tt.n})
		if (err == nil) != tt.ok {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	if _, err := New(Config{Limit: ok, Listen: ":80"}); !errors.Is(err, ErrRemote) {
		t.Errorf("%v is not ErrRemote", err)
	}
}

// When the second port is taken the first is given back. Outgoing
// connections take ports of 127.0.0.1 all the time, so this stays on a
// loopback address of its own where there is one. Still, a try whose first
// port was not free says nothing.
func TestListeningIsAllOrNothing(t *testing.T) {
	host := fmt.Sprintf("127.%d.%d.9", 100+os.Getpid()/250%100, os.Getpid()%250)
	if l, err := net.Listen("tcp", host+":0"); err == nil {
		l.Close()
	} else {
		host = "127.0.0.1"
	}
	var err error
	for range 20 {
		l, lerr := net.Listen("tcp", host+":0")
		if lerr != nil {
			t.Fatal(lerr)
		}
		before := fmt.Sprintf("%s:%d", host, l.Addr().(*net.TCPAddr).Port-1)
		f, nerr := New(Config{Limit: spec(t, "1/s,burst=1"), Listen: before, Gateways: 2})
		if nerr != nil {
			t.Fatal(nerr)
		}
		err = f.Start()
		l.Close()
		if err == nil {
			t.Fatal("two servers on one port")
		}
		if !strings.HasPrefix(err.Error(), "gateway 2: ") {
			continue // the first port was not free
		}
		var again net.Listener
		if again, err = net.Listen("tcp", before); err == nil {
			again.Close()
			return
		}
	}
	t.Errorf("the first port is still held: %v", err)
}

func TestConfigsThatCannotWork(t *testing.T) {
	ok := spec(t, "1/s,burst=1")
	for name, c := range map[string]Config{
		"no limit":       {},
		"gateways":       {Limit: ok, Gateways: -1},
		"many gateways":  {Limit: ok, Gateways: MaxGateways + 1},
		"design":         {Limit: ok, Design: 9},
		"latency":        {Limit: ok, Latency: -1},
		"long latency":   {Limit: ok, Latency: time.Hour},
		"long refusal":   {Limit: ok, RefusalLatency: time.Hour},
		"upstream":       {Limit: ok, Upstream: &url.URL{Scheme: "ftp", Host: "h"}},
		"no upstream":    {Limit: ok, Upstream: &url.URL{Scheme: "http"}},
		"key header":     {Limit: ok, Key: Key{Header: "a b"}},
		"long constant":  {Limit: ok, Key: Key{Constant: strings.Repeat("a", 999)}},
		"cost header":    {Limit: ok, Cost: Cost{Header: "ä"}},
		"cost":           {Limit: ok, Cost: Cost{Max: -1}},
		"faults":         {Limit: ok, Faults: Faults{Before: 0.6, After: 0.6}},
		"fault below 0":  {Limit: ok, Faults: Faults{Before: -0.1}},
		"fault is a NaN": {Limit: ok, Faults: Faults{After: nan()}},
		"keys":           {Limit: ok, MaxKeys: -1},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func nan() float64 { var zero float64; return zero / zero }

func TestUpstream(t *testing.T) {
	type seen struct{ forwarded, body, path string }
	got := make(chan seen, 10)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got <- seen{r.Header.Get("X-Forwarded-For"), string(text), r.URL.String()}
		w.Header().Set("RateLimit", `"theirs";r=1;t=1`)
		w.Header().Set("X-Theirs", "yes")
		w.WriteHeader(201)
		fmt.Fprint(w, "made")
	}))
	target, _ := url.Parse(up.URL + "/base")
	f := started(t, Config{Limit: spec(t, "1/h,burst=2"), Upstream: target})
	send := func() (*http.Response, string) {
		req, _ := http.NewRequest("POST", f.URLs()[0]+"/v1?q=1", strings.NewReader("hello"))
		req.Header.Set("X-API-Key", "k")
		req.Header.Set("X-Forwarded-For", "203.0.113.9")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res, string(text)
	}
	res, text := send()
	if res.StatusCode != 201 || text != "made" || res.Header.Get("X-Theirs") != "yes" {
		t.Errorf("%d %s %v", res.StatusCode, text, res.Header)
	}
	if v := res.Header.Values("RateLimit"); len(v) != 1 || strings.Contains(v[0], "theirs") {
		t.Errorf("two authors of one field: %q", v)
	}
	if s := <-got; s != (seen{"127.0.0.1", "hello", "/base/v1?q=1"}) {
		t.Errorf("the upstream saw %+v", s)
	}
	up.Close()
	if res, _ := send(); res.StatusCode != 502 {
		t.Errorf("without an upstream: %d", res.StatusCode)
	}
	if res, _ := send(); res.StatusCode != 429 {
		t.Errorf("above the limit: %d", res.StatusCode)
	}
	c := f.Counts(1)
	balanced(t, c)
	if want := (Counts{Offered: 3, Admitted: 2, Refused: 1, AdmittedUnits: 2, UpstreamFailed: 1}); c.Totals != want {
		t.Errorf("books %+v", c.Totals)
	}
}

func TestUpstreamThatBreaksOff(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		fmt.Fprint(w, "half")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}))
	defer up.Close()
	target, _ := url.Parse(up.URL)
	f := started(t, Config{Limit: spec(t, "1/h,burst=2"), Upstream: target})
	if got := storm(t, f, "k", 1, 2); got.failed != 2 {
		t.Errorf("%v", got)
	}
	if c := f.Counts(0).Totals; c.Admitted != 2 || c.UpstreamFailed != 2 {
		t.Errorf("books %+v", c)
	}
}

func TestStopLetsRequestsFinish(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5"), Latency: 150 * time.Millisecond})
	done := make(chan answers)
	go func() { done <- storm(t, f, "k", 3, 1) }()
	offered(t, f, 3)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := f.Stop(ctx); err != nil {
		t.Error(err)
	}
	if got := <-done; got.status[200] != 3 {
		t.Errorf("stopping cut requests off: %v", got)
	}
}

func TestStopCutsWhatTakesTooLong(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5"), Latency: time.Minute})
	done := make(chan answers)
	go func() { done <- storm(t, f, "k", 2, 1) }()
	offered(t, f, 2)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if err := f.Stop(ctx); err != nil {
		t.Error(err)
	}
	if got := <-done; got.failed != 2 {
		t.Errorf("%v", got)
	}
}

func TestBodiesAreReadToACap(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=5"), MaxBody: 1000})
	for _, size := range []int64{10, 5000, 1 << 20} {
		res, err := http.Post(f.URLs()[0], "", io.LimitReader(zeros{}, size))
		if err != nil {
			// The server may have closed while the client still wrote.
			continue
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("%d bytes: %d", size, res.StatusCode)
		}
	}
	if c := f.Counts(0).Totals; c.Offered != 3 || c.Admitted != 3 {
		t.Errorf("books %+v", c)
	}
	req, _ := http.NewRequest("GET", f.URLs()[0], nil)
	req.Header.Set("X-Long", strings.Repeat("a", 2*maxHeaderBytes))
	res, err := http.DefaultClient.Do(req)
	if err == nil {
		res.Body.Close()
		if res.StatusCode != 431 {
			t.Errorf("a header above the cap: %d", res.StatusCode)
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// spec reads a limit; the slow ones in these tests refill nothing while the
// test runs, so that counts are exact.
func spec(t testing.TB, text string) limit.Spec {
	t.Helper()
	s, err := limit.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// started is a running fleet that the test's end stops.
func started(t testing.TB, c Config) *Fleet {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := f.Stop(ctx); err != nil {
			t.Error(err)
		}
		select {
		case err := <-f.Failed():
			t.Error(err)
		default:
		}
	})
	return f
}

// answers are what a number of requests came back with.
type answers struct {
	status map[int]int
	failed int
	header []http.Header // of refusals
}

func (a answers) String() string { return fmt.Sprintf("%v and %d failed", a.status, a.failed) }

// storm sends n requests for key from each of workers connections; worker i
// talks to gateway i mod the number of gateways.
func storm(t testing.TB, f *Fleet, key string, workers, n int) answers {
	t.Helper()
	var mu sync.Mutex
	all := answers{status: map[int]int{}}
	var wg sync.WaitGroup
	urls := f.URLs()
	for i := range workers {
		wg.Go(func() {
			c := &http.Client{Transport: &http.Transport{}}
			defer c.CloseIdleConnections()
			for range n {
				// POST, so that the client does not resend by itself.
				req, _ := http.NewRequest("POST", urls[i%len(urls)], strings.NewReader("x"))
				if key != "" {
					req.Header.Set("X-API-Key", key)
				}
				res, err := c.Do(req)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				mu.Lock()
				if err != nil {
					all.failed++
				} else {
					all.status[res.StatusCode]++
					if res.StatusCode != 200 {
						all.header = append(all.header, res.Header)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}

// balanced checks what every reading of the books promises.
func balanced(t testing.TB, sn Snapshot) {
	t.Helper()
	if sn.Totals.Offered != sn.Totals.Admitted+sn.Totals.Refused {
		t.Errorf("offered %d, but admitted %d and refused %d", sn.Totals.Offered, sn.Totals.Admitted, sn.Totals.Refused)
	}
	var gateways Counts
	for _, g := range sn.PerGateway {
		gateways.add(g.Counts)
	}
	keys := sn.Other
	for _, k := range sn.PerKey {
		keys.add(k.Counts)
	}
	if gateways != sn.Totals || keys != sn.Totals {
		t.Errorf("totals %+v\ngateways %+v\nkeys and other %+v", sn.Totals, gateways, keys)
	}
}

func TestDesigns(t *testing.T) {
	const sent = 16 * 10
	for _, tt := range []struct {
		design   Design
		gateways int
		admitted int
		why      string
	}{
		{Central, 1, 20, "one store, 16 connections racing"},
		{Central, 4, 20, "four gateways ask one store"},
		{Sticky, 4, 20, "the key's owner decides for all"},
		{Local, 4, 80, "each gateway grants the full burst"},
		{ExactShares, 4, 20, "each grants a quarter"},
		{ExactShares, 3, 18, "a third of 20 is rounded down to 6"},
	} {
		t.Run(fmt.Sprintf("%v/%d", tt.design, tt.gateways), func(t *testing.T) {
			f := started(t, Config{Gateways: tt.gateways, Limit: spec(t, "1/h,burst=20"), Design: tt.design})
			got := storm(t, f, "k", 16, 10)
			if got.status[200] != tt.admitted || got.status[429] != sent-tt.admitted {
				t.Errorf("%s: got %v, want %d admitted of %d", tt.why, got, tt.admitted, sent)
			}
			sn := f.Counts(10)
			balanced(t, sn)
			want := Counts{Offered: sent, Admitted: int64(tt.admitted), Refused: int64(sent - tt.admitted), AdmittedUnits: int64(tt.admitted)}
			if sn.Totals != want {
				t.Errorf("books %+v, want %+v", sn.Totals, want)
			}
			if len(sn.PerKey) != 1 || sn.PerKey[0].Key != "k" {
				t.Errorf("keys %+v", sn.PerKey)
			}
		})
	}
}

func TestSharesAreExactInRate(t *testing.T) {
	s, err := share(spec(t, "10/s,burst=20"), 3)
	if err != nil {
		t.Fatal(err)
	}
	if s.Rate.Units*3*int64(time.Second) != 10*int64(s.Rate.Per) || s.Burst != 6 {
		t.Errorf("a third is %+v", s)
	}
	if s, _ := share(spec(t, "concurrency:limit=2"), 5); s.Limit != 1 {
		t.Errorf("a fifth of 2 slots is %d, want at least 1", s.Limit)
	}
	if _, err := share(limit.Spec{Rate: limit.Rate{Units: 1, Per: 1 << 62}}, 5); err == nil {
		t.Error("a period that overflows was divided")
	}
}

func TestStickyOwnersAreSpread(t *testing.T) {
	var owned [4]int
	four, five := newOwners(4), newOwners(5)
	moved := 0
	for i := range 4000 {
		key := fmt.Sprintf("k-%d", i)
		owned[four.of(key)]++
		if four.of(key) != five.of(key) {
			moved++
			if five.of(key) != 4 {
				t.Fatalf("%s moved to gateway %d, which is not the new one", key, five.of(key)+1)
			}
		}
	}
	if moved < 400 || moved > 1300 {
		t.Errorf("a fifth gateway takes over %d of 4000 keys, want about 800", moved)
	}
	for i, n := range owned {
		if n < 650 || n > 1350 {
			t.Errorf("gateway %d owns %d of 4000 keys", i+1, n)
		}
	}
}

func TestKeys(t *testing.T) {
	req := func(path, remote string, kv ...string) *http.Request {
		r := &http.Request{URL: &url.URL{Path: path}, RemoteAddr: remote, Host: "h.example", Header: http.Header{}}
		for i := 0; i < len(kv); i += 2 {
			r.Header.Set(kv[i], kv[i+1])
		}
		return r
	}
	long := strings.Repeat("a", 5000)
	for _, tt := range []struct {
		key  Key
		r    *http.Request
		want string
	}{
		{Key{}, req("/", "192.0.2.1:99", "X-API-Key", "k-7"), "k-7"},
		{Key{}, req("/", "192.0.2.1:99"), "192.0.2.1"},
		{Key{}, req("/", "192.0.2.1:99", "X-API-Key", ""), "192.0.2.1"},
		{Key{}, req("/", "[2001:db8::1]:99"), "2001:db8::/64"},
		{Key{}, req("/", "@"), "unix"},
		{Key{}, req("/", ""), "unix"},
		{Key{Header: "x-tenant"}, req("/", "192.0.2.1:99", "X-Tenant", "t"), "t"},
		{Key{Header: "host"}, req("/", "192.0.2.1:99"), "h.example"},
		{Key{By: ByAddress}, req("/", "192.0.2.1:99", "X-API-Key", "k-7"), "192.0.2.1"},
		{Key{By: ByPath}, req("/v1/orders", "192.0.2.1:99"), "/v1/orders"},
		{Key{By: ByConstant}, req("/", "192.0.2.1:99"), "all"},
		{Key{By: ByConstant, Constant: "c"}, req("/", "192.0.2.1:99"), "c"},
	} {
		f, err := New(Config{Limit: spec(t, "1/s,burst=1"), Key: tt.key})
		if err != nil {
			t.Fatal(err)
		}
		c, status := f.who(tt.r, 0, 0)
		if got := c.name(); got != tt.want || status != 0 {
			t.Errorf("%+v: key %q, want %q", tt.key, got, tt.want)
		}
	}
	k := Key{}
	k.check()
	a := k.of(req("/", "", "X-API-Key", long+"1"))
	b := k.of(req("/", "", "X-API-Key", long+"2"))
	if a == b || len(a) > maxKey {
		t.Errorf("long keys became %q and %q", a, b)
	}
}

func TestCosts(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=10"), Cost: Cost{Header: "X-Cost", Query: "cost", Max: 100}})
	for i, tt := range []struct {
		header, query string
		status        int
	}{
		{"4", "", 200},
		{"", "5", 200},
		{"2", "", 429}, // one left
		{"", "", 200},
		{"11", "", 429}, // never
		{"0", "", 400},  // would not be counted
		{"-1", "", 400},
		{"101", "", 400},
		{"99999999999999999999", "", 400},
		{"two", "", 400},
	} {
		req, _ := http.NewRequest("GET", f.URLs()[0]+"/?cost="+tt.query, nil)
		if tt.header != "" {
			req.Header.Set("X-Cost", tt.header)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != tt.status {
			t.Errorf("step %d, cost %q%q: status %d, want %d", i, tt.header, tt.query, res.StatusCode, tt.status)
		}
		if i == 4 && res.Header.Get("Retry-After") != "" {
			t.Error("a cost that can never pass was told to come back")
		}
	}
	sn := f.Counts(10)
	balanced(t, sn)
	want := Counts{Offered: 5, Admitted: 3, Refused: 2, AdmittedUnits: 10, Invalid: 5}
	if sn.Totals != want {
		t.Errorf("books %+v, want %+v", sn.Totals, want)
	}
}

// offered waits until the books hold n requests.
func offered(t testing.TB, f *Fleet, n int64) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); f.Counts(0).Totals.Offered < n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited for %d requests: %+v", n, f.Counts(0).Totals)
		}
	}
}

// Of three at once one passes, one waits its turn and one is refused. On a
// slow machine the three may come one by one; then they are sent again.
func TestLeakyQueueDelays(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "leaky-queue:rate=4/s,queue=1")})
	var got answers
	for i := range 20 {
		start := time.Now()
		got = storm(t, f, fmt.Sprint("k-", i), 3, 1)
		took := time.Since(start)
		if got.status[200]+got.status[429] != 3 || got.status[200] < 2 || took < 200*time.Millisecond {
			t.Fatalf("got %v in %v, want the second after almost 250ms", got, took)
		}
		if got.status[429] == 1 {
			return
		}
	}
	t.Errorf("got %v every time, want one refused", got)
}

func TestConcurrencyHoldsUntilTheAnswer(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "concurrency:limit=2"), Latency: 10 * time.Minute, RefusalLatency: -1})
	send := func(ctx context.Context) error {
		req, _ := http.NewRequestWithContext(ctx, "POST", f.URLs()[0], strings.NewReader("x"))
		req.Header.Set("X-API-Key", "k")
		res, err := http.DefaultClient.Do(req)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	ctx, hangUp := context.WithCancel(context.Background())
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() {
			if send(ctx) == nil {
				t.Error("an answer came ten minutes early")
			}
		})
	}
	offered(t, f, 2)
	if got := storm(t, f, "k", 3, 1); got.status[429] != 3 {
		t.Errorf("three beside the two: %v, want all refused", got)
	}
	// Callers that hang up give their slots back.
	hangUp()
	held.Wait()
	for deadline := time.Now().Add(20 * time.Second); f.Counts(0).Totals.Admitted < 4; {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		_ = send(ctx)
		cancel()
		if time.Now().After(deadline) {
			t.Fatalf("slots of callers that hung up are still held: %+v", f.Counts(0).Totals)
		}
	}
	balanced(t, f.Counts(1))
}

func TestConcurrencyEndsWithTheAnswer(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "concurrency:limit=1"), Latency: time.Millisecond})
	if got := storm(t, f, "k", 1, 20); got.status[200] != 20 {
		t.Errorf("one after another: %v, want all admitted", got)
	}
}

func TestHangUpsAreCountedOnce(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=3"), Latency: 120 * time.Millisecond})
	for i := range 5 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.URLs()[0], "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\n\r\n")
		offered(t, f, int64(i+1))
		conn.Close()
	}
	if err := f.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := f.Counts(0).Totals; got.Offered != 5 || got.Admitted != 3 || got.Refused != 2 {
		t.Errorf("books %+v", got)
	}
}

func TestControl(t *testing.T) {
	f := started(t, Config{Gateways: 2, Limit: spec(t, "1/h,burst=1"), Reset: true})
	storm(t, f, "a", 1, 3)
	storm(t, f, "b", 1, 2)
	do := func(method, path string) (int, []byte) {
		req, _ := http.NewRequest(method, f.URLs()[1]+path, nil)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		return res.StatusCode, text
	}
	var sn Snapshot
	status, text := do("GET", "/-/counts?top=1")
	if err := json.Unmarshal(text, &sn); err != nil || status != 200 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	balanced(t, sn)
	if sn.Schema != CountsSchema || sn.Gateways != 2 || sn.Keys != 2 || len(sn.PerKey) != 1 || sn.PerKey[0].Key != "a" ||
		sn.Totals.Offered != 5 || sn.Other.Offered != 2 || sn.PerGateway[0].Offered != 5 || sn.PerGateway[0].URL != f.URLs()[0] {
		t.Errorf("counts %s", text)
	}
	for _, tt := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/-/counts?top=x", 400},
		{"GET", "/-/counts?top=-1", 400},
		{"POST", "/-/counts", 405},
		{"GET", "/-/healthz", 200},
		{"GET", "/-/reset", 405},
		{"GET", "/-/", 404},
		{"POST", "/-/reset", 204},
	} {
		if status, text := do(tt.method, tt.path); status != tt.status {
			t.Errorf("%s %s: %d %s, want %d", tt.method, tt.path, status, text, tt.status)
		}
	}
	if got := f.Counts(1); got.Totals != (Counts{}) || got.Keys != 0 {
		t.Errorf("after the reset: %+v", got)
	}
	if got := storm(t, f, "a", 1, 1); got.status[200] != 1 {
		t.Errorf("the reset left the limiter's state: %v", got)
	}

	f = started(t, Config{Gateways: 2, Limit: spec(t, "1/h,burst=1")})
	if status, _ := do("POST", "/-/reset"); status != 403 {
		t.Errorf("a reset that was not enabled: %d, want 403", status)
	}
}

func TestControlIsForThisMachine(t *testing.T) {
	f, err := New(Config{Limit: spec(t, "1/s,burst=1")})
	if err != nil {
		t.Fatal(err)
	}
	for remote, want := range map[string]int{"127.0.0.1:5": 200, "[::1]:5": 200, "@": 200, "192.0.2.1:5": 403} {
		w := newMemory()
		f.Handler(0).ServeHTTP(w, &http.Request{Method: "GET", URL: &url.URL{Path: "/-/counts"}, RemoteAddr: remote, Header: http.Header{}})
		if w.status != want {
			t.Errorf("from %s: %d, want %d", remote, w.status, want)
		}
	}
}

// memory is a ResponseWriter in memory.
type memory struct {
	header http.Header
	status int
	body   strings.Builder
}

func newMemory() *memory                      { return &memory{header: http.Header{}, status: 200} }
func (r *memory) Header() http.Header         { return r.header }
func (r *memory) WriteHeader(s int)           { r.status = s }
func (r *memory) Write(p []byte) (int, error) { return r.body.Write(p) }

func TestKeyTableIsBounded(t *testing.T) {
	ta := newTally(1, tallyShards, noNumber) // one key per shard
	for i := range 10_000 {
		ta.decided(0, fmt.Sprintf("k-%d", i), i%2 == 0, FromMemory, 2, false)
	}
	sn := ta.snapshot(1000)
	balanced(t, sn)
	if sn.Keys != tallyShards || sn.Totals.Offered != 10_000 || sn.Totals.AdmittedUnits != 10_000 || sn.Other.Offered != 10_000-tallyShards {
		t.Errorf("%d keys, totals %+v, other %+v", sn.Keys, sn.Totals, sn.Other)
	}
}

func TestTopKeysAreTheBusiest(t *testing.T) {
	ta := newTally(1, 1_000_000, noNumber)
	for i := range 5000 {
		n := 1
		if i%500 == 7 {
			n = i
		}
		for range n {
			ta.decided(0, fmt.Sprintf("k-%d", i), true, FromMemory, 1, false)
		}
	}
	sn := ta.snapshot(3)
	balanced(t, sn)
	for i, want := range []string{"k-4507", "k-4007", "k-3507"} {
		if sn.PerKey[i].Key != want {
			t.Errorf("place %d: %+v, want %s", i, sn.PerKey[i], want)
		}
	}
}

func TestHashedKeys(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=1"), HashKeys: true})
	storm(t, f, "secret-token", 1, 1)
	text, _ := json.Marshal(f.Counts(10))
	if strings.Contains(string(text), "secret-token") || !strings.Contains(string(text), "key#") {
		t.Errorf("counts show the key: %s", text)
	}
}

func noNumber(string) uint32 { return 0 }

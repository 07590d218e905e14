package gateway

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
)

// reply is one answer.
type reply struct {
	status int
	header http.Header
	body   string
}

func fetch(t testing.TB, url string, kv ...string) reply {
	t.Helper()
	req, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(kv); i += 2 {
		req.Header.Add(kv[i], kv[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(b)}
}

func TestKeyTableOnTheWire(t *testing.T) {
	f := started(t, Config{Limit: spec(t, "1/h,burst=2"), KeysFile: keysIn(t, "alpha gold acme\nalpha2 gold acme\n"),
		Unknown: spec(t, "1/h,burst=3"), Reset: true})
	u := f.URLs()[0]
	for i, step := range []struct {
		key    string
		status int
	}{
		{"alpha", 200}, {"nope", 401}, {"alpha2", 200}, {"", 401}, {"alpha", 429}, {"nope3", 401}, {"nope4", 429}, {"alpha2", 429},
	} {
		var kv []string
		if step.key != "" {
			kv = []string{"X-API-Key", step.key}
		}
		got := fetch(t, u, kv...)
		if got.status != step.status {
			t.Fatalf("step %d, key %q: %d, want %d", i, step.key, got.status, step.status)
		}
		if step.status == 401 && (got.header.Get("WWW-Authenticate") == "" || !json.Valid([]byte(got.body))) {
			t.Errorf("a 401 says %v %s", got.header, got.body)
		}
		_, numbers := got.header["Ratelimit"]
		if guess := strings.HasPrefix(step.key, "nope") || step.key == ""; numbers == guess {
			t.Errorf("step %d: numbers told: %t", i, numbers)
		}
	}
	sn := f.Counts(10)
	defer func() {
		f.Reset()
		if got := fetch(t, u, "X-API-Key", "nope5"); got.status != 401 {
			t.Errorf("after a reset a guess is answered %d", got.status)
		}
	}()
	balanced(t, sn)
	if want := (Counts{Offered: 4, Admitted: 2, Refused: 2, AdmittedUnits: 2, Unknown: 4}); sn.Totals != want {
		t.Errorf("books %+v, want %+v", sn.Totals, want)
	}
	if sn.Keys != 1 || sn.PerKey[0].Key != "acme" {
		t.Errorf("rows %+v: two keys of one name and no made-up one", sn.PerKey)
	}
}

// Behind a listed proxy callers are told apart by what it says; anybody else's
// word changes nothing. The upstream is told the whole way.
func TestTrustedProxyOnTheWire(t *testing.T) {
	var mu sync.Mutex
	var heard []string
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		heard = append(heard, r.Header.Get("X-Forwarded-For")+" "+r.Header.Get("X-Forwarded-Proto"))
		mu.Unlock()
	}))
	defer up.Close()
	target, _ := url.Parse(up.URL)
	for _, trusted := range []bool{false, true} {
		c := Config{Limit: spec(t, "1/h,burst=1"), Key: Key{By: ByAddress}, Upstream: target}
		if trusted {
			c.Proxies.Trusted = []Proxy{{prefix: netip.MustParsePrefix("127.0.0.0/8")}}
		}
		f := started(t, c)
		mu.Lock()
		heard = nil
		mu.Unlock()
		var statuses []int
		for _, from := range []string{"9.9.9.9, 192.0.2.1", "8.8.8.8, 192.0.2.1", "192.0.2.2"} {
			statuses = append(statuses, fetch(t, f.URLs()[0], "X-Forwarded-For", from, "X-Forwarded-Proto", "https").status)
		}
		want, wantHeard := []int{200, 429, 429}, []string{"127.0.0.1 http"}
		if trusted {
			want, wantHeard = []int{200, 429, 200}, []string{"9.9.9.9, 192.0.2.1, 127.0.0.1 https", "192.0.2.2, 127.0.0.1 https"}
		}
		mu.Lock()
		if !slices.Equal(statuses, want) || !slices.Equal(heard, wantHeard) {
			t.Errorf("trusted %t: %v, upstream heard %q; want %v, %q", trusted, statuses, heard, want, wantHeard)
		}
		mu.Unlock()
	}
}

// Rules tell what they are, and one for security tells nothing.
func TestRulesOnTheWire(t *testing.T) {
	set, err := rules.Parse([]byte(`
version: 1
rules:
  - name: orders
    per: key
    limits: [{default: true, limit: "600/m,burst=3"}]
  - name: login
    per: address
    route: POST /login
    security: true
    on_failure: closed
    limits: [{default: true, limit: "1/h,burst=1"}]
`), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := started(t, Config{Rules: set})
	post := func() reply {
		res, err := http.Post(f.URLs()[0]+"/login", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, _ := io.ReadAll(res.Body)
		return reply{res.StatusCode, res.Header, string(b)}
	}
	const policy = `"orders";q=600;w=60, "orders-burst";q=3`
	if got := post(); got.status != 200 || got.header.Get("RateLimit-Policy") != policy {
		t.Errorf("let pass: %d %v", got.status, got.header)
	}
	got := post()
	if got.status != 429 || strings.Contains(got.body+fmt.Sprint(got.header), "login") {
		t.Errorf("refused by the security rule: %d %v %s", got.status, got.header, got.body)
	}
	for name := range got.header {
		if strings.Contains(name, "Ratelimit") || name == "Retry-After" {
			t.Errorf("the security rule says %s", name)
		}
	}
	for {
		got := fetch(t, f.URLs()[0]+"/x")
		if got.status == 200 {
			continue
		}
		if got.status != 429 || !strings.Contains(got.body, `"violated-policies":["orders"]`) || got.header.Get("Retry-After") != "1" {
			t.Errorf("refused by orders: %d %v %s", got.status, got.header, got.body)
		}
		break
	}
}

// What is shed is told apart from what is refused: by its status, its problem,
// its silence about limits, and the books.
func TestShedOnTheWire(t *testing.T) {
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-leave
		w.Header().Set("Retry-After", "7") // the upstream's own word passes
	}))
	defer up.Close()
	target, _ := url.Parse(up.URL)
	f := started(t, Config{Limit: spec(t, "1/h,burst=4"), Upstream: target, Shed: Shed{InFlight: 2}})
	var held sync.WaitGroup
	for range 2 {
		held.Go(func() {
			if got := fetch(t, f.URLs()[0], "X-API-Key", "k"); got.status != 200 || got.header.Get("Retry-After") != "7" || got.header.Get("RateLimit") == "" {
				t.Errorf("let through: %d %v", got.status, got.header)
			}
		})
		<-entered
	}
	for range 2 {
		got := fetch(t, f.URLs()[0], "X-API-Key", "k")
		if got.status != 503 || got.header.Get("Retry-After") == "" || got.header.Get("RateLimit") != "" || !strings.Contains(got.body, "#overload") {
			t.Errorf("shed: %d %v %s", got.status, got.header, got.body)
		}
	}
	// The limit comes first: over it is 429, overloaded or not.
	if got := fetch(t, f.URLs()[0], "X-API-Key", "k"); got.status != 429 {
		t.Errorf("over the limit: %d", got.status)
	}
	close(leave)
	held.Wait()
	if got := fetch(t, f.URLs()[0], "X-API-Key", "other"); got.status != 200 {
		t.Errorf("after the others left: %d", got.status)
	}
	sn := f.Counts(5)
	balanced(t, sn)
	if want := (Counts{Offered: 6, Admitted: 5, Refused: 1, AdmittedUnits: 5, Shed: 2}); sn.Totals != want {
		t.Errorf("books %+v, want %+v", sn.Totals, want)
	}
	if n := f.gateways[0].gate.shed.InFlight(); n != 0 {
		t.Errorf("%d still in flight", n)
	}
}

// A place in flight is given back whatever ends a request: a caller who hangs
// up, an upstream that is not there, one that breaks off.
func TestShedPlacesComeBack(t *testing.T) {
	entered := make(chan struct{}, 10)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/hold":
			entered <- struct{}{}
			<-r.Context().Done()
		case "/break":
			panic(http.ErrAbortHandler)
		}
	}))
	target, _ := url.Parse(up.URL)
	f := started(t, Config{Limit: spec(t, "1/h,burst=100"), Upstream: target, Shed: Shed{InFlight: 1}})
	g := f.gateways[0].gate
	free := func(why string) {
		t.Helper()
		await(t, why, func() bool {
			g.mu.Lock()
			defer g.mu.Unlock()
			return g.shed.InFlight() == 0
		})
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.URLs()[0], "http://"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(conn, "GET /hold HTTP/1.1\r\nHost: x\r\n\r\n")
	<-entered
	conn.Close()
	free("a caller who hung up")
	if res, err := http.Get(f.URLs()[0] + "/break"); err == nil {
		res.Body.Close()
	}
	free("an upstream that broke off")
	up.Close()
	if got := fetch(t, f.URLs()[0]+"/gone"); got.status != 502 {
		t.Errorf("no upstream: %d", got.status)
	}
	free("an upstream that is gone")
}

// await waits until is holds.
func await(t testing.TB, why string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not in 20 s", why)
		}
	}
}

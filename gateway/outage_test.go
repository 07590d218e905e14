package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redisconn"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// span is how long a test lets something last: full with WEIR_TEST_FULL=1.
func span(short, full time.Duration) time.Duration {
	if os.Getenv("WEIR_TEST_FULL") == "1" {
		return full
	}
	return short
}

// serving is a running fleet on a Redis, connected to as weir serve does.
func serving(t testing.TB, o redisconn.Options, c Config) *Fleet {
	t.Helper()
	client, err := redisconn.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	c.Redis = client
	if !c.Design.shared() {
		c.Design = Central
	}
	return started(t, c)
}

// attempt is one request as its caller saw it.
type attempt struct {
	gateway    int
	key        string
	sent, done time.Time
	status     int    // 0 when there was no answer
	wait       string // Retry-After
	problem    string // type of the problem document
	by         string // who decided, where that is known
}

// crowd are the callers of a fleet, over HTTP. They send nothing twice. ask and
// send may be called at the same time.
type crowd struct {
	t      testing.TB
	f      *Fleet
	client *http.Client
	urls   []string

	mu   sync.Mutex
	seen []attempt

	stop    chan struct{}
	room    chan struct{} // bounds the requests on their way
	sending sync.WaitGroup
}

func newCrowd(t testing.TB, f *Fleet) *crowd {
	c := &crowd{t: t, f: f, urls: f.URLs(), stop: make(chan struct{}), room: make(chan struct{}, 256),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
	t.Cleanup(func() { c.end() })
	return c
}

// ask sends one request of a key to a gateway and takes note of it.
func (c *crowd) ask(gateway int, key string) attempt { return c.note(c.do(gateway, key)) }

// askedBy is ask that also tells who decided, for tests that ask one at a time.
func (c *crowd) askedBy(gateway int, key string) attempt {
	c.t.Helper()
	before := c.f.Counts(0).BySource
	a := c.do(gateway, key)
	for s, n := range c.f.Counts(0).BySource {
		if n != before[s] {
			a.by = s
		}
	}
	return c.note(a)
}

func (c *crowd) note(a attempt) attempt {
	c.mu.Lock()
	c.seen = append(c.seen, a)
	c.mu.Unlock()
	return a
}

func (c *crowd) do(gateway int, key string) attempt {
	a := attempt{gateway: gateway, key: key, sent: time.Now()}
	req, err := http.NewRequest("POST", c.urls[gateway], nil) // a POST is not sent again
	if err != nil {
		panic(err)
	}
	req.Header.Set("X-API-Key", key)
	if res, err := c.client.Do(req); err == nil {
		text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<16))
		res.Body.Close()
		a.status, a.wait = res.StatusCode, res.Header.Get("Retry-After")
		var p struct{ Type string }
		if res.StatusCode != http.StatusOK && json.Unmarshal(text, &p) == nil {
			a.problem = p.Type
		}
	}
	a.done = time.Now()
	return a
}

// send has a key ask so many times a second, gateway after gateway from first
// on, until end, whatever becomes of each.
func (c *crowd) send(key string, perSecond, first int) {
	start := time.Now()
	c.sending.Go(func() {
		for n := 0; ; n++ {
			due := time.NewTimer(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(perSecond))))
			select {
			case <-c.stop:
				due.Stop()
				return
			case <-due.C:
			}
			c.room <- struct{}{}
			c.sending.Go(func() {
				c.ask((first+n)%len(c.urls), key)
				<-c.room
			})
		}
	})
}

// atOnce asks each gateway so many times, all at the same time.
func (c *crowd) atOnce(key string, each int) {
	var all sync.WaitGroup
	for n := range each * len(c.urls) {
		all.Go(func() { c.ask(n%len(c.urls), key) })
	}
	all.Wait()
}

// end stops the sending and returns when all is answered.
func (c *crowd) end() {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.sending.Wait()
	c.client.CloseIdleConnections()
}

// between has what was both sent and answered in that time, of the keys that
// begin so.
func (c *crowd) between(prefix string, from, to time.Time) (sent, admitted int) {
	c.each(prefix, from, to, func(a attempt) {
		sent++
		if a.status == http.StatusOK {
			admitted++
		}
	})
	return sent, admitted
}

func (c *crowd) each(prefix string, from, to time.Time, f func(a attempt)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.seen {
		if strings.HasPrefix(a.key, prefix) && !a.sent.Before(from) && !a.done.After(to) {
			f(a)
		}
	}
}

// balanced checks that callers and fleet have the same books, once all is
// answered.
func (c *crowd) balanced() {
	c.t.Helper()
	c.end()
	sn := c.f.Counts(1000)
	balanced(c.t, sn)
	saw := map[string]Counts{}
	for _, a := range c.seen {
		n := saw[a.key]
		n.Offered++
		switch a.status {
		case http.StatusOK:
			n.Admitted++
			n.AdmittedUnits++
		case http.StatusTooManyRequests:
			n.Refused++
		default:
			c.t.Errorf("a caller got status %d", a.status)
		}
		saw[a.key] = n
	}
	for _, k := range sn.PerKey {
		if saw[k.Key] != k.Counts {
			c.t.Errorf("%s: callers saw %+v, the fleet %+v", k.Key, saw[k.Key], k.Counts)
		}
	}
}

// by is how many decisions a source has made so far.
func by(f *Fleet, s Source) int64 {
	n := f.Counts(0).BySource[s.String()]
	return n.Admitted + n.Refused
}

// openBreakers is how many gateways do not ask some shard of the store.
func openBreakers(f *Fleet) int { return f.Counts(0).Store.OpenBreakers }

// served waits until every gateway has key decided by the store again.
func (c *crowd) served(key string) {
	c.t.Helper()
	for g := range c.urls {
		until(c.t, fmt.Sprintf("gateway %d asks the store about %s", g+1, key), func() bool {
			return c.askedBy(g, key).by == FromStore.String()
		})
	}
}

// stat is a number of the server's INFO, 0 when it is not there.
func stat(t testing.TB, r *redistest.Redis, section, field string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(field) + `[:=](?:calls=)?(\d+)`).FindStringSubmatch(r.CLI("INFO", section))
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tidyServer checks that every key has a life, and that the fleet keeps no more
// connections than its pool has.
func tidyServer(t testing.TB, r *redistest.Redis, pool int) {
	t.Helper()
	m := regexp.MustCompile(`db0:keys=(\d+),expires=(\d+)`).FindStringSubmatch(r.CLI("INFO", "keyspace"))
	if m != nil && m[1] != m[2] { // nil is no keys
		t.Errorf("keys and those with a life: %v", m)
	}
	if n := stat(t, r, "clients", "connected_clients"); n > pool+1 { // and who asks
		t.Errorf("%d connections, of a pool of %d", n, pool)
	}
}

// bound is what one bucket lets through in a time, at most.
func bound(burst, rate int, t time.Duration) int { return burst + int(float64(rate)*t.Seconds()) + 1 }

// shareBound is what the gateways' own shares let through, at most: each has
// its part of the burst, at least one token, and together they have the rate.
func shareBound(gateways, burst, rate int, t time.Duration) int {
	return bound(gateways*max(1, burst/gateways), rate, t)
}

const problemCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"

// poolSize is how many connections a client of go-redis keeps to one server:
// ten for each CPU, and ten more for pipelines.
var poolSize = 10*runtime.GOMAXPROCS(0) + 10

// quick is a breaker for tests that wait for it to close.
var quick = limit.BreakerRule{Failures: 5, Every: 200 * time.Millisecond}

// table is what a test prints: one row under the other.
type table struct {
	mu   sync.Mutex
	rows bytes.Buffer
}

func (b *table) row(cells ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range cells {
		fmt.Fprintf(&b.rows, "| %v ", c)
	}
	b.rows.WriteString("|\n")
}

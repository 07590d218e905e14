package httpdo

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// serveConns serves each connection on a loopback port with handle.
func serveConns(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// serveRaw is serveConns for handlers that read through a buffer.
func serveRaw(t *testing.T, handle func(net.Conn, *bufio.Reader)) string {
	t.Helper()
	return serveConns(t, func(c net.Conn) { handle(c, bufio.NewReader(c)) })
}

// answering sends the same bytes after each request, in pieces when there
// are several.
func answering(pieces ...string) func(net.Conn, *bufio.Reader) {
	return func(c net.Conn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, req.Body)
			for i, p := range pieces {
				if i > 0 {
					time.Sleep(5 * time.Millisecond)
				}
				if _, err := io.WriteString(c, p); err != nil {
					return
				}
			}
		}
	}
}

// testRun is a run against one or more URLs with either sender.
type testRun struct {
	urls    []string
	profile *profiles.Profile
	change  func(*Config)
	limits  load.Limits
	tap     func(*report.Event)
	max     int64
	promise *report.Promise
	wrap    func(Sender) load.Sender
	loops   int // 0 is one
}

func (r testRun) do(t *testing.T, portable bool) (*report.Result, int64) {
	t.Helper()
	plan, err := load.Compile(r.profile, load.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	texts := new(report.Texts)
	cfg := Config{Method: "GET", AppendKey: plan.AppendKey, KeyHeader: "X-API-Key", Connections: 64, Timeout: 30 * time.Second,
		Clock: load.StartClock(start), Wall: start, Texts: texts, Portable: portable}
	for _, u := range r.urls {
		parsed, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Targets = append(cfg.Targets, parsed)
	}
	cfg.Refused.Status, _ = ParseStatusSet("429")
	if r.change != nil {
		r.change(&cfg)
	}
	senders, err := New(context.Background(), cfg, max(r.loops, 1))
	if err != nil {
		t.Fatal(err)
	}
	c := report.NewCollector(report.Setup{Start: start, Tap: r.tap, Promise: r.promise, Names: report.Names{Text: texts.Text}})
	engine := load.Config{Plan: plan, Seed: 1, Clock: cfg.Clock, Targets: len(cfg.Targets), Limits: r.limits, MaxAttempts: r.max, DropAfter: time.Second, Grace: cfg.Timeout + time.Second}
	for _, s := range senders {
		defer s.Close()
		sender := load.Sender(s)
		if r.wrap != nil {
			sender = r.wrap(s)
		}
		engine.Senders, engine.Shards = append(engine.Senders, sender), append(engine.Shards, c.Shard())
	}
	e, err := load.New(engine)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(); err != nil {
		t.Fatal(err)
	}
	res := c.Finish(report.Meta{Source: "load"})
	if tot := res.Totals; tot.Planned != tot.Offered+tot.Dropped || tot.Offered != tot.Admitted+tot.Refused+tot.Failed+tot.InFlight {
		t.Fatalf("the sums do not balance: %+v", tot)
	}
	opened := int64(0)
	for _, s := range senders {
		opened += s.Opened()
	}
	return res, opened
}

// both runs a test with each sender.
func both(t *testing.T, f func(t *testing.T, portable bool)) {
	for _, portable := range []bool{false, true} {
		t.Run(map[bool]string{false: "native", true: "portable"}[portable], func(t *testing.T) { f(t, portable) })
	}
}

// longest is a duration for runs that their number of attempts, or their
// clients, end much sooner: a slow machine must not cut them short.
const longest = time.Minute

func clients(n int, behaviour string) *profiles.Profile {
	return &profiles.Profile{Name: "t", Duration: longest, Populations: []profiles.Population{{Name: "p", Clients: n,
		Keys: profiles.Keys{Kind: profiles.KeyEach, Prefix: "k-"}, Behaviour: behaviour, Arrivals: profiles.Arrivals{Kind: profiles.Closed}}}}
}

func arrivals(kind profiles.ArrivalKind, rate float64, d time.Duration) *profiles.Profile {
	p := clients(16, "give-up")
	p.Duration = d
	p.Populations[0].Arrivals = profiles.Arrivals{Kind: kind, Rate: rate}
	return p
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestAnswersOfEveryShape(t *testing.T) {
	big := strings.Repeat("x", 200_000)
	for _, c := range []struct {
		name   string
		pieces []string
		want   report.Verdict
		class  report.Class
		conns  int64 // most connections for ten attempts of one client
	}{
		{name: "plain", pieces: []string{ok}, want: report.Admitted, conns: 1},
		{name: "in pieces", pieces: []string{"HT", "TP/1.1 200 OK\r\nContent-", "Length: 4\r", "\n\r\no", "kok"}, want: report.Admitted, conns: 1},
		{name: "long body", pieces: []string{"HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n", big}, want: report.Admitted, conns: 1},
		{name: "chunked", pieces: []string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", "0\r\n\r\n"}, want: report.Admitted, conns: 1},
		{name: "interim answers", pieces: []string{"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", ok}, want: report.Admitted, conns: 1},
		{name: "refused", pieces: []string{"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n"}, want: report.Refused, conns: 1},
		{name: "server error", pieces: []string{"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n"}, want: report.Failed, class: report.BadStatus, conns: 1},
		{name: "redirect is not followed", pieces: []string{"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/\r\nContent-Length: 0\r\n\r\n"}, want: report.Admitted, conns: 1},
		{name: "not HTTP", pieces: []string{"220 mail.example ESMTP\r\n\r\n"}, want: report.Failed, class: report.Malformed, conns: 10},
		{name: "two lengths", pieces: []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"}, want: report.Failed, class: report.Malformed, conns: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, portable bool) {
				url := serveRaw(t, answering(c.pieces...))
				var classes sync.Map
				r, conns := testRun{urls: []string{url}, profile: clients(1, "give-up"), max: 10,
					tap: func(e *report.Event) { classes.Store(e.Class, true) }}.do(t, portable)
				got := map[report.Verdict]int64{report.Admitted: r.Totals.Admitted, report.Refused: r.Totals.Refused, report.Failed: r.Totals.Failed}
				if got[c.want] != 10 {
					t.Errorf("%+v with errors %v", r.Totals, r.Errors)
				}
				if _, seen := classes.Load(c.class); !seen {
					t.Errorf("errors %v, want class %v", r.Errors, c.class)
				}
				if conns > c.conns {
					t.Errorf("opened %d connections, want at most %d", conns, c.conns)
				}
			})
		})
	}
}

func TestBrokenServers(t *testing.T) {
	// Nobody can come to listen on a port that a connection goes out from.
	out, err := net.Dial("tcp", strings.TrimPrefix(serveRaw(t, answering(ok)), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	const patience = 300 * time.Millisecond
	for _, c := range []struct {
		name   string
		url    string
		handle func(net.Conn, *bufio.Reader)
		want   []report.Class
	}{
		{name: "nobody listens", url: "http://" + out.LocalAddr().String(), want: []report.Class{report.ConnectRefused}},
		{name: "closed before an answer", handle: func(c net.Conn, r *bufio.Reader) { _, _ = http.ReadRequest(r) }, want: []report.Class{report.ClosedEarly, report.ConnReset}},
		{name: "closed within the body", handle: func(c net.Conn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf")
		}, want: []report.Class{report.ClosedEarly}},
		{name: "reset", handle: func(c net.Conn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			_ = c.(*net.TCPConn).SetLinger(0)
		}, want: []report.Class{report.ConnReset}},
		{name: "no answer", handle: func(c net.Conn, r *bufio.Reader) { _, _ = io.Copy(io.Discard, r) }, want: []report.Class{report.Timeout}},
		{name: "an answer that drips for ever", handle: func(c net.Conn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			_, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
			for err == nil {
				time.Sleep(20 * time.Millisecond)
				_, err = io.WriteString(c, "x")
			}
		}, want: []report.Class{report.Timeout}},
		{name: "a header block without end", handle: func(c net.Conn, r *bufio.Reader) {
			_, _ = http.ReadRequest(r)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n")
			for range 3000 {
				if _, err := io.WriteString(c, "X-Filler: "+strings.Repeat("y", 90)+"\r\n"); err != nil {
					return
				}
			}
			_, _ = io.Copy(io.Discard, r)
		}, want: []report.Class{report.TooLarge}},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, portable bool) {
				url := c.url
				if url == "" {
					url = serveRaw(t, c.handle)
				}
				var mu sync.Mutex
				var wrong []string
				r, _ := testRun{urls: []string{url}, profile: clients(3, "give-up"), max: 3,
					change: func(cfg *Config) {
						// Only who is to lose patience is short of it.
						if cfg.Timeout = longest; slices.Contains(c.want, report.Timeout) {
							cfg.Timeout = patience
						}
					},
					tap: func(e *report.Event) {
						if mu.Lock(); !slices.Contains(c.want, e.Class) {
							wrong = append(wrong, e.Class.String())
						}
						mu.Unlock()
					}}.do(t, portable)
				if r.Totals.Failed != 3 || len(wrong) > 0 {
					t.Errorf("%+v with errors %v", r.Totals, r.Errors)
				}
			})
		})
	}
}

// A body without end is read up to the cap; its status still counts.
func TestEndlessBodyIsCutAtTheCap(t *testing.T) {
	url := serveRaw(t, func(c net.Conn, r *bufio.Reader) {
		_, _ = http.ReadRequest(r)
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		for {
			if _, err := c.Write(make([]byte, 32<<10)); err != nil {
				return
			}
		}
	})
	both(t, func(t *testing.T, portable bool) {
		var most atomic.Uint32
		r, _ := testRun{urls: []string{url}, profile: clients(1, "give-up"), max: 5,
			change: func(c *Config) { c.MaxBody = 256 << 10 },
			tap:    func(e *report.Event) { most.Store(max(most.Load(), e.Bytes)) }}.do(t, portable)
		if r.Totals.Admitted != 5 || most.Load() > 400<<10 {
			t.Errorf("%+v, longest body %d", r.Totals, most.Load())
		}
	})
}

// Refusals must not cost connections: a run with 70% of them opens no more
// than one with none.
func TestConnectionsSurviveRefusals(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		opened := map[bool]int64{}
		for _, refuse := range []bool{false, true} {
			var n atomic.Int64
			url := serveRaw(t, func(c net.Conn, r *bufio.Reader) {
				for {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					answer := ok
					if refuse && n.Add(1)%10 < 7 {
						answer = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 1\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nrefused"
					}
					if _, err := io.WriteString(c, answer); err != nil {
						return
					}
				}
			})
			_, opened[refuse] = testRun{urls: []string{url}, profile: clients(20, "storm"), max: 3000}.do(t, portable)
		}
		if portable {
			// net/http dials for whoever waits, so its count wavers; a connection
			// for each refusal would be 2100.
			opened[false] = max(opened[false], 20) + 30
			opened[true] -= 30
		}
		if opened[true] > opened[false] || opened[true] > 20 {
			t.Errorf("%d connections with refusals, %d without, for 20 clients", opened[true], opened[false])
		}
	})
}

func TestConnectionModes(t *testing.T) {
	url := serveRaw(t, answering(ok))
	both(t, func(t *testing.T, portable bool) {
		for mode, want := range map[Mode]int64{KeepAlive: 4, PerClient: 4, NewConn: 40} {
			r, opened := testRun{urls: []string{url}, profile: clients(4, "give-up"), max: 40,
				change: func(c *Config) { c.Mode = mode }}.do(t, portable)
			if portable && mode == KeepAlive {
				want *= 5 // net/http dials for whoever waits
			}
			if r.Totals.Admitted != 40 || opened > want || mode == NewConn && opened != want {
				t.Errorf("mode %d: %d connections, want %d; %+v", mode, opened, want, r.Totals)
			}
		}
	})
}

// What arrives is what was asked for: method, path, query, headers and body
// with their variables, for both senders alike.
func TestRequestsCarryWhatWasAsked(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	url := serveRaw(t, func(c net.Conn, r *bufio.Reader) {
		for {
			req, err := http.ReadRequest(r)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(req.Body)
			mu.Lock()
			seen = append(seen, fmt.Sprintf("%s %s host=%s key=%s a=%s ua=%s body=%s", req.Method, req.RequestURI, req.Host,
				req.Header.Get("X-API-Key"), req.Header.Get("A"), req.Header.Get("User-Agent"), body))
			mu.Unlock()
			_, _ = io.WriteString(c, ok)
		}
	})
	both(t, func(t *testing.T, portable bool) {
		mu.Lock()
		seen = nil
		mu.Unlock()
		testRun{urls: []string{url + "/v1/{key}?q=1"}, profile: clients(1, "give-up"), max: 2, change: func(c *Config) {
			c.Method, c.Body = "POST", `{"n":{seq}}`
			c.Header = []Line{{"A", "c{client}"}, {"Host", "example.test"}}
			c.Query = []Line{{"client", "{client} &"}}
		}}.do(t, portable)
		want := []string{
			`POST /v1/k-1?q=1&client=0+%26 host=example.test key=k-1 a=c0 ua=weir body={"n":1}`,
			`POST /v1/k-1?q=1&client=0+%26 host=example.test key=k-1 a=c0 ua=weir body={"n":2}`,
		}
		mu.Lock()
		defer mu.Unlock()
		if !slices.Equal(seen, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"))
		}
	})
}

// A header that asks for more than the cap stops the client; it is neither
// obeyed nor cut short.
func TestWaitsAboveTheCapStopTheClient(t *testing.T) {
	for _, value := range []string{"2147484", "99999999999999999999999999999", "31536000"} {
		url := serveRaw(t, answering("HTTP/1.1 429 Too Many Requests\r\nRetry-After: "+value+"\r\nContent-Length: 0\r\n\r\n"))
		p := clients(1, "retry-after")
		p.Populations[0].Arrivals.Think = time.Hour
		r, _ := testRun{urls: []string{url}, profile: p, limits: load.Limits{MaxWait: time.Minute}}.do(t, false)
		if r.Totals.Offered != 1 || r.Totals.Abandoned != 1 {
			t.Errorf("Retry-After %s: %+v", value, r.Totals)
		}
	}
}

// A refusal with a proxy's stock page and no wait has no wait that could look
// wrong; one that gives milliseconds has.
func TestOnlyAWaitCanBeSuspect(t *testing.T) {
	page := "<html>\r\n<head><title>503 Service Temporarily Unavailable</title></head>\r\n<body>\r\n<center><h1>503 Service Temporarily Unavailable</h1></center>\r\n<hr><center>nginx/1.22.1</center>\r\n</body>\r\n</html>\r\n"
	for _, c := range []struct {
		head string
		odd  bool
	}{{"", false}, {"Retry-After: 3\r\n", false}, {"Retry-After: 1.5\r\n", true}} {
		url := serveRaw(t, answering(fmt.Sprintf("HTTP/1.1 503 Service Temporarily Unavailable\r\nServer: nginx/1.22.1\r\n%sContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", c.head, len(page), page)))
		r, _ := testRun{urls: []string{url}, profile: clients(1, "give-up"), max: 3, change: func(cfg *Config) { cfg.Refused.Status, _ = ParseStatusSet("503") }}.do(t, false)
		if r.Totals.Refused != 3 || r.RetryAfter.Suspect > 0 != c.odd {
			t.Errorf("%q: refused %d, %+v", c.head, r.Totals.Refused, r.RetryAfter)
		}
	}
}

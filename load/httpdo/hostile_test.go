package httpdo

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// flooding answers with start and then with filler as fast as it is taken.
func flooding(start, filler string) func(net.Conn, *bufio.Reader) {
	filler = strings.Repeat(filler, 1+(256<<10)/len(filler))
	return func(c net.Conn, r *bufio.Reader) {
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		for _, err := io.WriteString(c, start); err == nil; {
			_, err = io.WriteString(c, filler)
		}
	}
}

// A server that sends faster than it is read holds up neither timers nor the
// other arrivals, whatever part of an answer it pads.
func TestAFloodHoldsNobodyUp(t *testing.T) {
	const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, c := range []struct{ name, start, filler string }{
		{"chunk extension", chunked + "1;", "x"},
		{"chunk size", chunked, "0"},
		{"trailers", chunked + "0\r\n", "A: b\r\n"},
		{"interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n"},
		{"header block", "HTTP/1.1 200 OK\r\n", "A: b\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, portable bool) {
				url := serveRaw(t, flooding(c.start, c.filler))
				r, _ := testRun{urls: []string{url}, profile: arrivals(profiles.Constant, 20, 500*time.Millisecond),
					change: func(c *Config) { c.Timeout = 400 * time.Millisecond }}.do(t, portable)
				if r.Totals.Planned != 10 || r.Totals.Failed != 10 {
					t.Errorf("%+v with errors %v, want all 10 to fail", r.Totals, r.Errors)
				}
			})
		})
	}
}

// After 101 the connection speaks something else: the answer is complete, no
// more of it is waited for, and the connection is not used again.
func TestSwitchingProtocolsEndsTheAnswer(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		url := serveRaw(t, answering("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"))
		r, conns := testRun{urls: []string{url}, profile: clients(1, "give-up"), max: 3}.do(t, portable)
		if r.Totals.Failed != 3 || r.Errors["bad-status"] != 3 || conns != 3 {
			t.Errorf("%+v with errors %v over %d connections", r.Totals, r.Errors, conns)
		}
	})
}

// What would break out of its line, or contradict what weir writes itself, is
// refused before anything is sent, and the error does not repeat a value that
// may be a secret.
func TestFieldsThatCannotBeSent(t *testing.T) {
	const secret = "hunter2"
	for _, c := range []struct {
		name   string
		change func(*Config)
	}{
		{"value with a line end", func(c *Config) { c.Header = []Line{{"Authorization", secret + "\r\nX-Evil: 1"}} }},
		{"name with a line end", func(c *Config) { c.Header = []Line{{"X\r\nEvil", "1"}} }},
		{"name with a space", func(c *Config) { c.Header = []Line{{"X Evil", "1"}} }},
		{"key header with a colon", func(c *Config) { c.KeyHeader = "X:" }},
		{"a length of its own", func(c *Config) { c.Header = []Line{{"content-length", "5"}} }},
		{"an encoding of its own", func(c *Config) { c.Header = []Line{{"Transfer-Encoding", "chunked"}} }},
		{"method with a line end", func(c *Config) { c.Method = "GET / HTTP/1.1\r\nX-Evil: 1\r\n" }},
		{"method with a space", func(c *Config) { c.Method = "G T" }},
		{"no method", func(c *Config) { c.Method = "" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			target, _ := url.Parse("http://127.0.0.1:1/")
			cfg := Config{Targets: []*url.URL{target}, Method: "GET", KeyHeader: "X-API-Key", AppendKey: func(b []byte, _ uint32) []byte { return append(b, 'k') },
				Connections: 1, Clock: func() int64 { return 0 }, Texts: new(report.Texts)}
			c.change(&cfg)
			senders, err := New(context.Background(), cfg, 1)
			if err == nil {
				senders[0].Close()
				t.Fatal("went through")
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats the value: %v", err)
			}
		})
	}
}

// A name and password in the target's URL are sent as a browser or curl would.
func TestCredentialsInTheURL(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		got := make(chan string, 1)
		target := serveRaw(t, func(c net.Conn, r *bufio.Reader) {
			if req, err := http.ReadRequest(r); err == nil {
				got <- req.Header.Get("Authorization")
				_, _ = io.WriteString(c, ok)
			}
		})
		testRun{urls: []string{strings.Replace(target, "http://", "http://user:pass@", 1)}, profile: clients(1, "give-up"), max: 1}.do(t, portable)
		if auth := <-got; auth != "Basic dXNlcjpwYXNz" {
			t.Errorf("Authorization %q", auth)
		}
	})
}

// Rendered requests are remembered up to a size: bodies of megabytes for
// thousands of keys would not fit.
func TestLargeRequestsAreNotRemembered(t *testing.T) {
	var c requestCache
	c.put(0, 1, make([]byte, requestCacheBytes+1))
	if c.get(0, 1) != nil {
		t.Error("a large request was kept")
	}
	c.put(0, 1, []byte("small"))
	if string(c.get(0, 1)) != "small" {
		t.Error("a small request was not kept")
	}
}

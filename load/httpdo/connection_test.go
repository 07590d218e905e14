package httpdo

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// counter is a server that counts its requests and open connections.
type counter struct {
	requests, open, most atomic.Int64
	answer               string
}

func (s *counter) serve(c net.Conn, r *bufio.Reader) {
	now := s.open.Add(1)
	defer s.open.Add(-1)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		s.requests.Add(1)
		if _, err := io.WriteString(c, s.answer); err != nil {
			return
		}
	}
}

func fleet(t *testing.T, n int) (servers []*counter, urls []string) {
	for range n {
		s := &counter{answer: ok}
		servers, urls = append(servers, s), append(urls, serveRaw(t, s.serve))
	}
	return servers, urls
}

// A budget is met to the attempt however many loops draw on it, and the
// targets saw exactly what was offered.
func TestBudgetIsExactOverLoops(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		servers, urls := fleet(t, 3)
		var seqs sync.Map
		r, _ := testRun{urls: urls, profile: clients(60, "storm"), max: 3001, loops: 4,
			wrap: func(s Sender) load.Sender { return &watching{Sender: s, seqs: &seqs} }}.do(t, portable)
		seen := int64(0)
		for _, s := range servers {
			seen += s.requests.Load()
		}
		if r.Totals.Offered != 3001 || seen != 3001 || r.Totals.Admitted != 3001 || r.Totals.Dropped != 0 {
			t.Errorf("the servers saw %d; %+v", seen, r.Totals)
		}
		n := 0
		seqs.Range(func(any, any) bool { n++; return true })
		if n != 3001 {
			t.Errorf("%d different sequence numbers", n)
		}
	})
}

// watching notes the numbers of the attempts that leave.
type watching struct {
	Sender
	seqs *sync.Map
}

func (s *watching) Send(a *load.Attempt) {
	s.seqs.Store(a.Seq, true)
	s.Sender.Send(a)
}

// In every mode and with fewer connections than targets or clients, the cap
// holds, nothing is lost and every target has its share.
func TestFewConnectionsToManyTargets(t *testing.T) {
	for mode, conns := range map[Mode]int{KeepAlive: 3, NewConn: 3, PerClient: 10} {
		servers, urls := fleet(t, 8)
		r, _ := testRun{urls: urls, profile: clients(10, "storm"), max: 800,
			change: func(c *Config) { c.Mode, c.Connections = mode, conns }}.do(t, false)
		if r.Totals.Admitted != 800 {
			t.Errorf("mode %d: %+v %v", mode, r.Totals, r.Errors)
		}
		for i, s := range servers {
			if n := s.requests.Load(); n < 80 || n > 120 {
				t.Errorf("mode %d: target %d had %d of 800", mode, i, n)
			}
			if most := s.most.Load(); mode != NewConn && most > int64(conns) {
				t.Errorf("mode %d: %d connections at once to one target, cap %d", mode, most, conns)
			}
		}
	}
}

// One request may be more than a socket takes at once, and one answer too.
func TestRequestsAndAnswersInManyPieces(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		s := &counter{answer: "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + strings.Repeat("y", 3_000_000)}
		var got atomic.Int64
		r, opened := testRun{urls: []string{serveRaw(t, s.serve)}, profile: clients(2, "give-up"), max: 10,
			change: func(c *Config) { c.Method, c.Body, c.MaxBody = "PUT", strings.Repeat("x", 5_000_000), 4_000_000 },
			tap:    func(e *report.Event) { got.Add(int64(e.Bytes)) }}.do(t, portable)
		if r.Totals.Admitted != 10 || got.Load() != 30_000_000 || opened > 4 {
			t.Errorf("%d bytes over %d connections; %+v %v", got.Load(), opened, r.Totals, r.Errors)
		}
	})
}

// The end of an answer is where HTTP says it is: a HEAD has no body, and a
// connection that the server says it will close is not used again.
func TestConnectionsAfterAnAnswer(t *testing.T) {
	log.SetOutput(io.Discard) // net/http remarks on surplus bytes
	defer log.SetOutput(os.Stderr)
	for _, c := range []struct {
		name, method, answer string
		closes               bool // the server closes after each answer
		opened               int64
	}{
		{"head", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", false, 1},
		{"head, chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", false, 1},
		{"no content", "GET", "HTTP/1.1 204 No Content\r\n\r\n", false, 1},
		{"not modified", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5000\r\n\r\n", false, 1},
		{"announced close", "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", true, 20},
		{"announced close, kept open", "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", false, 20},
		{"until close", "GET", "HTTP/1.1 200 OK\r\n\r\nuntil the end", true, 20},
		{"old protocol", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", true, 20},
		{"old protocol, kept alive", "GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", false, 1},
		{"bytes too many", "GET", ok + ok, false, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			both(t, func(t *testing.T, portable bool) {
				url := serveRaw(t, func(conn net.Conn, r *bufio.Reader) {
					for {
						if _, err := http.ReadRequest(r); err != nil {
							return
						}
						if _, err := io.WriteString(conn, c.answer); err != nil || c.closes {
							return
						}
					}
				})
				p := clients(1, "give-up")
				if c.answer == ok+ok {
					// net/http looks for surplus bytes a moment after the answer.
					p.Populations[0].Arrivals.Think = 20 * time.Millisecond
				}
				r, opened := testRun{urls: []string{url}, profile: p, max: 20,
					change: func(cfg *Config) { cfg.Method = c.method }}.do(t, portable)
				if r.Totals.Admitted != 20 || opened != c.opened {
					t.Errorf("%d connections, want %d; %+v %v", opened, c.opened, r.Totals, r.Errors)
				}
			})
		})
	}
}

// What never connects fails by the timeout; what is under way when the run is
// cut is counted as in flight; no instant of an event comes before its cause.
func TestEventsAreInOrder(t *testing.T) {
	both(t, func(t *testing.T, portable bool) {
		var wrong atomic.Pointer[string]
		_, urls := fleet(t, 2)
		p := &profiles.Profile{Name: "both", Duration: time.Second, Populations: []profiles.Population{
			clients(8, "storm").Populations[0], arrivals(profiles.Constant, 8000, 0).Populations[0]}}
		p.Populations[1].Name = "q"
		r, _ := testRun{urls: urls, profile: p, tap: func(e *report.Event) {
			if e.Verdict == report.Admitted && (e.Sent < e.Due || e.Has&report.HasFirst == 0 || e.First < e.Sent || e.Done < e.First) {
				s := fmt.Sprintf("due %d, sent %d, first %d, done %d", e.Due, e.Sent, e.First, e.Done)
				wrong.Store(&s)
			}
		}}.do(t, portable)
		if s := wrong.Load(); s != nil {
			t.Error(*s)
		}
		if r.Totals.Admitted == 0 || r.Totals.InFlight != 0 {
			t.Errorf("%+v", r.Totals)
		}
	})
}

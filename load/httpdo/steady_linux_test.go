package httpdo

import (
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
)

// counting is a sender that looks at the allocation count at two of its
// attempts, when everything that is kept has been made.
type counting struct {
	Sender
	n, from, to int
	mallocs     [2]uint64
}

func (s *counting) Send(a *load.Attempt) {
	switch s.n++; s.n {
	case s.from:
		s.mallocs[0] = mallocs()
	case s.to:
		s.mallocs[1] = mallocs()
	}
	s.Sender.Send(a)
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// plain answers without allocating, so that what is counted is the sender's.
func plain(answer string) func(net.Conn) {
	return func(c net.Conn) {
		buf, out := make([]byte, 4096), []byte(answer)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
			if _, err := c.Write(out); err != nil {
				return
			}
		}
	}
}

// From engine to socket to record and back, an attempt costs no allocation
// once the run is under way.
func TestAttemptsDoNotAllocate(t *testing.T) {
	const from, to = 10_000, 30_000
	refused := "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nRateLimit: \"default\";r=0;t=1\r\nContent-Length: 7\r\n\r\nrefused"
	for name, c := range map[string]struct {
		answer  string
		profile *profiles.Profile
		change  func(*Config)
	}{
		"admitted":        {ok, clients(16, "storm"), nil},
		"refused":         {refused, clients(16, "storm"), nil},
		"chunked":         {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", clients(16, "storm"), nil},
		"by template":     {ok, clients(16, "storm"), func(c *Config) { c.Header = []Line{{"X-Request", "{key}-{client}-{seq}"}} }},
		"many keys":       {ok, clients(9000, "storm"), func(c *Config) { c.Query = []Line{{"key", "{key}"}} }},
		"constant rate":   {ok, arrivals(profiles.Constant, 20_000, time.Minute), nil},
		"poisson arrival": {refused, arrivals(profiles.Poisson, 20_000, time.Minute), nil},
	} {
		t.Run(name, func(t *testing.T) {
			// A machine that is busy elsewhere lets more pile up than ever before,
			// which allocates; a run that does not shows that none has to.
			for try := 1; ; try++ {
				s := &counting{from: from, to: to}
				testRun{urls: []string{serveConns(t, plain(c.answer))}, profile: c.profile, change: c.change, max: to + 1000,
					wrap: func(inner Sender) load.Sender { s.Sender = inner; return s }}.do(t, false)
				per := float64(s.mallocs[1]-s.mallocs[0]) / (to - from)
				// A chunk of the recorder now and then, and what the runtime needs.
				if s.mallocs[1] > 0 && per <= 0.02 {
					return
				}
				t.Logf("%d attempts, %.3f allocations each", s.n, per)
				if try == 5 {
					t.Fatal("attempts allocate")
				}
			}
		})
	}
}

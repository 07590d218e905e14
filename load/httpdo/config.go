// Package httpdo carries attempts out over HTTP.
//
// It has two senders behind load.Sender: on Linux an event loop on raw
// sockets for plain HTTP/1.1 over TCP or a unix socket, and everywhere a
// portable one on net/http for TLS, HTTP/2 and proxies. Both read answers
// with the same rules and fill the same events.
package httpdo

import (
	"crypto/tls"
	"net/url"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// Mode says how connections are used.
type Mode uint8

const (
	KeepAlive Mode = iota // a pool of connections, the warmest first
	NewConn               // a fresh connection for every attempt
	PerClient             // every client has one of its own
)

// Config is what a run sends and how it reads what comes back. It is shared
// by all senders of a run and not changed after the first was made.
type Config struct {
	Targets []*url.URL
	Method  string
	// Header lines, query values and Body may hold {key}, {client} and {seq}.
	Header []Line
	Query  []Line
	Body   string
	// KeyHeader, when set, carries the key's name.
	KeyHeader string
	// AppendKey appends the text of a key; Route is the path of a route, "" being
	// the target's own, with its method, "" being Method.
	AppendKey func([]byte, uint32) []byte
	Routes    []Route

	Mode        Mode
	Connections int           // cap on open connections of one sender, at least 1
	Timeout     time.Duration // of one attempt, from sent to done
	MaxBody     int64         // bytes of one body that are read

	Refused  Refusal
	Admitted StatusSet // what lets a request through; empty means 200 to 399

	Unix     string // path of a unix socket to send to instead of TCP
	HTTP2    bool
	TLS      *tls.Config
	Proxy    *url.URL
	Portable bool // never use the event loop

	Clock load.Clock
	Wall  time.Time // the wall clock at the run's 0
	Texts *report.Texts
}

// Line is one header field or query value.
type Line struct{ Name, Value string }

// Route is a path a population asks for.
type Route struct{ Method, Path string }

// NeedsPortable says which of a config's wishes the event loop cannot meet,
// "" when it can.
func (c *Config) NeedsPortable() string {
	switch {
	case c.Portable:
		return "asked for"
	case c.HTTP2:
		return "HTTP/2"
	case c.Proxy != nil:
		return "a proxy"
	}
	for _, t := range c.Targets {
		if t.Scheme == "https" {
			return "TLS"
		}
	}
	return ""
}

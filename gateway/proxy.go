package gateway

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"strings"
	"time"
)

// passageKey carries a request's passage in its context.
type passageKey struct{}

// passage is a request on its way to the upstream.
type passage struct {
	failed func() // books that there was no whole answer
	flight *flight
}

func passageOf(r *http.Request) *passage {
	if p, ok := r.Context().Value(passageKey{}).(*passage); ok {
		return p
	}
	return &passage{failed: func() {}}
}

// newProxy forwards to the upstream. It replaces X-Forwarded-* with what it
// knows itself, and drops the limit fields of the upstream's answer that the
// gateway writes: two authors of one field would leave a client guessing.
func (f *Fleet) newProxy() *httputil.ReverseProxy {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, 1024
	t.ResponseHeaderTimeout = time.Minute
	t.MaxResponseHeaderBytes = 1 << 20
	t.DisableCompression = true // what the caller asked for passes unchanged
	ours := f.voice.names()
	return &httputil.ReverseProxy{
		Transport: t,
		ErrorLog:  log.New(io.Discard, "", 0),
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(f.cfg.Upstream)
			f.forwardKey(p)
			f.forwardFor(p)
		},
		ModifyResponse: func(res *http.Response) error {
			for _, name := range ours {
				delete(res.Header, name)
			}
			passageOf(res.Request).flight.answer(f.now(), res.StatusCode)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			// A caller that hung up is not the upstream's failure.
			if errors.Is(err, context.Canceled) {
				panic(http.ErrAbortHandler)
			}
			p := passageOf(r)
			p.failed()
			p.flight.answer(f.now(), http.StatusBadGateway)
			badGateway.write(w, r, http.StatusBadGateway)
		},
	}
}

// forwardKey lets only the key through that was counted, also when the caller
// lists its header in Connection: an upstream that reads the last of several, or
// takes X_Api_Key for X-Api-Key as CGI and WSGI do, would serve a caller whom
// another one's limit let pass.
func (f *Fleet) forwardKey(p *httputil.ProxyRequest) {
	name := f.cfg.Key.Header
	if f.cfg.Key.By != ByHeader || name == "Host" {
		return
	}
	dropAliases(p.Out.Header, name)
	delete(p.Out.Header, name)
	if v := p.In.Header[name]; len(v) > 0 {
		p.Out.Header[name] = v[:1:1]
	}
}

// dropAliases drops the headers that are name to those who read an underscore
// as a hyphen.
func dropAliases(h http.Header, name string) {
	for other := range h {
		if len(other) == len(name) && other != name && strings.EqualFold(strings.ReplaceAll(other, "_", "-"), strings.ReplaceAll(name, "_", "-")) {
			delete(h, other)
		}
	}
}

// forwardFor tells the upstream whom the request is for: what a listed proxy in
// front said, and the peer. What anybody else said in the address header is dropped.
func (f *Fleet) forwardFor(p *httputil.ProxyRequest) {
	before := f.identity.proxies.trustsPeer(p.In)
	for _, name := range []string{"X-Forwarded-For", f.identity.proxies.Header} {
		dropAliases(p.Out.Header, name)
	}
	if before {
		if v := p.In.Header["X-Forwarded-For"]; len(v) > 0 {
			p.Out.Header["X-Forwarded-For"] = append([]string(nil), v...)
		}
	}
	p.SetXForwarded()
	switch name := f.identity.proxies.Header; {
	case name == "X-Forwarded-For":
	case !before:
		delete(p.Out.Header, name)
	case len(p.In.Header[name]) > 0: // Forwarded is taken out before
		p.Out.Header[name] = append([]string(nil), p.In.Header[name]...)
		if name == "Forwarded" {
			p.Out.Header[name] = append(p.Out.Header[name], forwardedBy(p.In.RemoteAddr))
		}
	}
	if before {
		for _, name := range []string{"X-Forwarded-Proto", "X-Forwarded-Host"} {
			if v := p.In.Header[name]; len(v) > 0 {
				p.Out.Header[name] = append([]string(nil), v...)
			}
		}
	}
}

func (g *gateway) forward(w http.ResponseWriter, r *http.Request, run *run, key string, flight *flight) {
	book := func() { run.tally.upstreamFailed(g.n, key) }
	defer func() {
		// The proxy aborts when an answer breaks off, on either side.
		if p := recover(); p != nil {
			if r.Context().Err() == nil {
				book()
			}
			panic(p)
		}
	}()
	g.fleet.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), passageKey{}, &passage{book, flight})))
}

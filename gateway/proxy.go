package gateway

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httputil"
	"time"
)

// failedKey carries, in a proxied request's context, what books a failure.
type failedKey struct{}

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
			p.SetXForwarded()
		},
		ModifyResponse: func(res *http.Response) error {
			for _, name := range ours {
				delete(res.Header, name)
			}
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			// A caller that hung up is not the upstream's failure.
			if errors.Is(err, context.Canceled) {
				panic(http.ErrAbortHandler)
			}
			if book, ok := r.Context().Value(failedKey{}).(func()); ok {
				book()
			}
			badGateway.write(w, r, http.StatusBadGateway)
		},
	}
}

func (g *gateway) forward(w http.ResponseWriter, r *http.Request, run *run, key string) {
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
	g.fleet.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), failedKey{}, book)))
}

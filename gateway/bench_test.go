package gateway

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// BenchmarkDecide is a request without its socket: key, decision, books and
// header fields.
func BenchmarkDecide(b *testing.B) {
	for name, limit := range map[string]string{"admitted": "1000000000/s,burst=1000000000", "refused": "1/h,burst=1"} {
		b.Run(name, func(b *testing.B) {
			f, err := New(Config{Limit: spec(b, limit)})
			if err != nil {
				b.Fatal(err)
			}
			h := f.Handler(0)
			r := &http.Request{Method: "GET", URL: &url.URL{Path: "/"}, RemoteAddr: "127.0.0.1:9",
				Header: http.Header{"X-Api-Key": {"k-7"}}, Body: http.NoBody}
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }

// BenchmarkSocket is one request after the other on one connection, the
// client's few system calls included.
func BenchmarkSocket(b *testing.B) {
	f := started(b, Config{Limit: spec(b, "1/h,burst=1")})
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.URLs()[0], "http://"))
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	in := bufio.NewReader(conn)
	b.ReportAllocs()
	for b.Loop() {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-API-Key: k\r\n\r\n")
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := in.Discard(int(res.ContentLength)); err != nil {
			b.Fatal(err)
		}
	}
}

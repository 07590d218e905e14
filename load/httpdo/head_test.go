package httpdo

import (
	"strings"
	"testing"
)

func TestParseHead(t *testing.T) {
	for _, c := range []struct {
		name, in string
		isHead   bool
		status   int
		length   int64
		keep     bool
		bad      bool
	}{
		{name: "plain", in: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", status: 200, length: 2, keep: true},
		{name: "no reason", in: "HTTP/1.1 429\r\nContent-Length: 0\r\n\r\n", status: 429, length: 0, keep: true},
		{name: "empty reason", in: "HTTP/1.1 204 \r\n\r\n", status: 204, length: 0, keep: true},
		{name: "close", in: "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 5\r\n\r\n", status: 200, length: 5},
		{name: "1.0 closes", in: "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\n", status: 200, length: 5},
		{name: "1.0 kept", in: "HTTP/1.0 200 OK\r\nconnection: keep-alive\r\nContent-Length: 5\r\n\r\n", status: 200, length: 5, keep: true},
		{name: "chunked", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", status: 200, length: chunked, keep: true},
		{name: "chunked wins over a length", in: "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n", status: 200, length: chunked, keep: true},
		{name: "until close", in: "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", status: 200, length: untilClose},
		{name: "answer to HEAD", in: "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n", isHead: true, status: 200, length: 0, keep: true},
		{name: "same length twice", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", status: 200, length: 3, keep: true},
		{name: "bare line feeds", in: "HTTP/1.1 200 OK\nContent-Length: 3\n\n", status: 200, length: 3, keep: true},
		{name: "two lengths", in: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", bad: true},
		{name: "negative length", in: "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\n", bad: true},
		{name: "length beyond 64 bits", in: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", bad: true},
		{name: "folded line", in: "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", bad: true},
		{name: "space before colon", in: "HTTP/1.1 200 OK\r\nContent-Length : 3\r\n\r\n", bad: true},
		{name: "no colon", in: "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", bad: true},
		{name: "other protocol", in: "SSH-2.0-OpenSSH_9.2\r\n\r\n", bad: true},
		{name: "HTTP/2", in: "HTTP/2.0 200 OK\r\n\r\n", bad: true},
		{name: "status in letters", in: "HTTP/1.1 2x0 OK\r\n\r\n", bad: true},
		{name: "status of four digits", in: "HTTP/1.1 2000 OK\r\n\r\n", bad: true},
		{name: "status below 100", in: "HTTP/1.1 099 OK\r\n\r\n", bad: true},
		{name: "unknown encoding", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h head
			if end := headEnd([]byte(c.in)); end != len(c.in) {
				t.Fatalf("block of %d bytes ends at %d", len(c.in), end)
			}
			err := h.parse([]byte(c.in), c.isHead, &Refusal{})
			if c.bad {
				if err == nil {
					t.Fatalf("accepted as %+v", h)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.status != c.status || h.length != c.length || h.keep != c.keep || h.size != len(c.in) {
				t.Errorf("status %d length %d keep %v size %d", h.status, h.length, h.keep, h.size)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	for _, c := range []struct {
		name, in   string
		length     int64
		want, rest string
		done, bad  bool
	}{
		{name: "length", length: 5, in: "hello", want: "hello", done: true},
		{name: "length and more", length: 5, in: "helloHTTP", want: "hello", rest: "HTTP", done: true},
		{name: "length cut", length: 5, in: "hel", want: "hel"},
		{name: "until close", length: untilClose, in: "abc", want: "abc"},
		{name: "chunks", length: chunked, in: "3\r\nabc\r\nA;ext=1\r\n0123456789\r\n0\r\n\r\nX", want: "abc0123456789", rest: "X", done: true},
		{name: "trailers", length: chunked, in: "1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n", want: "a", done: true},
		{name: "chunks cut", length: chunked, in: "3\r\nab", want: "ab"},
		{name: "no size", length: chunked, in: "\r\nabc", bad: true},
		{name: "not hexadecimal", length: chunked, in: "xyz\r\n", bad: true},
		{name: "size beyond 64 bits", length: chunked, in: "ffffffffffffffffff\r\n", bad: true},
		{name: "no line end after data", length: chunked, in: "3\r\nabcd\r\n", want: "abc", bad: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			// However the bytes are cut, the outcome is the same.
			for _, piece := range []int{1, 2, 3, 7, 1000} {
				d := newBody(c.length)
				var got strings.Builder
				rest, done, bad := c.in, false, false
				for rest != "" && !done && !bad {
					n, ok, err := d.feed([]byte(rest[:min(piece, len(rest))]), func(b []byte) { got.Write(b) })
					rest, done, bad = rest[n:], ok, err != nil
				}
				if bad != c.bad {
					t.Fatalf("pieces of %d: bad %v", piece, bad)
				}
				if !c.bad && (got.String() != c.want || done != c.done || rest != c.rest) {
					t.Errorf("pieces of %d: got %q done %v rest %q", piece, got.String(), done, rest)
				}
			}
		})
	}
}

func TestTemplates(t *testing.T) {
	v := vars{key: []byte("k 7"), client: 3, seq: 42}
	for in, want := range map[string]string{
		"":                       "",
		"plain":                  "plain",
		"{key}":                  "k 7",
		"a{client}b{seq}c":       "a3b42c",
		`{"a":{"key":"{key}"}}`:  `{"a":{"key":"k 7"}}`,
		"{unknown} {":            "{unknown} {",
		"{{key}}":                "{k 7}",
		"{key}{key}{client}{seq": "k 7k 73{seq",
	} {
		if got := string(parseTemplate(in).append(nil, v)); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestStatusSets(t *testing.T) {
	s, err := ParseStatusSet("429, 503,200-204")
	if err != nil {
		t.Fatal(err)
	}
	for status, want := range map[int]bool{429: true, 503: true, 200: true, 204: true, 205: false, 199: false, -1: false, 700: false} {
		if s.Has(status) != want {
			t.Errorf("Has(%d) = %v", status, !want)
		}
	}
	for _, bad := range []string{"", "4", "abc", "429,", "500-400", "99", "600", "-"} {
		if _, err := ParseStatusSet(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

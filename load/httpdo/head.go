package httpdo

import (
	"bytes"
	"errors"

	"github.com/weir-cli/weir/limit/dialect"
)

// maxHead bounds a header block; beyond it the answer is TooLarge.
const maxHead = 64 << 10

// How an answer's body ends, when not by its length.
const (
	untilClose = -1
	chunked    = -2
)

var errMalformed = errors.New("not an HTTP/1 answer")

// head is a parsed header block. Fields alias the bytes it was read from.
type head struct {
	status  int
	length  int64 // of the body, or untilClose, or chunked
	keep    bool
	refused bool            // a field matched the refusal's
	fields  []dialect.Field // those that may speak of limits
	size    int             // bytes of the block with its empty line
}

// interim reports whether another answer to the same request follows. After
// 101 none does: the connection speaks something else from there on.
func (h *head) interim() bool { return h.status < 200 && h.status != 101 }

// headEnd returns the length of the header block at the start of b with its
// empty line, or 0 when it is not complete.
func headEnd(b []byte) int {
	i := bytes.Index(b, []byte("\n\r\n"))
	if i >= 0 {
		b = b[:i+3]
	}
	// Bare line feeds are not HTTP, but some servers of the wild send them.
	if j := bytes.Index(b, []byte("\n\n")); j >= 0 {
		return j + 2
	}
	if i >= 0 {
		return len(b)
	}
	return 0
}

// parse reads a complete header block (RFC 9112). isHead says the request
// was a HEAD, whose answers have no body whatever they announce.
func (h *head) parse(b []byte, isHead bool, r *Refusal) error {
	h.size, h.fields, h.refused = len(b), h.fields[:0], false
	// "HTTP/1.1 200" and then a space or the end of the line.
	if len(b) < 14 || string(b[:7]) != "HTTP/1." || b[7] < '0' || b[7] > '9' || b[8] != ' ' ||
		(b[12] != ' ' && b[12] != '\r' && b[12] != '\n') {
		return errMalformed
	}
	h.status = 0
	for _, d := range b[9:12] {
		if d < '0' || d > '9' {
			return errMalformed
		}
		h.status = h.status*10 + int(d-'0')
	}
	if h.status < 100 {
		return errMalformed
	}
	h.keep, h.length = b[7] != '0', untilClose
	b = b[bytes.IndexByte(b, '\n')+1:]
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return errMalformed
		}
		line := b[:i]
		b = b[i+1:]
		if n := len(line); n > 0 && line[n-1] == '\r' {
			line = line[:n-1]
		}
		if len(line) == 0 {
			break
		}
		if err := h.field(line, r); err != nil {
			return err
		}
	}
	if isHead || h.status < 200 || h.status == 204 || h.status == 304 {
		h.length = 0
	}
	if h.length == untilClose || h.status == 101 {
		h.keep = false
	}
	return nil
}

func (h *head) field(line []byte, r *Refusal) error {
	i := bytes.IndexByte(line, ':')
	if i <= 0 || line[0] == ' ' || line[0] == '\t' || line[i-1] == ' ' {
		return errMalformed
	}
	name, value := line[:i], trim(line[i+1:])
	switch len(name) {
	case 14:
		if equalFold(name, "content-length") {
			return h.contentLength(value)
		}
	case 10:
		if equalFold(name, "connection") {
			switch {
			case containsFold(value, "close"):
				h.keep = false
			case containsFold(value, "keep-alive"):
				h.keep = true
			}
			return nil
		}
	case 17:
		if equalFold(name, "transfer-encoding") {
			if !containsFold(value, "chunked") {
				return errMalformed
			}
			h.length = chunked
			return nil
		}
	}
	if r.headerMatches(name, value) {
		h.refused = true
	}
	if dialect.Interesting(name) {
		h.fields = append(h.fields, dialect.Field{Name: name, Value: value})
	}
	return nil
}

func (h *head) contentLength(v []byte) error {
	if len(v) == 0 || len(v) > 18 {
		return errMalformed
	}
	var n int64
	for _, d := range v {
		if d < '0' || d > '9' {
			return errMalformed
		}
		n = n*10 + int64(d-'0')
	}
	switch {
	case h.length == chunked: // the encoding wins (RFC 9112, 6.3)
	case h.length >= 0 && h.length != n:
		return errMalformed
	default:
		h.length = n
	}
	return nil
}

func trim(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t') {
		b = b[:len(b)-1]
	}
	return b
}

// equalFold compares with a lower-case name of the same length.
func equalFold(b []byte, lower string) bool {
	for i := range len(lower) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func containsFold(b []byte, lower string) bool {
	for i := 0; i+len(lower) <= len(b); i++ {
		if equalFold(b[i:], lower) {
			return true
		}
	}
	return false
}

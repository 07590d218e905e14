package replay

import (
	"bufio"
	"bytes"
	"io"

	"github.com/weir-cli/weir/report"
)

// beginningLen bounds how much of a trace is looked at to tell what it is.
const beginningLen = 16 << 10

// beginning is what there is of a trace once its first line is there. It waits
// for no more than that, since a pipe may not have more for long. The error is
// why there is less.
func beginning(b *bufio.Reader) ([]byte, error) {
	for {
		head, _ := b.Peek(min(b.Buffered(), beginningLen))
		if _, whole := firstLine(head); whole || len(head) == beginningLen {
			return head, nil
		}
		if head, err := b.Peek(len(head) + 1); err != nil {
			return head, err
		}
	}
}

// firstLine is the first line that is neither empty nor a comment, without the
// space around it, and whether its end is there.
func firstLine(head []byte) (line []byte, whole bool) {
	for len(head) > 0 {
		line, head, whole = bytes.Cut(head, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line, whole
		}
	}
	return nil, false
}

// guess tells a trace's form by its first line.
func guess(line []byte) string {
	switch {
	case len(line) == 0:
		return "csv"
	case line[0] == '{' && bytes.Contains(line, []byte(report.EventsSchema)):
		return "events"
	case line[0] == '{':
		return "ndjson"
	case string(line) == "OK" || string(line) == "+OK":
		return "monitor"
	}
	if stamp, rest, ok := bytes.Cut(line, []byte(" [")); ok {
		if _, _, ok := decimal(stamp); ok && bytes.Contains(rest, []byte("] \"")) {
			return "monitor"
		}
		if len(rest) > 20 && rest[2] == '/' && bytes.IndexByte(rest, ']') > 0 {
			return "combined"
		}
	}
	return "csv"
}

// namesCredential reports whether a trace that begins with head may take its keys
// from the one of keyNames that is a credential.
func namesCredential(head []byte, form string) bool {
	if form == "csv" {
		head, _ = firstLine(head)
	}
	return (form == "csv" || form == "ndjson") && bytes.Contains(head, []byte("api_key"))
}

// telling is a reader that tells somebody before it reads.
type telling struct {
	r      io.Reader
	before func() // nil is nobody
}

func (t *telling) Read(p []byte) (int, error) {
	if t.before != nil {
		t.before()
	}
	return t.r.Read(p)
}

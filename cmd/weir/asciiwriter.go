package main

import (
	"io"
	"unicode/utf8"

	"github.com/weir-cli/weir/report"
)

// asciiWriter writes text for a terminal that shows nothing but ASCII, a column
// for a character. Not safe for concurrent use.
type asciiWriter struct {
	w    io.Writer
	rest []byte // the beginning of a character whose end is still to come
}

func (a *asciiWriter) Write(b []byte) (int, error) {
	in := append(a.rest, b...)
	out := make([]byte, 0, len(in))
	for len(in) > 0 && utf8.FullRune(in) {
		r, n := utf8.DecodeRune(in)
		out = append(out, report.ASCII(r))
		in = in[n:]
	}
	a.rest = append([]byte(nil), in...)
	if _, err := a.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// asciiText is s as such a terminal shows it.
func asciiText(s string) string {
	out := make([]byte, 0, len(s))
	for _, r := range s {
		out = append(out, report.ASCII(r))
	}
	return string(out)
}

// utf8 reports whether the terminal shows more than ASCII.
func (a *app) utf8() bool {
	return report.SaysUTF8(a.env("LC_ALL"), a.env("LC_CTYPE"), a.env("LANG"))
}

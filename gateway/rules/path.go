package rules

import (
	"slices"
	"strings"
)

// maxSegments is how many of a path's segments are looked at: more than any
// pattern has.
const maxSegments = maxPattern + 1

// path is a reading of a request's path in segments, without copying it. Empty
// segments are left out, and unless dots are kept so is "." while ".." takes one
// back: another spelling of a path does not pass a route by.
type path struct {
	text  string
	odd   bool // has what servers differ in: dots, a semicolon or a backslash
	depth int  // segments in all; the first maxSegments are kept
	at    [maxSegments][2]int
}

func (p *path) read(text string, keepDots bool) {
	p.text, p.depth, p.odd = text, 0, false
	for from := 0; from < len(text); {
		if text[from] == '/' {
			from++
			continue
		}
		to := from
		for to < len(text) && text[to] != '/' {
			p.odd = p.odd || text[to] == ';' || text[to] == '\\'
			to++
		}
		segment := text[from:to]
		dots := segment == "." || segment == ".."
		p.odd = p.odd || dots
		switch {
		case !dots || keepDots:
			if p.depth < maxSegments {
				p.at[p.depth] = [2]int{from, to}
			}
			p.depth++
		case segment == "..":
			p.depth = max(p.depth-1, 0)
		}
		from = to
	}
}

func (p *path) segment(i int) string { return p.text[p.at[i][0]:p.at[i][1]] }

// readings appends what servers may take r's path for: most often one. They
// differ in whether an encoded slash parts segments, whether a semicolon ends
// one, whether a backslash is a slash and whether dots are resolved, in every
// combination; which of them the upstream is cannot be told.
func (r *Request) readings(dst []path) []path {
	dst = append(dst, path{})
	dst[0].read(r.Path, false)
	if !dst[0].odd && r.Kept == "" {
		return dst
	}
	dst = dst[:0]
	texts := append(make([]string, 0, 8), r.Path)
	if r.Kept != "" {
		texts = append(texts, r.Kept)
	}
	// In both orders: a backslash ends a parameter or is part of it.
	for _, other := range []func(string) string{withoutBackslashes, withoutParameters, withoutBackslashes} {
		for _, text := range texts {
			if t := other(text); !slices.Contains(texts, t) {
				texts = append(texts, t)
			}
		}
	}
	for _, text := range texts {
		for _, keepDots := range []bool{false, true} {
			dst = append(dst, path{})
			dst[len(dst)-1].read(text, keepDots)
		}
	}
	return dst
}

func withoutBackslashes(text string) string { return strings.ReplaceAll(text, `\`, "/") }

// withoutParameters drops what follows a semicolon in its segment, before dots
// are looked for: "/a/..;x/b" is "/b" to those who drop it.
func withoutParameters(text string) string {
	if !strings.Contains(text, ";") {
		return text
	}
	var b strings.Builder
	for from := 0; from < len(text); {
		semicolon := strings.IndexByte(text[from:], ';')
		if semicolon < 0 {
			b.WriteString(text[from:])
			break
		}
		b.WriteString(text[from : from+semicolon])
		from += semicolon
		slash := strings.IndexByte(text[from:], '/')
		if slash < 0 {
			break
		}
		from += slash
	}
	return b.String()
}

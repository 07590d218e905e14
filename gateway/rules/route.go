package rules

import (
	"cmp"
	"strings"
)

// maxPattern bounds a route's segments.
const maxPattern = 32

// Route is a pattern such as "POST /v1/orders/{id}" or "/v1/*". Without a
// method it is for all of them; GET is for HEAD too. A segment in braces
// stands for any one, and /* at the end for anything or nothing more.
type Route struct {
	text     string
	method   string // "" is any
	segments []string
	rest     bool // ends in /*
	line     int
}

// Cost is what a request to a route takes from a rule's bucket; 0 is nothing,
// and the rule does not apply.
type Cost struct {
	Route Route
	Cost  int64
}

// String is the pattern in one spelling.
func (r *Route) String() string { return r.text }

// parseRoute reads a pattern; what is wrong with it is "" when nothing is.
func parseRoute(s string) (r Route, wrong string) {
	path := s
	if method, rest, ok := strings.Cut(s, " "); ok {
		r.method, path = method, strings.TrimSpace(rest)
		if len(method) > 20 || strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
			return r, "has a method that is not in capital letters"
		}
	}
	if !strings.HasPrefix(path, "/") {
		return r, "has no path that begins with /"
	}
	if len(path) > MaxKey || strings.ContainsAny(path, "?#") || strings.IndexFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }) >= 0 {
		return r, "has a path with spaces, a query or a fragment, or one that is too long"
	}
	r.text = path
	if r.method != "" {
		r.text = r.method + " " + path
	}
	if head, ok := strings.CutSuffix(path, "/*"); ok {
		r.rest, path = true, head
	}
	for s := range strings.SplitSeq(path, "/") {
		switch inner, open := strings.CutPrefix(s, "{"); {
		case s == "":
			continue
		case s == "." || s == "..":
			return r, "has a segment " + s + ", which no request's path keeps"
		case open:
			name, closed := strings.CutSuffix(inner, "}")
			if !closed || name == "" || strings.ContainsAny(name, "{}*") {
				return r, "has a segment in braces that is not {name}"
			}
			s = ""
		case strings.ContainsAny(s, "{}*"):
			return r, "has a brace or a star inside a segment"
		}
		r.segments = append(r.segments, s)
	}
	if len(r.segments) > maxPattern {
		return r, "has too many segments"
	}
	return r, ""
}

// fits reports whether a request's method is one of r's.
func (r *Route) fits(method string) bool {
	return r.method == "" || strings.EqualFold(r.method, method) || r.method == "GET" && strings.EqualFold(method, "HEAD")
}

// matches reports whether r is a pattern for the path, in any case of its
// letters where that is asked for.
func (r *Route) matches(method string, p *path, anyCase bool) bool {
	if p.depth < len(r.segments) || p.depth > len(r.segments) && !r.rest || !r.fits(method) {
		return false
	}
	for i, want := range r.segments {
		if got := p.segment(i); want != "" && want != got && !(anyCase && strings.EqualFold(want, got)) {
			return false
		}
	}
	return true
}

// find is the first of the routes that matches, -1 when none does.
func find(routes []Route, method string, p *path, anyCase bool) int {
	for i := range routes {
		if routes[i].matches(method, p, anyCase) {
			return i
		}
	}
	return -1
}

// before orders by how specific routes are, the most specific first: word by
// word, then without /*, then with a method.
func before(a, b Route) int {
	for i := range min(len(a.segments), len(b.segments)) {
		if c := -cmp.Compare(word(a.segments[i]), word(b.segments[i])); c != 0 {
			return c
		}
	}
	if c := -cmp.Compare(len(a.segments), len(b.segments)); c != 0 {
		return c
	}
	if a.rest != b.rest {
		if a.rest {
			return 1
		}
		return -1
	}
	return -cmp.Compare(word(a.method), word(b.method))
}

func word(s string) int {
	if s == "" {
		return 0
	}
	return 1
}

// overlap reports whether some request is matched by both.
func overlap(a, b *Route) bool {
	if a.method != "" && b.method != "" && !a.fits(b.method) && !b.fits(a.method) {
		return false
	}
	n, m := len(a.segments), len(b.segments)
	if n < m && !a.rest || m < n && !b.rest {
		return false
	}
	for i := range min(n, m) {
		if x, y := a.segments[i], b.segments[i]; x != "" && y != "" && x != y {
			return false
		}
	}
	return true
}

// covers reports whether a matches all that b does.
func covers(a, b *Route) bool {
	if a.method != "" && (b.method == "" || !a.fits(b.method) || a.method != b.method && b.method == "GET") {
		return false
	}
	n, m := len(a.segments), len(b.segments)
	if m < n || (m > n || b.rest) && !a.rest {
		return false
	}
	for i, want := range a.segments {
		if want != "" && want != b.segments[i] {
			return false
		}
	}
	return true
}

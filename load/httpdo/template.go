package httpdo

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// part is a literal, or one of the variables.
type part struct {
	lit string
	v   variable
}

type variable uint8

const (
	literal variable = iota
	varKey
	varClient
	varSeq
)

var variables = map[string]variable{"key": varKey, "client": varClient, "seq": varSeq}

// template is a text with {key}, {client} and {seq} in it.
type template []part

// parseTemplate reads a text; braces around anything else stand for
// themselves, so that JSON bodies need no escaping.
func parseTemplate(s string) template {
	var t template
	lit := ""
	for s != "" {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			break
		}
		end := strings.IndexByte(s[i:], '}')
		v := literal
		if end > 0 {
			v = variables[s[i+1:i+end]]
		}
		if v == literal {
			lit += s[:i+1]
			s = s[i+1:]
			continue
		}
		t = append(t, part{lit: lit + s[:i]}, part{v: v})
		lit, s = "", s[i+end+1:]
	}
	return append(t, part{lit: lit + s})
}

// vars are the values of one attempt.
type vars struct {
	key    []byte
	client uint32
	seq    uint64
}

// perAttempt reports whether the text differs between attempts of one key.
func (t template) perAttempt() bool {
	for _, p := range t {
		if p.v == varClient || p.v == varSeq {
			return true
		}
	}
	return false
}

func (t template) append(dst []byte, v vars) []byte {
	for _, p := range t {
		switch p.v {
		case literal:
			dst = append(dst, p.lit...)
		case varKey:
			dst = append(dst, v.key...)
		case varClient:
			dst = strconv.AppendUint(dst, uint64(v.client), 10)
		case varSeq:
			dst = strconv.AppendUint(dst, v.seq, 10)
		}
	}
	return dst
}

// appendEscaped is append with the variables escaped for a query.
func (t template) appendEscaped(dst []byte, v vars) []byte {
	if slices.ContainsFunc(v.key, func(c byte) bool { return !unreserved(c) }) {
		v.key = []byte(url.QueryEscape(string(v.key)))
	}
	return t.append(dst, v)
}

// unreserved are the bytes that need no escape anywhere (RFC 3986, 2.3).
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_' || c == '.' || c == '~'
}

// request is one (target, route) of a run, ready to be filled in.
type request struct {
	method string
	host   template
	path   template // path and query, escaped
	header []struct{ name, value template }
	body   template
	varies bool // between attempts of one key
}

// newRequest compiles what is sent to target t for route r.
func (c *Config) newRequest(t *url.URL, r Route) (*request, error) {
	q := &request{method: c.Method, host: template{{lit: t.Host}}}
	if r.Method != "" {
		q.method = r.Method
	}
	path := t.EscapedPath()
	if r.Path != "" {
		u, err := url.Parse(r.Path)
		if err != nil {
			return nil, fmt.Errorf("route %q: %w", r.Path, err)
		}
		path = u.EscapedPath()
		if u.RawQuery != "" {
			path += "?" + u.RawQuery
		}
	}
	if path == "" {
		path = "/"
	}
	if r.Path == "" && t.RawQuery != "" {
		path += "?" + t.RawQuery
	}
	// Templates survive escaping of the path: {key} is written %7Bkey%7D there.
	for name := range variables {
		path = strings.ReplaceAll(path, "%7B"+name+"%7D", "{"+name+"}")
	}
	for i, l := range c.Query {
		sep := "&"
		if i == 0 && !strings.Contains(path, "?") {
			sep = "?"
		}
		path += sep + url.QueryEscape(l.Name) + "=" + escapeLiteral(l.Value)
	}
	q.path = parseTemplate(path)
	q.varies = q.path.perAttempt()
	for _, l := range c.header() {
		if strings.EqualFold(l.Name, "host") {
			q.host = parseTemplate(l.Value)
			q.varies = q.varies || q.host.perAttempt()
			continue
		}
		h := struct{ name, value template }{parseTemplate(l.Name), parseTemplate(l.Value)}
		q.header = append(q.header, h)
		q.varies = q.varies || h.name.perAttempt() || h.value.perAttempt()
	}
	if t.User != nil && !c.hasHeader("authorization") {
		pass, _ := t.User.Password() // "" when there is none
		credentials := base64.StdEncoding.EncodeToString([]byte(t.User.Username() + ":" + pass))
		q.header = append(q.header, struct{ name, value template }{template{{lit: "Authorization"}}, template{{lit: "Basic " + credentials}}})
	}
	q.body = parseTemplate(c.Body)
	q.varies = q.varies || q.body.perAttempt()
	return q, nil
}

// escapeLiteral escapes a query value but keeps its variables.
func escapeLiteral(s string) string {
	s = url.QueryEscape(s)
	for name := range variables {
		s = strings.ReplaceAll(s, "%7B"+name+"%7D", "{"+name+"}")
	}
	return s
}

// header is the run's fields with those that weir adds itself.
func (c *Config) header() []Line {
	lines := c.Header
	if c.KeyHeader != "" {
		lines = append(lines[:len(lines):len(lines)], Line{c.KeyHeader, "{key}"})
	}
	if !c.hasHeader("user-agent") {
		lines = append(lines[:len(lines):len(lines)], Line{"User-Agent", "weir"})
	}
	return lines
}

// hasHeader reports whether the run sets a field of this lower-case name.
func (c *Config) hasHeader(name string) bool {
	return slices.ContainsFunc(c.Header, func(l Line) bool { return strings.EqualFold(l.Name, name) })
}

// append writes the request as HTTP/1.1.
func (q *request) append(dst []byte, v vars, body []byte, closing bool) ([]byte, []byte) {
	dst = append(dst, q.method...)
	dst = append(dst, ' ')
	dst = q.path.appendEscaped(dst, v)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = q.host.append(dst, v)
	for _, h := range q.header {
		dst = append(dst, "\r\n"...)
		dst = h.name.append(dst, v)
		dst = append(dst, ": "...)
		dst = h.value.append(dst, v)
	}
	if closing {
		dst = append(dst, "\r\nConnection: close"...)
	}
	body = q.body.append(body[:0], v)
	if len(body) > 0 || q.method == "POST" || q.method == "PUT" || q.method == "PATCH" {
		dst = append(dst, "\r\nContent-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(body)), 10)
	}
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, body...), body
}

package gateway

import (
	"net/netip"
	"strings"
)

// forwardedFor reads one line of a Forwarded header (RFC 7239, 4): the for of
// each element, "" where an element has none. Quoted strings may hold commas,
// so a line is read from its beginning, and one that is not well formed is not
// read at all.
func forwardedFor(line string) (nodes []string, ok bool) {
	s := line
	for {
		node, rest, ok := forwardedElement(s)
		if !ok {
			return nil, false
		}
		if len(nodes) > 2*maxHops {
			nodes = append(nodes[:0], nodes[len(nodes)-maxHops:]...) // the last are walked
		}
		nodes = append(nodes, node)
		if rest == "" {
			return nodes, true
		}
		s = rest[1:] // the comma
	}
}

// forwardedElement reads up to the next comma, which rest begins with. A
// second for in one element is an error: there is no telling which is meant.
func forwardedElement(s string) (node, rest string, ok bool) {
	seen := false
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] == ',' {
			return node, s, true
		}
		if s[0] == ';' {
			s = s[1:]
			continue
		}
		name, after, found := strings.Cut(s, "=")
		if !found || !headerName(name) {
			return "", "", false
		}
		value, after, ok := forwardedValue(after)
		if !ok {
			return "", "", false
		}
		if strings.EqualFold(name, "for") {
			if seen {
				return "", "", false
			}
			node, seen = value, true
		}
		s = strings.TrimLeft(after, " \t")
		if s != "" && s[0] != ';' && s[0] != ',' {
			return "", "", false
		}
	}
}

// forwardedValue reads a token or a quoted string. It takes the colons and
// brackets of an address that was not quoted, as it should have been, because
// proxies forget to.
func forwardedValue(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexAny(s, " \t;,\"")
		if end < 0 {
			end = len(s)
		}
		return s[:end], s[end:], end > 0
	}
	s = s[1:]
	if end := strings.IndexAny(s, `"\`); end >= 0 && s[end] == '"' {
		return s[:end], s[end+1:], true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// forwardedBy is the element of a Forwarded header for a peer.
func forwardedBy(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "for=unknown" // of a unix socket
	}
	return `for="` + at.String() + `"`
}

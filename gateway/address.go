package gateway

import (
	"net/http"
	"net/netip"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
)

// Proxies says whose word about a caller's address is believed. The zero value
// believes nobody: the caller is the peer.
type Proxies struct {
	// Trusted are the proxies in front, addresses or prefixes; see
	// [ParseProxy].
	Trusted []Proxy
	// Header is where they write the caller's address: Forwarded (RFC 7239),
	// or a header with one address or a list of them. "" is X-Forwarded-For.
	Header string
	// IPv6Prefix is how many bits of an IPv6 address are one caller, since one
	// customer has many addresses. 0 is 64.
	IPv6Prefix int
}

// Proxy is one trusted peer or network of them.
type Proxy struct {
	unix   bool // everybody who can open the socket
	prefix netip.Prefix
}

// ParseProxy reads an address, a prefix such as 10.0.0.0/8, or unix for the
// peers of a unix socket.
func ParseProxy(s string) (Proxy, error) {
	if s == "unix" {
		return Proxy{unix: true}, nil
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		if a := p.Addr(); a.Is4In6() && p.Bits() >= 96 {
			p = netip.PrefixFrom(a.Unmap(), p.Bits()-96) // as addresses are compared
		}
		return Proxy{prefix: p.Masked()}, nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return Proxy{}, &ConfigError{"trusted proxy", s, "want an address, a prefix such as 10.0.0.0/8, or unix"}
	}
	a = a.Unmap()
	return Proxy{prefix: netip.PrefixFrom(a, a.BitLen())}, nil
}

func (p *Proxies) check() error {
	if p.Header == "" {
		p.Header = "X-Forwarded-For"
	}
	if !headerName(p.Header) {
		return &ConfigError{"address header", p.Header, "not a header name"}
	}
	p.Header = textproto.CanonicalMIMEHeaderKey(p.Header)
	if p.IPv6Prefix == 0 {
		p.IPv6Prefix = 64
	}
	if p.IPv6Prefix < 16 || p.IPv6Prefix > 128 {
		return &ConfigError{"IPv6 prefix", strconv.Itoa(p.IPv6Prefix), "want 16 to 128"}
	}
	return nil
}

// maxHops bounds how many proxies in a row are walked over.
const maxHops = 32

// of returns the address that r is counted under: an IPv4 address, an IPv6
// prefix, or unix.
//
// The walk begins at the peer and goes over trusted proxies from the right of
// the header, where the nearest wrote; what stands left of the first address
// that is not trusted was written by anybody and is not read. Where a trusted
// proxy wrote no address, the peer is the caller.
func (p *Proxies) of(r *http.Request) string {
	peer := address(r.RemoteAddr)
	if len(p.Trusted) == 0 && strings.IndexByte(peer, ':') < 0 {
		return peer // IPv4 as the system writes it
	}
	at, known := parseIP(peer)
	if !known {
		// The peers of a unix socket, or what no network gave.
		if !p.trustsUnix(peer) {
			return peer
		}
	} else if !p.trusts(at) {
		return p.shown(at)
	}
	lines := r.Header[p.Header]
	if len(lines) == 0 {
		return p.shownOr(at, known, peer)
	}
	hops := hopsOf(p.Header)
	walked, next := 0, at
	for i := len(lines) - 1; i >= 0; i-- {
		list, ok := hops(lines[i])
		if !ok {
			return p.shownOr(at, known, peer)
		}
		for j := len(list) - 1; j >= 0; j-- {
			walked++
			a, ok := parseNode(list[j])
			if !ok || walked > maxHops {
				return p.shownOr(at, known, peer)
			}
			next = a
			if !p.trusts(a) {
				return p.shown(a)
			}
		}
	}
	return p.shownOr(next, known || walked > 0, peer)
}

func (p *Proxies) trusts(a netip.Addr) bool {
	for i := range p.Trusted {
		if !p.Trusted[i].unix && p.Trusted[i].prefix.Contains(a) {
			return true
		}
	}
	return false
}

func (p *Proxies) trustsUnix(peer string) bool {
	for i := range p.Trusted {
		if p.Trusted[i].unix && peer == "unix" {
			return true
		}
	}
	return false
}

// trustsPeer reports whether r comes from a listed proxy.
func (p *Proxies) trustsPeer(r *http.Request) bool {
	if len(p.Trusted) == 0 {
		return false
	}
	peer := address(r.RemoteAddr)
	a, known := parseIP(peer)
	return known && p.trusts(a) || !known && p.trustsUnix(peer)
}

// shown is the address that is counted under: this machine's own IPv6 address
// stays itself, since it shares its prefix with nobody.
func (p *Proxies) shown(a netip.Addr) string {
	if a.Is4() || p.IPv6Prefix >= 128 || a.IsLoopback() {
		return a.String()
	}
	prefix, err := a.Prefix(p.IPv6Prefix)
	if err != nil { // a zero IPv6Prefix that was never checked
		return a.String()
	}
	return prefix.String()
}

func (p *Proxies) shownOr(a netip.Addr, known bool, peer string) string {
	if !known {
		return peer
	}
	return p.shown(a)
}

// hopsOf is how to read one line of a header.
func hopsOf(header string) func(line string) ([]string, bool) {
	if header == "Forwarded" {
		return forwardedFor
	}
	return listed
}

// listed splits a line at its commas, and keeps as many of the last parts as
// are ever walked.
func listed(line string) ([]string, bool) {
	var last []string
	for len(last) <= maxHops {
		comma := strings.LastIndexByte(line, ',')
		last = append(last, line[comma+1:])
		if comma < 0 {
			break
		}
		line = line[:comma]
	}
	slices.Reverse(last)
	return last, true
}

// parseNode reads an address as proxies write it: alone, with a port, or an
// IPv6 one in brackets with or without one.
func parseNode(s string) (netip.Addr, bool) {
	s = strings.Trim(s, " \t")
	host, port, bracket := s, "", false
	if rest, ok := strings.CutPrefix(s, "["); ok {
		bracket = true
		if host, port, ok = strings.Cut(rest, "]"); !ok {
			return netip.Addr{}, false
		}
		if port != "" {
			if port, ok = strings.CutPrefix(port, ":"); !ok || !portLike(port) {
				return netip.Addr{}, false
			}
		}
	} else if strings.Count(s, ":") == 1 {
		if host, port, _ = strings.Cut(s, ":"); !portLike(port) {
			return netip.Addr{}, false
		}
	}
	a, ok := parseIP(host)
	if !ok || bracket && a.Is4() && !strings.Contains(host, ":") {
		return netip.Addr{}, false
	}
	return a, true
}

// portLike takes a port or an obfuscated one (RFC 7239, 6).
func portLike(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		digit := '0' <= c && c <= '9'
		hidden := s[0] == '_' && (digit || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '.' || c == '_' || c == '-')
		if !digit && !hidden {
			return false
		}
	}
	return s != "_"
}

// parseIP reads an address without its zone, an IPv4 one that is written as
// IPv6 as what it is.
func parseIP(s string) (netip.Addr, bool) {
	if len(s) > 64 {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}, false
	}
	return a.WithZone("").Unmap(), true
}

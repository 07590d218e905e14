package rules

import (
	"net/netip"
	"slices"
	"strings"
)

// ranges finds the longest address range that an address is in.
type ranges struct {
	limits map[netip.Prefix]*Limit
	v4, v6 []int // the lengths that occur, longest first
}

func (g *ranges) add(p netip.Prefix, l *Limit) {
	if g.limits == nil {
		g.limits = map[netip.Prefix]*Limit{}
	}
	g.limits[p] = l
	lengths := &g.v6
	if p.Addr().Is4() {
		lengths = &g.v4
	}
	if at, found := slices.BinarySearchFunc(*lengths, p.Bits(), func(have, want int) int { return want - have }); !found {
		*lengths = slices.Insert(*lengths, at, p.Bits())
	}
}

// find takes an address, or a range that a caller is known by.
func (g *ranges) find(address string) *Limit {
	addr, bits, ok := parseAddress(address)
	if !ok {
		return nil
	}
	lengths := g.v6
	if addr.Is4() {
		lengths = g.v4
	}
	for _, n := range lengths {
		if n > bits {
			continue
		}
		if p, err := addr.Prefix(n); err == nil {
			if l := g.limits[p]; l != nil {
				return l
			}
		}
	}
	return nil
}

// parseAddress reads an address or a range, IPv4 in IPv6 as IPv4.
func parseAddress(s string) (addr netip.Addr, bits int, ok bool) {
	if strings.IndexByte(s, '/') >= 0 {
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return addr, 0, false
		}
		addr, bits = p.Addr(), p.Bits()
		if addr.Is4In6() {
			if bits < 96 {
				return addr, bits, true
			}
			bits -= 96
		}
		return addr.Unmap(), bits, true
	}
	if i := strings.IndexByte(s, '%'); i >= 0 {
		s = s[:i] // a zone says which wire, not who
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return addr, 0, false
	}
	addr = addr.Unmap()
	return addr, addr.BitLen(), true
}

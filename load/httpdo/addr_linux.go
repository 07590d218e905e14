package httpdo

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// addr is a socket address as the kernel takes it.
type addr struct {
	family   int
	sockaddr unix.Sockaddr
}

// addrRing goes round the addresses of one target.
type addrRing struct {
	addrs []addr
	i     int
}

func (r *addrRing) next() addr {
	a := r.addrs[r.i%len(r.addrs)]
	r.i++
	return a
}

func ringOf(ips []netip.AddrPort) addrRing {
	var r addrRing
	for _, ip := range ips {
		if ip.Addr().Is4() {
			r.addrs = append(r.addrs, addr{unix.AF_INET, &unix.SockaddrInet4{Port: int(ip.Port()), Addr: ip.Addr().As4()}})
		} else {
			r.addrs = append(r.addrs, addr{unix.AF_INET6, &unix.SockaddrInet6{Port: int(ip.Port()), Addr: ip.Addr().As16()}})
		}
	}
	return r
}

func unixRing(path string) addrRing {
	return addrRing{addrs: []addr{{unix.AF_UNIX, &unix.SockaddrUnix{Name: path}}}}
}

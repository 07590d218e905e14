package httpdo

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
)

// UnreachableError is a target that could not be found before the run.
type UnreachableError struct {
	Target string
	Err    error
}

func (e *UnreachableError) Error() string { return fmt.Sprintf("target %s: %v", e.Target, e.Err) }
func (e *UnreachableError) Unwrap() error { return e.Err }

// Resolve looks up a target's addresses once, before the run, so that name
// service is no part of what is measured.
func Resolve(ctx context.Context, t *url.URL) ([]netip.AddrPort, error) {
	port := t.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[t.Scheme]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil, &UnreachableError{t.Host, fmt.Errorf("port %q is not a number from 1 to 65535", port)}
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", t.Hostname())
	if err != nil {
		return nil, &UnreachableError{t.Hostname(), err}
	}
	var out []netip.AddrPort
	for _, ip := range ips {
		out = append(out, netip.AddrPortFrom(ip.Unmap(), uint16(n)))
	}
	return out, nil
}

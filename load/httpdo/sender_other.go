//go:build !linux

package httpdo

import "net/netip"

func newSender(cfg *Config, _ [][]netip.AddrPort) (Sender, error) { return newPortable(cfg) }

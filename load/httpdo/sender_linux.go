package httpdo

import "net/netip"

func newSender(cfg *Config, ips [][]netip.AddrPort) (Sender, error) {
	if cfg.NeedsPortable() != "" {
		return newPortable(cfg)
	}
	rings := make([]addrRing, len(ips))
	for i := range ips {
		rings[i] = ringOf(ips[i])
		if cfg.Unix != "" {
			rings[i] = unixRing(cfg.Unix)
		}
	}
	return newEventLoop(cfg, rings)
}

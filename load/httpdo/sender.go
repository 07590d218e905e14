package httpdo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/weir-cli/weir/load"
)

// Sender is a load.Sender that knows how many connections it opened.
type Sender interface {
	load.Sender
	Opened() int64
}

// routes is never empty: a run without routes asks for the target's path.
func (c *Config) routes() []Route {
	if len(c.Routes) == 0 {
		return []Route{{}}
	}
	return c.Routes
}

// New makes the senders of a run, one per engine loop, that share the cap on
// connections. Names are looked up here, once.
func New(ctx context.Context, cfg Config, loops int) ([]Sender, error) {
	switch {
	case len(cfg.Targets) == 0:
		return nil, errors.New("no target")
	case cfg.Connections < loops:
		return nil, fmt.Errorf("%d connections for %d loops", cfg.Connections, loops)
	case cfg.Timeout <= 0:
		cfg.Timeout = 10 * time.Second
	}
	if cfg.MaxBody <= 0 {
		cfg.MaxBody = 1 << 20
	}
	if err := cfg.checkLines(); err != nil {
		return nil, err
	}
	ips, err := cfg.resolveAll(ctx)
	if err != nil {
		return nil, err
	}
	senders := make([]Sender, 0, loops)
	for i := range loops {
		own := cfg
		own.Connections = cfg.Connections / loops
		if i < cfg.Connections%loops {
			own.Connections++
		}
		s, err := newSender(&own, ips)
		if err != nil {
			for _, s := range senders {
				_ = s.Close()
			}
			return nil, err
		}
		senders = append(senders, s)
	}
	return senders, nil
}

// resolveAll looks the targets up, one entry each; a unix socket or a proxy
// needs no addresses.
func (c *Config) resolveAll(ctx context.Context) ([][]netip.AddrPort, error) {
	all := make([][]netip.AddrPort, len(c.Targets))
	if c.Unix != "" || c.Proxy != nil {
		return all, nil
	}
	for i, t := range c.Targets {
		ips, err := Resolve(ctx, t)
		if err != nil {
			return nil, err
		}
		all[i] = ips
	}
	return all, nil
}

// checkLines refuses fields that would break out of their line.
func (c *Config) checkLines() error {
	for _, l := range append(c.header(), c.Refused.Header) {
		for _, s := range []string{l.Name, l.Value} {
			if err := checkKey(s); err != nil {
				return fmt.Errorf("header %q: %w", l.Name, err)
			}
		}
	}
	return nil
}

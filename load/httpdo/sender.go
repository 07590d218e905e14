package httpdo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
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

// checkLines refuses what would break out of its line, and the fields that
// weir writes itself. The errors do not repeat values, which may be secrets.
func (c *Config) checkLines() error {
	if !isToken(c.Method) {
		return fmt.Errorf("method %q is not an HTTP method", c.Method)
	}
	for _, l := range c.header() {
		switch {
		case !isToken(l.Name):
			return fmt.Errorf("header name %q is not a token", l.Name)
		case strings.EqualFold(l.Name, "content-length"), strings.EqualFold(l.Name, "transfer-encoding"):
			return fmt.Errorf("header %s is written by weir itself", l.Name)
		case hasControl(l.Value):
			return fmt.Errorf("the value of header %s holds a control character, which cannot be sent", l.Name)
		}
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 && r != '\t' || r == 0x7f })
}

// isToken reports whether s is a token as RFC 9110, 5.6.2 defines it, braces
// allowed for the variables of a template.
func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune("()<>@,;:\\\"/[]?=", r)
	})
}

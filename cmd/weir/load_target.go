package main

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
)

// smallRate is what a stranger may be sent without a word: requests a second.
const smallRate = 10

// parseTargets reads the URLs of a run. unix:PATH, as weir serve prints it,
// is short for --unix PATH and a URL.
func (o *loadOptions) parseTargets(args []string) ([]*url.URL, error) {
	var out []*url.URL
	for _, s := range args {
		if path, ok := strings.CutPrefix(s, "unix:"); ok {
			if len(args) > 1 || path == "" {
				return nil, usagef("weir load unix:PATH", "a unix socket is a run's only target")
			}
			o.sender.unix, s = path, "http://localhost/"
		}
		full := s
		if !strings.Contains(s, "://") {
			full = "http://" + s
		}
		u, err := url.Parse(full)
		if err != nil {
			// url.Error repeats the whole URL, which may hold a password.
			return nil, usagef("weir load http://127.0.0.1:8080/", "a target is not a URL: %v", unwrapURL(err))
		}
		if u.Scheme != "http" && u.Scheme != "https" {
			return nil, usagef("weir load http://127.0.0.1:8080/", "target scheme %q is not http or https", u.Scheme)
		}
		if u.Hostname() == "" {
			return nil, usagef("weir load http://127.0.0.1:8080/", "target %q has no host", redactURL(u))
		}
		out = append(out, u)
	}
	return out, nil
}

func unwrapURL(err error) error {
	if e, ok := err.(*url.Error); ok {
		return e.Err
	}
	return err
}

// checkOwned refuses to flood hosts that are neither near nor stated to be
// the user's own. rate is the most requests a second the plan can send, or
// below 0 when only the answers bound it.
func (o *loadOptions) checkOwned(ctx context.Context, targets []*url.URL, rate float64) error {
	if o.sender.unix != "" || rate >= 0 && rate <= smallRate {
		return nil
	}
	for _, t := range targets {
		if slices.Contains(o.owned, t.Hostname()) || slices.Contains(o.owned, t.Host) {
			continue
		}
		near, err := isNear(ctx, t)
		if err != nil {
			return err
		}
		if !near {
			return usagef(fmt.Sprintf("add --owned %s if it is yours to load, or --rate 10/s", t.Hostname()),
				"%s is not a loopback or private address, and this plan can send more than %d requests a second", t.Hostname(), smallRate)
		}
	}
	return nil
}

// isNear reports whether all addresses of a target are loopback, private or
// link-local.
func isNear(ctx context.Context, t *url.URL) (bool, error) {
	ips, err := httpdo.Resolve(ctx, t)
	if err != nil {
		return false, targetError(err)
	}
	return !slices.ContainsFunc(ips, func(ip netip.AddrPort) bool {
		a := ip.Addr()
		return !a.IsLoopback() && !a.IsPrivate() && !a.IsLinkLocalUnicast()
	}), nil
}

// targetError says that a target could not be found.
func targetError(err error) error {
	return reachError(err, "check the host and port, or start one to try: weir serve --limit 10/s,burst=20")
}

// peakRate is the most requests a second that a plan sends by itself, or -1
// when only the answers bound it.
func peakRate(p *load.Plan) float64 {
	o := p.Outline(0)
	if o.PeakOf < o.Planned {
		return -1
	}
	rate := float64(o.PeakPerSecond)
	for i := range p.Populations {
		pop := &p.Populations[i]
		if strings.Contains(pop.Behaviour, "storm") {
			return -1
		}
		if pop.Open {
			continue
		}
		if pop.Arrivals.Think <= 0 {
			return -1
		}
		rate += float64(pop.Clients) / pop.Arrivals.Think.Seconds()
	}
	return rate
}

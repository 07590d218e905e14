package gateway

import (
	"slices"

	"github.com/weir-cli/weir/limit"
)

// check refuses a switch that would have no effect in this fleet.
func (w *Wrong) check(c Config) error {
	no := func(name, why string) error { return &ConfigError{"wrong", name, why} }
	var all []limit.Algorithm // of the limits that are promised
	for _, l := range c.set().Limits() {
		if !slices.Contains(all, l.Spec.Algorithm) {
			all = append(all, l.Spec.Algorithm)
		}
	}
	only := func(a limit.Algorithm) bool { return len(all) == 1 && all[0] == a }
	clock := "fast-clock"
	if w.ClockSkew != 0 {
		clock = "clock-skew"
	}
	switch {
	case w.FastClock != 0 && w.ClockSkew != 0:
		return no(clock, "there is a fast-clock already")
	case w.skewed() && (!c.Design.shared() || c.Gateways < 2):
		return no(clock, "needs --design central and at least two gateways: clocks only matter to a store that several share")
	case w.skewed() && !only(limit.TokenBucket):
		return no(clock, "needs a token bucket")
	case w.skewed() && c.Design.leases():
		return no(clock, "needs requests that the store decides, which leases save")
	case w.Race != 0 && slices.Contains(all, limit.Concurrency):
		return no("race", "does not work with a concurrency limit")
	case w.Race != 0 && c.Redis != nil && !only(limit.TokenBucket):
		return no("race", "needs token buckets in Redis")
	case w.CountRefusals && (slices.Contains(all, limit.Concurrency)):
		return no("count-refusals", "does not work with a concurrency limit: its refusals hold nothing")
	case w.CountRefusals && (c.Rules != nil || c.Redis != nil || c.Design.leases()):
		return no("count-refusals", "works with one --limit that is kept in memory and not leased")
	case (w.ExpireOnce != 0 || w.ExpireRefresh) && (c.Redis == nil || !only(limit.FixedWindow)):
		return no(w.String(), "needs --redis and fixed windows: it is about the life of a count's key")
	case w.TwoCalls && len(c.set().Rules) < 2:
		return no("two-calls", "needs --rules with at least two: it is about a request under several limits")
	case w.VersionInKey && c.Rules == nil:
		return no("version-in-key", "needs --rules, which have a version")
	case w.RetryAfterDown && w.NoRetryAfter:
		return no("retry-after-down", "there is nothing to round with no-retry-after")
	}
	if n := w.calls(); len(n) > 1 {
		return no(n[0], "cannot be had together with "+n[1]+": both are about how the store is asked")
	}
	return nil
}

// calls lists the mistakes that are about how a store is asked.
func (w *Wrong) calls() (names []string) {
	for name, on := range map[string]bool{"race": w.Race != 0, "expire-once": w.ExpireOnce != 0, "expire-refresh": w.ExpireRefresh,
		"two-calls": w.TwoCalls, "count-refusals": w.CountRefusals} {
		if on {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

package main

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"
	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit"
)

// embeddedTimeout is how long a check may take where the store waits for the
// same processors as everything else.
const embeddedTimeout = time.Second

// storeOptions are the flags of weir serve about the store that the gateways
// share, and about what stands in for it.
type storeOptions struct {
	redis     *redisFlags
	timeout   time.Duration
	breaker   string
	onFailure string
	operate   *operateOptions
	rollout   time.Duration
	fleet     int
	anyway    bool
	changed   func(flag string) bool
}

func newStoreOptions(fs *pflag.FlagSet) *storeOptions {
	o := &storeOptions{redis: newRedisFlags(fs), changed: fs.Changed}
	fs.Lookup("redis").Usage += ", or embedded for one inside this process"
	fs.DurationVar(&o.timeout, "store-timeout", 50*time.Millisecond, "the `DURATION` that a check in Redis may take; 1s with embedded, which shares this process's processors")
	fs.StringVar(&o.breaker, "breaker", "5/1s", "`FAILURES/DURATION`: failures in a row after which a gateway ceases to ask Redis, and how often it looks again")
	fs.StringVar(&o.onFailure, "on-failure", "local", "what decides while Redis does not answer, the `MODE`: open (admit), closed (refuse), or local (each gateway's share of the limit), also as local,slack=20%")
	fs.IntVar(&o.fleet, "fleet", 0, "the `NUMBER` of gateways in all that share this Redis, those of other processes included (default those here): what a gateway's share of a limit is measured by")
	fs.BoolVar(&o.anyway, "start-without-redis", false, "start also while Redis does not answer; what --on-failure says, or each rule, decides until it does")
	o.operate = newOperateOptions(fs)
	fs.DurationVar(&o.rollout, "rules-rollout", 0, "the `DURATION` that new rules take from the first gateway to the last")
	return o
}

// config fills in what the flags say, but for the store itself.
func (o *storeOptions) config(c *gateway.Config) (err error) {
	if !o.redis.given() {
		for _, f := range []string{"store-timeout", "breaker", "on-failure", "fleet"} {
			if o.changed(f) {
				return usagef("weir serve --redis embedded --"+f+"="+o.text(f), "--%s says nothing without --redis: memory is not shared and does not fail", f)
			}
		}
	}
	if !o.redis.given() || o.redis.embedded() {
		for _, f := range []string{"redis-user", "redis-password-file", "redis-ca", "redis-cert", "redis-key", "redis-insecure", "start-without-redis"} {
			if o.changed(f) {
				return usagef("weir serve --redis redis://127.0.0.1:6379 --"+f+" …", "--%s says nothing without the --redis URL of a server", f)
			}
		}
	}
	if o.timeout <= 0 {
		return usagef("weir serve --store-timeout 50ms", "--store-timeout %v is not above zero", o.timeout)
	}
	if o.changed("fleet") && o.fleet < c.Gateways {
		return usagef("weir serve --gateways 1 --fleet 20", "--fleet %d is below the %d gateways that are here", o.fleet, c.Gateways)
	}
	c.Fleet = o.fleet
	if c.StoreTimeout = o.timeout; o.redis.embedded() && !o.changed("store-timeout") {
		c.StoreTimeout = embeddedTimeout
	}
	if c.Breaker, err = parseBreaker(o.breaker); err != nil {
		return err
	}
	if c.OnFailure, c.Slack, err = parseOnFailure(o.onFailure); err != nil {
		return err
	}
	c.Rollout = o.rollout
	if err := o.operate.check(o.redis.given()); err != nil {
		return err
	}
	if o.operate.rulesFrom == "" {
		if o.changed("rules-rollout") {
			return usagef("weir serve --rules-from rules.yaml --rules-rollout 10s", "--rules-rollout says nothing without --rules-from")
		}
		return nil
	}
	for _, f := range []string{"limit", "on-failure"} {
		if o.changed(f) {
			return usagef("weir serve --rules-from "+o.operate.rulesFrom, "--%s says nothing with --rules-from: each rule has its own", f)
		}
	}
	return nil
}

// text is a flag's value, for a hint.
func (o *storeOptions) text(flag string) string {
	switch flag {
	case "store-timeout":
		return o.timeout.String()
	case "breaker":
		return o.breaker
	case "fleet":
		return strconv.Itoa(o.fleet)
	}
	return o.onFailure
}

// open connects to the store, when there is one. done ends it.
func (o *storeOptions) open(ctx context.Context, a *app) (c redis.UniversalClient, note string, done func(), err error) {
	switch {
	case !o.redis.given():
		return nil, "", func() {}, nil
	case o.redis.embedded():
		e, err := gateway.StartEmbedded()
		if err != nil {
			return nil, "", nil, reachError(err, "")
		}
		return e.Client(), "embedded Redis: " + e.URL(), func() { _ = e.Close() }, nil // nothing is kept
	}
	c, away, err := o.redis.dial(ctx, a)
	switch {
	case err != nil:
		return nil, "", nil, err
	case away != nil && (!o.anyway || ctx.Err() != nil):
		_ = c.Close() // why it cannot be used is known already
		return nil, "", nil, away
	case away != nil:
		events(a).Printf("%s: starting without it", printable(away.Error()))
	}
	return c, "", func() { _ = c.Close() }, nil // what it was asked is done
}

// kept says where limits are kept, without a password.
func (o *storeOptions) kept() string {
	switch {
	case !o.redis.given():
		return "this process's memory"
	case o.redis.embedded():
		return "a Redis inside this process, gone at its end"
	}
	return o.redis.url.String()
}

// parseBreaker reads 5/1s.
func parseBreaker(text string) (limit.BreakerRule, error) {
	bad := func(why string) (limit.BreakerRule, error) {
		return limit.BreakerRule{}, usagef("weir serve --redis embedded --breaker 5/1s", "--breaker %q %s", text, why)
	}
	failures, every, ok := strings.Cut(text, "/")
	if !ok {
		return bad("is not FAILURES/DURATION")
	}
	n, err := strconv.Atoi(failures)
	if err != nil || n < 1 || n > math.MaxInt32 {
		return bad("has no count of failures above zero")
	}
	d, err := time.ParseDuration(every)
	if err != nil || d <= 0 || d > 24*time.Hour {
		return bad("has no time between two looks, above zero and at most a day")
	}
	return limit.BreakerRule{Failures: n, Every: d}, nil
}

// parseOnFailure reads open, closed, local or local,slack=20%.
func parseOnFailure(text string) (limit.FailMode, limit.Fraction, error) {
	const hint = "weir serve --redis embedded --on-failure local,slack=20%"
	name, more, given := strings.Cut(text, ",")
	mode, err := limit.ParseFailMode(name)
	if err != nil {
		return 0, limit.Fraction{}, usageError(err, hint)
	}
	if !given {
		return mode, limit.Whole(1), nil
	}
	value, isSlack := strings.CutPrefix(more, "slack=")
	n, err := strconv.ParseInt(strings.TrimSuffix(value, "%"), 10, 64)
	if mode != limit.FailLocal || !isSlack || err != nil || !strings.HasSuffix(value, "%") || n < 0 || n > 10_000 {
		return 0, limit.Fraction{}, usagef(hint, "--on-failure %q: after local there may be slack=PERCENT%%, from 0%% to 10000%%", text)
	}
	return mode, limit.Fraction{Num: 100 + n, Den: 100}, nil
}

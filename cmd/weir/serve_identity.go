package main

import (
	"errors"
	"log"

	"github.com/spf13/pflag"
	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// identityOptions are the flags of weir serve about who calls, what callers
// are told, and what is shed.
type identityOptions struct {
	keysFile     string
	unknownLimit string
	trusted      []string
	header       string
	ipv6Prefix   int
	retryAfter   string
	millis       bool
	security     bool
	shed         string
	changed      func(flag string) bool
}

func newIdentityOptions(fs *pflag.FlagSet) *identityOptions {
	o := &identityOptions{changed: fs.Changed}
	fs.StringVar(&o.keysFile, "keys-file", "", "take only the keys in this `FILE`, one a line: KEY PLAN [NAME]; others are answered 401. Read again when it changes")
	fs.StringVar(&o.unknownLimit, "unknown-limit", "10/s,burst=10", "the `LIMIT` on how often one address may come with a key that --keys-file does not have, on each gateway")
	fs.StringArrayVar(&o.trusted, "trust-proxy", nil, "believe what this `ADDRESS` or network, or unix, says about a caller's address (repeatable)")
	fs.StringVar(&o.header, "address-header", "X-Forwarded-For", "the `NAME` of the header where a trusted proxy says it: a list of addresses, or Forwarded")
	fs.IntVar(&o.ipv6Prefix, "ipv6-prefix", 64, "how many `BITS` of an IPv6 address are one caller")
	fs.StringVar(&o.retryAfter, "retry-after", "exact", "`HOW` Retry-After is chosen: exact, jitter=FRACTION or jitter=DURATION later, or slots[=REACH], a slot for each refused caller")
	fs.BoolVar(&o.millis, "retry-after-ms", false, "say waits in milliseconds as well, as retry-after-ms")
	fs.BoolVar(&o.security, "security-retry-after", false, "let refusals by security rules tell their wait")
	fs.StringVar(&o.shed, "shed", "", "`HOW` to spare what is behind: answer 503 above so many requests in flight in a gateway: inflight=N, or adaptive to follow how long answers take")
	return o
}

// config fills in what the flags say.
func (o *identityOptions) config(c *gateway.Config) (err error) {
	if o.changed("unknown-limit") {
		if o.keysFile == "" {
			return usagef("weir serve --keys-file keys.txt --unknown-limit "+o.unknownLimit, "--unknown-limit says nothing without --keys-file: every key is known")
		}
		if c.Unknown, err = limit.ParseSpec(o.unknownLimit); err != nil {
			return usageError(err, "weir serve --keys-file keys.txt --unknown-limit 10/s,burst=10")
		}
	}
	c.KeysFile = o.keysFile
	if o.changed("address-header") && len(o.trusted) == 0 {
		return usagef("weir serve --trust-proxy 10.0.0.0/8 --address-header "+o.header, "--address-header says nothing without --trust-proxy: nobody's word is taken")
	}
	if o.ipv6Prefix < 1 {
		return usagef("weir serve --ipv6-prefix 64", "--ipv6-prefix %d is below 1", o.ipv6Prefix)
	}
	c.Proxies = gateway.Proxies{Header: o.header, IPv6Prefix: o.ipv6Prefix}
	for _, s := range o.trusted {
		p, err := gateway.ParseProxy(s)
		if err != nil {
			return usageError(err, "weir serve --trust-proxy 10.0.0.0/8")
		}
		c.Proxies.Trusted = append(c.Proxies.Trusted, p)
	}
	if c.RetryAfter, err = gateway.ParseRetryAfter(o.retryAfter); err != nil {
		return usageError(err, "weir serve --retry-after slots")
	}
	c.RetryAfter.Millis, c.RetryAfter.Security = o.millis, o.security
	if o.shed == "" {
		return nil
	}
	if c.Shed, err = gateway.ParseShed(o.shed); err != nil {
		return usageError(err, "weir serve --latency 50ms --shed inflight=100")
	}
	return nil
}

// notice tells people what happens while the fleet serves.
func notice(a *app) func(string) {
	l := events(a)
	return func(line string) { l.Print(report.CleanLong(line)) }
}

// events writes what happens while a fleet serves, with when.
func events(a *app) *log.Logger { return log.New(a.stderr, "", log.LstdFlags|log.LUTC|log.Lmsgprefix) }

// keysError types what is wrong with a file of keys; ok is false for any other
// error.
func keysError(err error) (typed error, ok bool) {
	var keys *gateway.KeysError
	if !errors.As(err, &keys) {
		return nil, false
	}
	return usageError(err, "one key a line: KEY PLAN [NAME], where PLAN may be - and KEY may be sha256: and 64 hex digits"), true
}

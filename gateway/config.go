package gateway

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// Bounds of a Config.
const (
	MaxGateways = 1000
	MaxFleet    = 100_000
	MaxLatency  = 10 * time.Minute
	MaxCost     = 1_000_000_000

	defaultMaxCost = 1_000_000
	defaultMaxKeys = 1_000_000
	defaultMaxBody = 1 << 20
	maxHeaderBytes = 64 << 10
)

// Config describes a fleet. The zero value of every field but Limit is usable.
type Config struct {
	Gateways int // 0 is 1
	// Fleet is how many gateways share Redis, those of other processes
	// included: what a gateway's share of a limit, its leases and its slots are
	// measured by. 0 is Gateways.
	Fleet  int
	Limit  limit.Spec // what the whole fleet promises for one key
	Design Design     // how the gateways share it; zero is Local

	// Rules, when set, are what the fleet promises instead of Limit. They can
	// be replaced while it serves: see [Fleet.SetRules].
	Rules *rules.Set
	// Rollout is how long a new rule set takes from the first gateway to the
	// last, evenly; in between they disagree. 0 is at once.
	Rollout time.Duration

	// Redis, when set, is the store that the gateways share; the fleet's
	// owner closes it after Stop. nil keeps limits in this process.
	Redis redis.UniversalClient
	// StoreTimeout is how long one check may take; 0 is 50 ms.
	StoreTimeout time.Duration
	// Breaker says when a gateway ceases to ask a shard of the store that does
	// not answer. The zero value is [DefaultBreaker].
	Breaker limit.BreakerRule
	// OnFailure decides what the store does not, and Slack is what a gateway's
	// share is multiplied by then, at least 1 (its zero value is 1). Both go
	// with Limit: rules have their own.
	OnFailure limit.FailMode
	Slack     limit.Fraction
	// Seed makes what gateways draw repeatable.
	Seed int64

	// Listen is the first gateway's host:port; the others take the ports that
	// follow. Port 0 gives each a free port. "" is 127.0.0.1:0.
	Listen string
	// AllowRemote lets Listen name an address that other machines can reach.
	AllowRemote bool
	// Unix is a socket path that is used instead of Listen. With several
	// gateways a number from 1 is appended: PATH.1, PATH.2, …
	Unix string
	TLS  TLS

	Key  Key
	Cost Cost

	Dialect dialect.Style
	// Latency is how long an admitted request takes; with an upstream it is
	// added to the upstream's own time.
	Latency time.Duration
	// RefusalLatency is how long a refusal takes: 0 is the same as Latency,
	// negative is none.
	RefusalLatency time.Duration
	// Upstream, when set, answers admitted requests.
	Upstream *url.URL

	// KeysFile is a file of keys, see parseKeys; with it a key that it does
	// not have is answered 401. "" takes every key.
	KeysFile string
	// Unknown is how often one address may be answered 401, on each gateway.
	// The zero value is 10/s.
	Unknown limit.Spec
	Proxies Proxies
	// Notice is told, in a line each, what happens while the fleet serves: a
	// file that was read anew, or could not be. nil is nobody.
	Notice func(line string)

	RetryAfter RetryAfter
	Shed       Shed

	Wrong   Wrong
	Faults  Faults
	Observe Observe

	MaxKeys int   // keys counted by name; the rest are "other". 0 is 1,000,000
	MaxBody int64 // bytes of a request body that are read. 0 is 1 MiB
	// Judge is the promise that Result measures every key by, usually that of
	// Limit. nil keeps no result, which saves a little per request.
	Judge *report.Promise
	// HashKeys shows keys as short hashes in counts and results.
	HashKeys bool
	// Reset enables POST /-/reset.
	Reset bool
}

// ConfigError says which setting cannot be used, and why.
type ConfigError struct {
	Field, Value, Why string
}

func (e *ConfigError) Error() string {
	if e.Value == "" {
		return e.Field + ": " + e.Why
	}
	return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Why)
}

// ErrRemote is wrapped by the error that refuses to listen for other machines.
var ErrRemote = errors.New("other machines could reach this address")

// checked fills the defaults in and refuses what cannot work.
func (c Config) checked() (Config, error) {
	if c.Gateways == 0 {
		c.Gateways = 1
	}
	if c.Gateways < 0 || c.Gateways > MaxGateways {
		return c, &ConfigError{"gateways", strconv.Itoa(c.Gateways), fmt.Sprintf("want 1 to %d", MaxGateways)}
	}
	if c.Fleet == 0 {
		c.Fleet = c.Gateways
	}
	if c.Fleet < c.Gateways || c.Fleet > MaxFleet {
		return c, &ConfigError{"fleet", strconv.Itoa(c.Fleet), fmt.Sprintf("want %d, which are here, to %d", c.Gateways, MaxFleet)}
	}
	if err := c.checkStore(); err != nil {
		return c, err
	}
	if c.Latency < 0 || c.Latency > MaxLatency {
		return c, &ConfigError{"latency", c.Latency.String(), "want 0 to " + MaxLatency.String()}
	}
	switch {
	case c.RefusalLatency == 0:
		c.RefusalLatency = c.Latency
	case c.RefusalLatency < 0:
		c.RefusalLatency = 0
	case c.RefusalLatency > MaxLatency:
		return c, &ConfigError{"refusal latency", c.RefusalLatency.String(), "want at most " + MaxLatency.String()}
	}
	if u := c.Upstream; u != nil && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "") {
		return c, &ConfigError{"upstream", u.Redacted(), "want http://HOST or https://HOST"}
	}
	if c.MaxKeys < 0 || c.MaxBody < 0 {
		return c, &ConfigError{"max keys or max body", "", "must not be negative"}
	}
	if c.MaxKeys == 0 {
		c.MaxKeys = defaultMaxKeys
	}
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Rules == nil {
		if err := c.Limit.Validate(); err != nil {
			return c, err
		}
	}
	for _, check := range []func() error{
		c.Key.check, c.Cost.check, c.Faults.check, c.TLS.check, c.Observe.check,
		c.checkListen, c.Proxies.check, c.checkIdentity,
		func() error { return c.Shed.check(&c) }, func() error { return c.Wrong.check(c) },
	} {
		if err := check(); err != nil {
			return c, err
		}
	}
	if c.Cost.Max == 0 {
		c.Cost.Max = defaultMaxCost
	}
	return c, nil
}

// set is the rule set that the fleet begins with.
func (c Config) set() *rules.Set {
	if c.Rules != nil {
		return c.Rules
	}
	return rules.FromLimit(c.Limit, func(r *rules.Rule) {
		r.OnFailure = c.OnFailure
		if c.Slack.Num > 0 {
			r.Slack = c.Slack
		}
		r.Lease.On = c.Design.leases()
	})
}

func (c Config) checkListen() error {
	if c.Unix != "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return &ConfigError{"listen", c.Listen, "want HOST:PORT"}
	}
	p, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return &ConfigError{"listen", c.Listen, "want a port from 0 to 65535"}
	}
	if p != 0 && int(p)+c.Gateways-1 > math.MaxUint16 {
		return &ConfigError{"listen", c.Listen, fmt.Sprintf("%d ports from here end above 65535", c.Gateways)}
	}
	if !c.AllowRemote && !loopback(host) {
		return fmt.Errorf("listen %q: %w", c.Listen, ErrRemote)
	}
	return nil
}

// loopback reports whether only this machine can reach host. An empty host
// means every address, so it is not.
func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

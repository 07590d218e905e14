package gateway

import (
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// MaxStoreTimeout bounds how long a request may wait for one check.
const MaxStoreTimeout = time.Minute

// checkStore fills the defaults of the design and its store in, and refuses
// what cannot work together.
func (c *Config) checkStore() error {
	if int(c.Design) >= len(designs) {
		return &ConfigError{"design", c.Design.String(), "unknown"}
	}
	if c.Redis != nil && !c.Design.shared() {
		return &ConfigError{"design", c.Design.String(), "its gateways decide by themselves and ask no store; central, deny-cache and leases do"}
	}
	if c.StoreTimeout < 0 || c.StoreTimeout > MaxStoreTimeout {
		return &ConfigError{"store timeout", c.StoreTimeout.String(), "want more than 0 and at most " + MaxStoreTimeout.String()}
	}
	if c.StoreTimeout == 0 {
		c.StoreTimeout = redislimit.DefaultTimeout
	}
	if c.Breaker == (limit.BreakerRule{}) {
		c.Breaker = DefaultBreaker
	}
	if _, err := limit.NewBreaker(c.Breaker); err != nil {
		return err
	}
	if s := c.Slack; s.Num < 0 || s.Num > 0 && s.Num < s.Den {
		return &ConfigError{"slack", s.String(), "want at least 1: a share is not made smaller"}
	}
	if c.Rollout < 0 || c.Rollout > maxRollout {
		return &ConfigError{"rollout", c.Rollout.String(), "want 0 to " + maxRollout.String()}
	}
	return nil
}

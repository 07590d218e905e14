package gateway

import (
	"net/textproto"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Wrong makes a fleet wrong on purpose, to teach and to test what finds it.
// The zero value is right.
type Wrong struct {
	// FastClock is how far the first gateway's clock is ahead of the others',
	// with a central store that believes each caller's clock.
	FastClock time.Duration
	// Race is the gap between reading a bucket and writing it; everybody who
	// reads in the gap passes.
	Race           time.Duration
	RetryAfterDown bool // Retry-After rounded down, so it is too early
	NoRetryAfter   bool
	Status503      bool // instead of 429
	// CountRefusals lets a refusal consume like an admission, so that a client
	// that keeps knocking never recovers.
	CountRefusals bool
	// ForgeableKey is a header that replaces the key when a caller sends it.
	ForgeableKey string
}

// Defaults of the switches that take a value.
const (
	defaultFastClock = 500 * time.Millisecond
	defaultRace      = 2 * time.Millisecond
	defaultForgeable = "X-Forwarded-For"
)

// WrongNames are the switches that Set reads, as a help text shows them.
func WrongNames() []string {
	return []string{"fast-clock=DURATION", "race[=DURATION]", "retry-after-down", "no-retry-after",
		"status-503", "count-refusals", "forgeable-key[=HEADER]"}
}

// Set turns one switch on. It may be called once per switch.
func (w *Wrong) Set(s string) error {
	name, value, given := strings.Cut(s, "=")
	plain := map[string]*bool{
		"retry-after-down": &w.RetryAfterDown,
		"no-retry-after":   &w.NoRetryAfter,
		"status-503":       &w.Status503,
		"count-refusals":   &w.CountRefusals,
	}
	if on := plain[name]; on != nil {
		if given {
			return &ConfigError{"wrong", s, "takes no value"}
		}
		*on = true
		return nil
	}
	switch name {
	case "fast-clock":
		return setDuration(&w.FastClock, defaultFastClock, s, value, given)
	case "race":
		return setDuration(&w.Race, defaultRace, s, value, given)
	case "forgeable-key":
		w.ForgeableKey = defaultForgeable
		if given {
			w.ForgeableKey = value
		}
		if !headerName(w.ForgeableKey) {
			return &ConfigError{"wrong", s, "not a header name"}
		}
		return nil
	}
	return &ConfigError{"wrong", s, "want one of " + strings.Join(WrongNames(), ", ")}
}

func setDuration(to *time.Duration, otherwise time.Duration, s, value string, given bool) error {
	*to = otherwise
	if !given {
		return nil
	}
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 || d > time.Hour {
		return &ConfigError{"wrong", s, "want a duration above 0 and at most 1h"}
	}
	*to = d
	return nil
}

// String lists what is on, in the form that Set reads, separated by commas.
func (w Wrong) String() string {
	var on []string
	add := func(is bool, s string) {
		if is {
			on = append(on, s)
		}
	}
	add(w.FastClock != 0, "fast-clock="+w.FastClock.String())
	add(w.Race != 0, "race="+w.Race.String())
	add(w.RetryAfterDown, "retry-after-down")
	add(w.NoRetryAfter, "no-retry-after")
	add(w.Status503, "status-503")
	add(w.CountRefusals, "count-refusals")
	add(w.ForgeableKey != "", "forgeable-key="+w.ForgeableKey)
	return strings.Join(on, ",")
}

// check refuses a switch that would have no effect in this fleet.
func (w *Wrong) check(c Config) error {
	a := c.Limit.Algorithm
	switch {
	case w.FastClock != 0 && (c.Design != Central || c.Gateways < 2):
		return &ConfigError{"wrong", "fast-clock", "needs --design central and at least two gateways: clocks only matter to a store that several share"}
	case w.FastClock != 0 && a != limit.TokenBucket:
		return &ConfigError{"wrong", "fast-clock", "needs a token bucket"}
	case w.Race != 0 && a == limit.Concurrency:
		return &ConfigError{"wrong", "race", "does not work with a concurrency limit"}
	case w.CountRefusals && a == limit.Concurrency:
		return &ConfigError{"wrong", "count-refusals", "does not work with a concurrency limit: its refusals hold nothing"}
	case w.RetryAfterDown && w.NoRetryAfter:
		return &ConfigError{"wrong", "retry-after-down", "there is nothing to round with no-retry-after"}
	}
	return nil
}

func canonicalOrNone(name string) string {
	if name == "" {
		return ""
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

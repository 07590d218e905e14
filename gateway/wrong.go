package gateway

import (
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

// Wrong makes a fleet wrong on purpose, to teach and to test what finds it.
// The zero value is right.
type Wrong struct {
	// FastClock is how far the first gateway's clock is ahead of the others',
	// with a central store that believes each caller's clock.
	FastClock time.Duration
	// ClockSkew is how far the last gateway's clock is ahead of the first's,
	// the others evenly in between, with such a store.
	ClockSkew time.Duration
	// Race is the gap between reading a bucket and writing it; everybody who
	// reads in the gap passes.
	Race           time.Duration
	RetryAfterDown bool // Retry-After rounded down, so it is too early
	NoRetryAfter   bool
	Status503      bool // instead of 429
	// CountRefusals lets a refusal consume like an admission, so that a client
	// that keeps knocking never recovers.
	CountRefusals bool
	// ExpireOnce counts in Redis with INCRBY and, only on a window's first
	// call, EXPIRE: every so manieth first call dies in between. 0 is right.
	ExpireOnce int64
	// ExpireRefresh sets the life of a count in Redis anew on every call.
	ExpireRefresh bool
	// TwoCalls asks about each limit of a request in a call of its own.
	TwoCalls bool
	// VersionInKey gives every version of the rules buckets of its own.
	VersionInKey bool
	// ForgeableKey is a header that replaces the key when a caller sends it.
	ForgeableKey string
}

// Defaults of the switches that take a value.
const (
	defaultFastClock = 500 * time.Millisecond
	defaultRace      = 2 * time.Millisecond
	defaultClockSkew = 2 * time.Second
	defaultForgeable = "X-Forwarded-For"
	mostWindows      = 1_000_000
)

// WrongNames are the switches that Set reads, as a help text shows them.
func WrongNames() []string {
	return []string{"fast-clock=DURATION", "clock-skew=DURATION", "race[=DURATION]", "expire-once[=N]", "expire-refresh",
		"two-calls", "version-in-key", "retry-after-down", "no-retry-after",
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
		"expire-refresh":   &w.ExpireRefresh,
		"two-calls":        &w.TwoCalls,
		"version-in-key":   &w.VersionInKey,
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
	case "clock-skew":
		return setDuration(&w.ClockSkew, defaultClockSkew, s, value, given)
	case "expire-once":
		w.ExpireOnce = 1
		if !given {
			return nil
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > mostWindows {
			return &ConfigError{"wrong", s, "want every how manieth window, from 1 to " + strconv.Itoa(mostWindows)}
		}
		w.ExpireOnce = n
		return nil
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
	add(w.ClockSkew != 0, "clock-skew="+w.ClockSkew.String())
	add(w.Race != 0, "race="+w.Race.String())
	add(w.ExpireOnce != 0, "expire-once="+strconv.FormatInt(w.ExpireOnce, 10))
	add(w.ExpireRefresh, "expire-refresh")
	add(w.TwoCalls, "two-calls")
	add(w.VersionInKey, "version-in-key")
	add(w.RetryAfterDown, "retry-after-down")
	add(w.NoRetryAfter, "no-retry-after")
	add(w.Status503, "status-503")
	add(w.CountRefusals, "count-refusals")
	add(w.ForgeableKey != "", "forgeable-key="+w.ForgeableKey)
	return strings.Join(on, ",")
}

func canonicalOrNone(name string) string {
	if name == "" {
		return ""
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

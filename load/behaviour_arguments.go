package load

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// arguments are what follows a name. build takes what it knows; what is left
// in rest, or a problem, makes the text invalid.
type arguments struct {
	name    string
	rest    []string
	problem string
}

func parseArguments(part string) (*arguments, string) {
	i := strings.IndexAny(part, ":,")
	if i < 0 {
		return &arguments{name: part}, ""
	}
	a := &arguments{name: part[:i], rest: strings.Split(part[i+1:], ",")}
	if slices.Contains(a.rest, "") {
		return nil, "an empty argument"
	}
	return a, ""
}

// value takes the next argument that is neither a flag nor key=value.
func (a *arguments) value() (string, bool) {
	if len(a.rest) == 0 || a.rest[0][0] < '0' || a.rest[0][0] > '9' {
		return "", false
	}
	s := a.rest[0]
	a.rest = a.rest[1:]
	return s, true
}

// option takes key=value.
func (a *arguments) option(key string) (string, bool) {
	for i, s := range a.rest {
		if v, ok := strings.CutPrefix(s, key+"="); ok {
			a.rest = append(a.rest[:i:i], a.rest[i+1:]...)
			return v, true
		}
	}
	return "", false
}

func (a *arguments) flag(name string) bool {
	for i, s := range a.rest {
		if s == name {
			a.rest = append(a.rest[:i:i], a.rest[i+1:]...)
			return true
		}
	}
	return false
}

func (a *arguments) bad(problem string) {
	if a.problem == "" {
		a.problem = problem
	}
}

// longestArgument is the longest time a behaviour can be given.
const longestArgument = 365 * 24 * time.Hour

// duration takes the next value, or def.
func (a *arguments) duration(def time.Duration) time.Duration {
	s, ok := a.value()
	if !ok {
		return def
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		a.bad(quote(s) + " is not a duration such as 100ms or 2s")
	case d <= 0:
		a.bad("a wait of " + s + " is not above zero; storm comes back at once")
	case d > longestArgument:
		a.bad("a wait of " + s + " is above a year")
	default:
		return d
	}
	return def
}

// baseAndCap takes both times of a backoff and checks their order. A base
// alone that is above the default cap raises it.
func (a *arguments) baseAndCap(base, cap time.Duration) (time.Duration, time.Duration) {
	base = a.duration(base)
	if cap < base {
		cap = base
	}
	cap = a.duration(cap)
	if cap < base {
		a.bad("the cap " + durationText(cap) + " is below the base " + durationText(base))
	}
	return base, cap
}

// count takes key=N within lo..hi, or def.
func (a *arguments) count(key string, lo, hi, def int64) int64 {
	s, ok := a.option(key)
	if !ok {
		return def
	}
	return a.whole(key, s, lo, hi, def)
}

func (a *arguments) whole(what, s string, lo, hi, def int64) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < lo || n > hi {
		a.bad(what + " " + quote(s) + " is not a whole number from " + strconv.FormatInt(lo, 10) + " to " + strconv.FormatInt(hi, 10))
		return def
	}
	return n
}

// millionths reads a decimal of at most six places exactly.
func (a *arguments) millionths(what, s string, lo, hi int64) int64 {
	n, ok := parseMillionths(s)
	if !ok {
		a.bad(what + " " + quote(s) + " is not a decimal number of at most six places")
		return lo
	}
	if n < lo || n > hi {
		a.bad(what + " " + s + " is not from " + millionthsText(lo) + " to " + millionthsText(hi))
		return lo
	}
	return n
}

func parseMillionths(s string) (int64, bool) {
	whole, frac, point := strings.Cut(s, ".")
	if whole == "" || len(whole) > 9 || len(frac) > 6 || point && frac == "" {
		return 0, false
	}
	for _, c := range []byte(whole + frac) {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	n, err := strconv.ParseInt(whole+frac+"000000"[len(frac):], 10, 64)
	return n, err == nil
}

func millionthsText(n int64) string {
	s := strconv.FormatInt(n/token, 10)
	if n%token == 0 {
		return s
	}
	frac := strconv.FormatInt(token+n%token, 10)[1:]
	return s + "." + strings.TrimRight(frac, "0")
}

// attempts takes attempts=N and returns its canonical text.
func (a *arguments) attempts(c *client) string {
	n := a.count("attempts", 1, 1_000_000, 0)
	if n == 0 {
		return ""
	}
	c.attempts = int(n)
	return ",attempts=" + strconv.FormatInt(n, 10)
}

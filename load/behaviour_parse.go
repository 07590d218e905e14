package load

import (
	"strconv"
	"strings"
	"time"
)

// maxBehaviourText bounds what is parsed and quoted back.
const maxBehaviourText = 200

// ParseBehaviour reads a behaviour:
//
//	behaviour = part { "+" part }          one base or preset, any wrappers
//	part      = name [ ( ":" | "," ) argument { "," argument } ]
//	argument  = value | flag | key "=" value
//
// The order of the parts does not matter: a breaker moves a retry first, then
// the limits cap it, then the budget pays for it. Arguments left out have
// defaults. Examples:
//
//	storm
//	storm,attempts=5
//	full-jitter:100ms,10s
//	retry-after,jitter=0.25
//	retry-after:100ms,10s,spread           own backoff for answers without a hint
//	go-retryablehttp,attempts=8
//	full-jitter:100ms,10s+budget:0.1+breaker:5,1s
//
// [Behaviours] lists every name. The String of the result is canonical, with
// the defaults that matter written out, and parses to the same behaviour. An
// error is a *[BehaviourError].
func ParseBehaviour(text string) (Behaviour, error) {
	fail := func(part, problem, try string) error {
		return &BehaviourError{Text: text, Part: part, Problem: problem, Try: try}
	}
	if len(text) > maxBehaviourText {
		return nil, fail("", "longer than "+strconv.Itoa(maxBehaviourText)+" bytes", "")
	}
	c := &client{}
	var wrappers [wrapperOrder]string
	for part := range strings.SplitSeq(text, "+") {
		a, err := parseArguments(part)
		if err != "" {
			return nil, fail(part, err, "")
		}
		f := findForm(a.name)
		switch {
		case f == nil && a.name == "":
			return nil, fail(part, "no name", "")
		case f == nil:
			e := &BehaviourError{Text: text, Part: a.name, Problem: "no such behaviour", Near: nearest(a.name, formNames())}
			return nil, e
		case f.wrap > 0 && wrappers[f.wrap] != "":
			return nil, fail(part, "a second "+f.wrap.String(), "use one "+f.wrap.String())
		case f.wrap == 0 && c.rule != nil:
			return nil, fail(part, "a second base behaviour", "use one base behaviour; only wrappers can be added to it: "+wrapperNames())
		}
		canonical := f.build(c, a)
		if a.problem == "" && len(a.rest) > 0 {
			a.problem = "unknown argument " + quote(a.rest[0])
		}
		if a.problem != "" {
			return nil, fail(part, a.problem, "write it as "+f.info.Syntax)
		}
		if f.wrap > 0 {
			wrappers[f.wrap] = canonical
		} else {
			c.text = canonical
		}
	}
	if c.rule == nil {
		return nil, fail("", "only wrappers, and nothing that they wrap", "for example storm+"+text)
	}
	if wrappers[wrapPurse] != "" && c.own.kind != free {
		return nil, fail(wrappers[wrapPurse], "this client has a retry quota of its own", "leave the budget away, or take another behaviour")
	}
	if c.own.kind != free {
		c.purse = c.own
	}
	for _, w := range wrappers {
		if w != "" {
			c.text += "+" + w
		}
	}
	return c, nil
}

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
	for _, s := range a.rest {
		if s == "" {
			return nil, "an empty argument"
		}
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

package load

import (
	"strings"
	"time"
)

// The kinds of [BehaviourInfo].
const (
	KindBase    = "behaviour"
	KindWrapper = "wrapper"
	KindPreset  = "preset"
)

// BehaviourInfo describes one name that ParseBehaviour knows.
type BehaviourInfo struct {
	Name   string
	Syntax string // with the defaults as the values
	About  string // one line
	Kind   string // KindBase, KindWrapper or KindPreset
}

// Behaviours lists what ParseBehaviour knows: bases, wrappers, then presets
// of widely used clients.
func Behaviours() []BehaviourInfo {
	out := make([]BehaviourInfo, len(forms))
	for i, f := range forms {
		out[i] = f.info
	}
	return out
}

// form is one name of the grammar. build takes its arguments out of a, sets
// c, and returns the part's canonical text.
type form struct {
	info  BehaviourInfo
	wrap  wrapperKind // 0 for a base or preset
	build func(c *client, a *arguments) string
}

// wrapperKind is a wrapper's place in canonical text; one of each at most.
type wrapperKind uint8

const (
	wrapBreaker wrapperKind = 1 + iota
	wrapPurse
	wrapperOrder
)

func (w wrapperKind) String() string {
	if w == wrapBreaker {
		return "breaker"
	}
	return "budget or throttle"
}

var forms = append([]form{
	base("give-up", "give-up", "never tries again", func(c *client, a *arguments) string {
		c.rule = giveUp{}
		return "give-up"
	}),
	base("storm", "storm[,attempts=N]", "tries again at once; 10ms after a failure", func(c *client, a *arguments) string {
		c.rule = storm{}
		return "storm" + a.attempts(c)
	}),
	base("fixed", "fixed:1s[,attempts=N]", "always waits the same time", func(c *client, a *arguments) string {
		d := a.duration(time.Second)
		c.rule = backoff{shape: fixedWait, base: d, cap: d}
		return "fixed:" + durationText(d) + a.attempts(c)
	}),
	backoffForm("linear", linearWait, "BASE, 2 BASE, 3 BASE, ... up to CAP"),
	backoffForm("exponential", noJitter, "BASE, doubled at each retry, up to CAP"),
	backoffForm("equal-jitter", equalJitter, "half of exponential, plus a random time up to that half"),
	backoffForm("full-jitter", fullJitter, "a random time up to exponential"),
	backoffForm("decorrelated-jitter", decorrelatedJitter, "a random time from BASE to three times the last wait, up to CAP"),
	base("retry-after", "retry-after[:100ms,10s][,jitter=FRACTION|,spread][,attempts=N]",
		"waits as the server asks; jitter comes up to that share later, spread anywhere within the wait; backs off on its own without a hint", buildObey),
	{
		info: BehaviourInfo{"breaker", "breaker:5,1s[,refusals]", "after that many failures in a row sends nothing for that time, then one probe; refusals count with the flag", KindWrapper},
		wrap: wrapBreaker, build: buildBreaker,
	},
	{
		info: BehaviourInfo{"budget", "budget:0.1[,start=1][,max=10]", "a success pays for that share of a retry; a retry takes a whole one", KindWrapper},
		wrap: wrapPurse, build: buildBudget,
	},
	{
		info: BehaviourInfo{"throttle", "throttle:2", "lets a retry go the likelier, the more attempts fail beyond K times the admitted ones", KindWrapper},
		wrap: wrapPurse, build: buildThrottle,
	},
}, presetForms()...)

func base(name, syntax, about string, build func(*client, *arguments) string) form {
	return form{info: BehaviourInfo{name, syntax, about, KindBase}, build: build}
}

const (
	defaultBase = 100 * time.Millisecond
	defaultCap  = 10 * time.Second
)

func backoffForm(name string, s shape, about string) form {
	return base(name, name+":100ms,10s[,attempts=N]", about, func(c *client, a *arguments) string {
		lo, hi := a.baseAndCap(defaultBase, defaultCap)
		c.rule = backoff{shape: s, base: lo, cap: hi}
		return name + ":" + durationText(lo) + "," + durationText(hi) + a.attempts(c)
	})
}

func findForm(name string) *form {
	for i := range forms {
		if forms[i].info.Name == name {
			return &forms[i]
		}
	}
	return nil
}

func formNames() []string {
	names := make([]string, len(forms))
	for i, f := range forms {
		names[i] = f.info.Name
	}
	return names
}

func wrapperNames() string {
	var names []string
	for _, f := range forms {
		if f.wrap > 0 {
			names = append(names, f.info.Name)
		}
	}
	return strings.Join(names, ", ")
}

package load

import (
	"strconv"
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

func buildObey(c *client, a *arguments) string {
	lo, hi := a.baseAndCap(defaultBase, defaultCap)
	b := obey{own: backoff{shape: noJitter, base: lo, cap: hi}}
	text := "retry-after"
	if lo != defaultBase || hi != defaultCap {
		text += ":" + durationText(lo) + "," + durationText(hi)
	}
	if s, ok := a.option("jitter"); ok {
		b.jitter = a.millionths("jitter", s, 1, 10*token)
		text += ",jitter=" + millionthsText(b.jitter)
	}
	if a.flag("spread") {
		if b.jitter != 0 {
			a.bad("spread and jitter together; spread already covers the whole wait")
		}
		b.spread, b.own.shape = true, equalJitter
		text += ",spread"
	}
	c.rule = b
	return text + a.attempts(c)
}

func buildBreaker(c *client, a *arguments) string {
	b := breaker{after: 5, refusals: a.flag("refusals")}
	if s, ok := a.value(); ok {
		b.after = int32(a.whole("the number of failures", s, 1, 1_000_000, 5))
	}
	b.open = a.duration(time.Second)
	c.breaker = b
	text := "breaker:" + strconv.Itoa(int(b.after)) + "," + durationText(b.open)
	if b.refusals {
		text += ",refusals"
	}
	return text
}

// A new caller may retry once on credit, and a purse saves up ten retries.
const (
	budgetStart = 1
	budgetMax   = 10
)

func buildBudget(c *client, a *arguments) string {
	p := purse{kind: budgetPurse, ratio: token / 10}
	if s, ok := a.value(); ok {
		p.ratio = a.millionths("the ratio", s, 0, 100*token)
	}
	start := a.count("start", 0, 1_000_000, budgetStart)
	most := a.count("max", 1, 1_000_000, max(budgetMax, start))
	if most < start {
		a.bad("it starts with more than it can hold")
	}
	p.start, p.max = start*token, most*token
	c.purse = p
	text := "budget:" + millionthsText(p.ratio)
	if start != budgetStart {
		text += ",start=" + strconv.FormatInt(start, 10)
	}
	if most != max(budgetMax, start) {
		text += ",max=" + strconv.FormatInt(most, 10)
	}
	return text
}

func buildThrottle(c *client, a *arguments) string {
	p := purse{kind: adaptivePurse, ratio: 2 * token}
	if s, ok := a.value(); ok {
		p.ratio = a.millionths("the multiplier", s, token, 100*token)
	}
	c.purse = p
	return "throttle:" + millionthsText(p.ratio)
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

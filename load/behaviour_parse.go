package load

import (
	"strconv"
	"strings"
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

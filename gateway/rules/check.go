package rules

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Against is what a set is checked for. The zero value checks it by itself.
type Against struct {
	Now int64 // Unix ns; 0 leaves out what hangs on the date
	// Gateways is how many there will be; 0 leaves out what hangs on that.
	Gateways int
	// Exact tells why the store cannot hold a limit exactly; nil when nothing
	// is known of the store.
	Exact func(limit.Spec) error
}

// year is the longest that an override may be granted for.
const year = 366 * 24 * time.Hour

// maxProblems is how many are told; a file with more of them needs no more.
const maxProblems = 200

// Check tells what is wrong with a set that can be read, in the order of its
// text.
func (s *Set) Check(o Against) []Problem {
	c := checker{set: s, Against: o, granted: map[string][]*Limit{}}
	for _, v := range s.Overrides {
		if o.Now == 0 || !v.Expired(o.Now) {
			c.granted[v.Rule] = append(c.granted[v.Rule], v.Limit)
		}
	}
	if s.Version < 1 {
		c.found(Fault, "version-zero", nil, 1, "the version is 0", "gateways take a copy only when its version is above the one they have", "version: 1")
	}
	for _, r := range s.Rules {
		c.rule(r)
	}
	for i, r := range s.Rules {
		c.twin(r, s.Rules[:i])
	}
	for _, v := range s.Overrides {
		c.override(v)
	}
	c.exact()
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return a.Line - b.Line })
	return c.problems
}

type checker struct {
	Against
	set      *Set
	granted  map[string][]*Limit // by rule, the overrides that count
	problems []Problem
}

func (c *checker) found(severity Severity, id string, r *Rule, line int, what, why, fix string) {
	if len(c.problems) >= maxProblems {
		return
	}
	p := Problem{Severity: severity, ID: id, Line: line, What: what, Why: why, Fix: fix}
	if r != nil {
		p.Rule = r.Name
	}
	c.problems = append(c.problems, p)
}

func (c *checker) rule(r *Rule) {
	if r.def == nil {
		c.found(Fault, "no-default", r, r.line, "the rule has no default",
			"a caller that none of its limits is for passes without one", "- {default: true, limit: \"10/s,burst=20\"}")
	}
	if r.Security && r.OnFailure == limit.FailOpen {
		c.found(Fault, "security-fails-open", r, r.line, "a security rule fails open",
			"whoever can make the store unreachable, or waits for it, may then try as often as they like", "on_failure: closed, or local")
	}
	if r.Security && r.Lease.On {
		c.found(Fault, "security-leased", r, r.line, "a security rule is leased",
			"each gateway may admit its block before the others know, so that a few more guesses pass than the limit says", "lease: off")
	}
	if r.Security && r.Shadow {
		c.found(Note, "security-in-shadow", r, r.line, "a security rule is in shadow mode", "it is counted and refuses nothing", "mode: enforce, once its counts look right")
	}
	c.scopes(r)
	c.algorithms(r)
	c.costs(r)
	c.ttl(r)
	c.lease(r)
	c.share(r)
}

// most is the highest cost that a limit can ever let pass.
func most(s limit.Spec) int64 {
	switch s.Algorithm {
	case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
		return s.Burst
	case limit.LeakyQueue:
		return s.Queue + 1
	}
	return s.Limit
}

// kept is how long a state of a limit matters: the time to fill, or until no
// window that it can weigh in is left; 0 for a limit that time does not end.
func kept(s limit.Spec) time.Duration {
	switch s.Algorithm {
	case limit.FixedWindow, limit.SlidingLog:
		return s.Window
	case limit.SlidingCounter:
		return 2 * s.Window
	case limit.Concurrency:
		return 0
	}
	l, err := s.New()
	if err != nil {
		return 0
	}
	// What is left to wait for once all is taken at once.
	var state limit.State
	return l.Take(&state, 0, most(s)).ResetAfter
}

// all are a rule's limits with those of its overrides that still count.
func (c *checker) all(r *Rule) []*Limit {
	return slices.Concat(r.Limits, c.granted[r.Name])
}

// costs finds routes that can never pass, and rules that no request reaches.
func (c *checker) costs(r *Rule) {
	dearest := Cost{Cost: 1}
	for _, cost := range r.Costs {
		if !r.meets(&cost.Route) {
			c.found(Warning, "cost-unreached", r, cost.Route.line, "the cost of "+cost.Route.text+" is never asked for", "the rule's own route does not reach it", "widen the rule's route, or take the cost out")
			continue
		}
		if cost.Cost > dearest.Cost {
			dearest = cost
		}
	}
	if dearest.Cost > 1 {
		for _, l := range c.all(r) {
			if top := most(l.Spec); dearest.Cost > top {
				c.found(Fault, "cost-above-burst", r, l.at.line,
					fmt.Sprintf("%s costs %d, and %v (%s) never holds more than %d", dearest.Route.text, dearest.Cost, l.Spec, l.From, top),
					"such a request is refused for ever, however long its caller waits", "a burst of at least "+strconv.FormatInt(dearest.Cost, 10)+", or a lower cost")
			}
		}
	}
	own := r.Routes
	if len(own) == 0 {
		own = []Route{{rest: true}}
	}
	free := func(route Route) bool {
		return slices.ContainsFunc(r.Costs, func(z Cost) bool {
			return z.Cost == 0 && covers(&z.Route, &route) &&
				!slices.ContainsFunc(r.Costs, func(other Cost) bool {
					return other.Cost > 0 && overlap(&other.Route, &route) && before(other.Route, z.Route) < 0
				})
		})
	}
	if !slices.ContainsFunc(own, func(route Route) bool { return !free(route) }) {
		c.found(Fault, "rule-unreached", r, r.line, "nothing reaches the rule: each of its routes costs 0", "a rule that counts nothing protects nothing", "give a route a cost, or take the rule out")
	}
}

// twin finds a rule that another always refuses before.
func (c *checker) twin(r *Rule, earlier []*Rule) {
	plain := func(r *Rule) bool {
		return len(r.Limits) == 1 && r.def != nil && len(r.Costs) == 0 && len(r.overrides) == 0 && !r.Shadow
	}
	within := func(r, wide *Rule) bool { // all of r's requests are wide's
		return len(wide.Routes) == 0 || len(r.Routes) > 0 && !slices.ContainsFunc(r.Routes, func(route Route) bool {
			return !slices.ContainsFunc(wide.Routes, func(w Route) bool { return covers(&w, &route) })
		})
	}
	for _, o := range earlier {
		for _, pair := range [2][2]*Rule{{r, o}, {o, r}} {
			loose, strict := pair[0], pair[1]
			if plain(loose) && plain(strict) && loose.Per == strict.Per && loose.Per != PerRoute && within(loose, strict) && never(loose.def.Spec, strict.def.Spec) {
				c.found(Warning, "rule-unreached", loose, loose.line,
					fmt.Sprintf("the rule never decides: rule %s, on line %d, counts the same requests and more by the same, and is no looser", strict.Name, strict.line),
					"whatever it would refuse has been refused", "take it out, or count it by something else")
				return
			}
		}
	}
}

// never reports whether a bucket of the one limit is never empty while that of
// the other is not.
func never(loose, strict limit.Spec) bool {
	if loose.Algorithm != strict.Algorithm {
		return false
	}
	if loose.Rate.Per > 0 {
		if cross(strict.Rate, loose.Rate) > 0 {
			return false
		}
	} else if loose.Window != strict.Window {
		return false
	}
	return most(loose) >= most(strict)
}

// exact asks the store about each limit, once for each text.
func (c *checker) exact() {
	if c.Exact == nil {
		return
	}
	known := map[limit.Spec]error{}
	for _, l := range c.set.limits {
		err, asked := known[l.Spec]
		if !asked {
			err = c.Exact(l.Spec)
			known[l.Spec] = err
		}
		if err != nil {
			c.found(Fault, "not-exact", l.rule, l.at.line, fmt.Sprintf("the store cannot count %v (%s) exactly: %v", l.Spec, l.From, err),
				"a script's numbers are whole up to 2^53 only, and what is rounded adds up", "a rate with fewer digits, or a smaller burst")
		}
	}
}

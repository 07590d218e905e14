package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// scopes finds limits that callers of one bucket would disagree about.
func (c *checker) scopes(r *Rule) {
	for _, l := range r.Limits {
		scope, _, _ := strings.Cut(l.From, " ")
		if scope == "default" || scope == r.Per.String() || r.Per == PerKey && scope == "plan" {
			continue
		}
		severity := Fault
		switch {
		case r.Per == PerKey:
			severity = Note // plain for callers without a key
		case r.Per == PerAddress:
			severity = Warning
		}
		c.found(severity, "mixed-scope", r, l.at.line, fmt.Sprintf("a limit by %s in a rule per %v", scope, r.Per),
			"callers that share a bucket meet different numbers in it, and the smallest burst clamps it for all of them", "a limit of another scope, or a rule of its own per "+scope)
	}
}

// algorithms finds limits that a caller cannot change between.
func (c *checker) algorithms(r *Rule) {
	all := c.all(r)
	for _, l := range all {
		if first := all[0]; l.Spec.Algorithm != first.Spec.Algorithm {
			c.found(Warning, "mixed-algorithms", r, l.at.line, fmt.Sprintf("%v (%s) is of another algorithm than %v (%s)", l.Spec, l.From, first.Spec, first.From),
				"a caller whose limit changes, with its plan or an override, has a state that the other cannot read: it counts as used up, or fails until it has expired", "one algorithm for all limits of a rule, or a rule of its own")
			return
		}
	}
}

// ttl finds a time to live after which a state would be forgotten too early.
func (c *checker) ttl(r *Rule) {
	if r.TTL == 0 {
		return
	}
	for _, l := range c.all(r) {
		if need := kept(l.Spec); r.TTL < need {
			c.found(Fault, "ttl-too-short", r, l.at.line, fmt.Sprintf("ttl %v is shorter than the %v in which %v (%s) is full again", r.TTL, need.Round(time.Millisecond), l.Spec, l.From),
				"a bucket that disappears early comes back full: whoever pauses for the ttl gets a burst for nothing", "leave ttl out, or at least "+limit.ShortDuration(need.Truncate(time.Second)+time.Second))
		}
	}
}

// lease finds blocks that are more than there is to lend.
func (c *checker) lease(r *Rule) {
	if !r.Lease.On {
		return
	}
	for _, l := range c.all(r) {
		if l.Spec.Algorithm != limit.TokenBucket {
			c.found(Fault, "lease-algorithm", r, l.at.line, fmt.Sprintf("the rule is leased, and %v (%s) has no tokens to lend", l.Spec, l.From),
				"only a token bucket can hand out tokens ahead and take them back", "a token bucket, or lease: off")
			continue
		}
		n := int64(max(c.Gateways, 0))
		// n × 1.2 × block > burst, in whole numbers that fit.
		if block := r.Lease.Block; block > 0 && n > 0 && (block > l.Spec.Burst || 6*n*block > 5*min(l.Spec.Burst, 1<<60)) {
			c.found(Fault, "lease-too-large", r, l.at.line, fmt.Sprintf("%d gateways × 1.2 × a block of %d is more than the burst of %v (%s)", n, block, l.Spec, l.From),
				"gateways that hold a block each have spent the bucket before a request came, and those without one refuse", fmt.Sprintf("a block of at most %d, or lease: off", 5*min(l.Spec.Burst, 1<<60)/(6*n)))
		}
	}
}

// share finds bursts that cannot be divided among the gateways.
func (c *checker) share(r *Rule) {
	if r.OnFailure != limit.FailLocal || c.Gateways < 2 {
		return
	}
	for _, l := range c.all(r) {
		if top := most(l.Spec); top < int64(c.Gateways) {
			c.found(Note, "share-below-one", r, l.at.line, fmt.Sprintf("%v (%s) divided among %d gateways is less than one each, and each gets one", l.Spec, l.From, c.Gateways),
				fmt.Sprintf("without the store the fleet admits up to %d at once instead of %d", c.Gateways, top), "nothing, if that is fine; on_failure: closed otherwise")
		}
	}
}

func (c *checker) override(o *Override) {
	r := c.set.Rule(o.Rule)
	if r.Per != PerKey {
		c.found(Fault, "mixed-scope", r, o.Limit.at.line, fmt.Sprintf("an override for one key in a rule per %v", r.Per),
			"its bucket is not the key's alone", "an override of a rule per key, or another limit in the rule itself")
	}
	switch {
	case c.Now == 0:
	case o.Expired(c.Now):
		c.found(Warning, "override-expired", r, o.Limit.at.line, "the override ended on "+o.Expires.Format(time.DateOnly)+" and counts for nothing", "a reader takes it for granted", "take it out, or give it a new end and a new reason")
	case o.expires-c.Now > int64(year):
		c.found(Fault, "override-too-long", r, o.Limit.at.line, "the override lasts until "+o.Expires.Format(time.DateOnly)+", more than a year", whyExpires, "an end within a year, or a limit for the key in the rule itself")
	}
}

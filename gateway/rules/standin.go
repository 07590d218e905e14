// Package rules says which limits a request is under.
package rules

import (
	"github.com/weir-cli/weir/limit"
)

// Set is a rule file made ready.
type Set struct {
	Version int64
	Rules   []*Rule
}

// Request is what rules match.
type Request struct{ Key, Plan, Address, Method, Path string }

// Hit is one rule that a request is under.
type Hit struct {
	Rule    *Rule
	Limit   *Limit
	Subject string
	Cost    int64
}

// Lease says whether tokens may be lent to gateways.
type Lease struct {
	On    bool
	Block int64
}

// Rule is one rule of a set.
type Rule struct {
	Name             string
	Limits           []*Limit
	Shadow, Security bool
	OnFailure        limit.FailMode
	Slack            limit.Fraction
	Lease            Lease
}

// Limit is one limit of a rule.
type Limit struct {
	Index int
	Spec  limit.Spec
	From  string
}

// FromLimit is the set that one limit for everybody is.
func FromLimit(spec limit.Spec) *Set {
	return &Set{Rules: []*Rule{{Name: "default", Limits: []*Limit{{Spec: spec, From: "default"}}}}}
}

// Match appends the rules that r is under.
func (s *Set) Match(dst []Hit, r Request, now int64) []Hit {
	for _, rule := range s.Rules {
		dst = append(dst, Hit{rule, rule.Limits[0], r.Key, 1})
	}
	return dst
}

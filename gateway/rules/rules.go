// Package rules is what a fleet of gateways is told to enforce: which limits
// there are, whom each counts, what a route costs, what happens while the
// store is away, and who has been granted something else until when. A [Set]
// is read from a file by [Parse], judged by [Set.Check], held against another
// by [Diff], changed in place by the Edit functions, and asked by [Set.Match].
//
// Nothing here does I/O or reads a clock.
package rules

import (
	"time"

	"github.com/weir-cli/weir/limit"
)

// Bounds of a rule file.
const (
	MaxBytes     = 16 << 20
	MaxRules     = 128
	MaxAtOnce    = 16    // rules that may apply to one request: one call to the store takes as many
	MaxRoutes    = 1_000 // in all rules together, costs included
	MaxLimits    = 4_000 // in all rules together, overrides apart
	MaxOverrides = 100_000
	MaxName      = 40      // bytes of a rule's name
	MaxKey       = 1 << 10 // bytes of a key or of a plan
	MaxReason    = 400     // bytes
	MaxVersion   = 1<<53 - 1
)

// Set is everything that is in force at once. It is immutable and safe for
// concurrent use.
type Set struct {
	// Version only goes up; 0 is a set that came from no file.
	Version   int64
	Rules     []*Rule // in the order of the file
	Overrides []*Override
	limits    []*Limit // by Index
	lines     places   // where things stand in the text that Parse read
}

// Limits lists every limit by its Index, those of overrides included.
func (s *Set) Limits() []*Limit { return s.limits }

// Rule finds a rule by its name; nil when there is none.
func (s *Set) Rule(name string) *Rule {
	for _, r := range s.Rules {
		if r.Name == name {
			return r
		}
	}
	return nil
}

// Override finds what a key has been granted under a rule, expired or not.
func (s *Set) Override(key, rule string) *Override {
	if r := s.Rule(rule); r != nil {
		return r.overrides[key]
	}
	return nil
}

// Rule is one limit that requests are under, with what is granted to whom.
type Rule struct {
	Name   string
	Per    Per
	Routes []Route // where it applies, the most specific first; none is everywhere
	// Limits are in the order of the file. The most specific wins: that of an
	// override, of the key, of the plan, of the longest address range, the
	// default.
	Limits []*Limit
	Costs  []Cost // the most specific route first; a route that none names costs 1
	// Shadow rules are decided and reported, and refuse nothing.
	Shadow bool
	// Security rules show no numbers to callers, never fail open and are never
	// leased.
	Security bool
	// OnFailure is what decides while the store does not: closed for a security
	// rule that says nothing about it, local for others.
	OnFailure limit.FailMode
	// Slack is what a gateway's share of the limit is multiplied by under
	// FailLocal, at least 1.
	Slack limit.Fraction
	Lease Lease
	// TTL is how long the file expects a state to be kept; 0 when it says
	// nothing. The store sets one that is long enough by itself.
	TTL time.Duration

	def       *Limit // nil when missing
	keys      map[string]*Limit
	plans     map[string]*Limit
	ranges    *ranges // nil for none
	overrides map[string]*Override
	line      int
	list      spot // of the bracket of limits, or of its first entry
	flow      bool // limits are in brackets
}

// Plan is what the rule grants callers of a plan, which is the default when
// the plan has no limit of its own, or "default"; nil for nothing.
func (r *Rule) Plan(plan string) *Limit {
	if l := r.plans[plan]; l != nil {
		return l
	}
	return r.def
}

// Limit is what one rule promises to some.
type Limit struct {
	Index int // unique in the set, from 0
	Spec  limit.Spec
	// From says whom it is for: "default", "plan gold", "address 10.0.0.0/8",
	// "key" or "override: " and its reason. Which key is not said, since keys
	// may be secrets.
	From string
	key  string // whose, when From is "key"
	rule *Rule
	at   spot
}

// Rule is the rule that the limit belongs to.
func (l *Limit) Rule() *Rule { return l.rule }

// Lease is whether gateways may take a rule's tokens in blocks, and how.
type Lease struct {
	On    bool
	Block int64         // tokens; 0 is for the gateway to choose
	Life  time.Duration // how long a block may be spent; 0 is for the gateway to choose
}

// Override is another limit for one key under one rule, for a while.
type Override struct {
	Key, Rule string
	Limit     *Limit
	Reason    string
	Expires   time.Time // from this instant on it counts for nothing
	expires   int64     // Unix ns
	from, to  int       // its first and last line; 0 when it is not a list entry on lines of its own
}

// Expired reports whether o counts for nothing at now, in Unix nanoseconds.
func (o *Override) Expired(now int64) bool { return now >= o.expires }

// FromLimit is the set that one limit alone makes: a rule "default" that counts
// everybody by key. Each of change may set its Shadow, Security, OnFailure,
// Slack or Lease.
func FromLimit(spec limit.Spec, change ...func(*Rule)) *Set {
	l := &Limit{Spec: spec, From: "default"}
	r := &Rule{Name: "default", Limits: []*Limit{l}, Slack: limit.Whole(1), def: l}
	l.rule = r
	for _, f := range change {
		f(r)
	}
	return &Set{Rules: []*Rule{r}, limits: []*Limit{l}}
}

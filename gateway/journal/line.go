// Package journal keeps a gateway's decision log and answers from it why a
// caller was refused.
//
// Three things stand in the log. A share of all decisions, drawn at random. The
// first refusal of each caller by each rule in every span of some seconds. And
// at the end of such a span, for each caller that was refused in it, how many
// of its requests passed and how many each rule refused, from which source:
// these counts are exact, so that the answer to "why was this customer held at
// 80 a second" does not hang on what the sample happened to draw.
package journal

import (
	"encoding/json"
	"time"
)

// Kind says what a Line tells.
type Kind string

const (
	Decided Kind = "decision" // one request's
	Spent   Kind = "held"     // a caller's counts under one rule, of one span
	Ruled   Kind = "rules"    // another version of the rules is in force
	Broke   Kind = "breaker"  // a breaker opened or closed
	Dropped Kind = "dropped"  // lines or callers are missing from here
)

// Line is one line of the log. Which parts are there depends on the kind.
type Line struct {
	Kind    Kind      `json:"kind"`
	At      time.Time `json:"at"`
	Gateway int       `json:"gateway,omitempty"` // from 1; 0 is all of the process
	Version int64     `json:"rules_version"`
	*Caller
	*Rule
	*Decision
	*Held
	*Breaker
	*Gap
}

// Parse reads one line of a log; nil when it is none. No instant that a
// line of its kind has is before 1970.
func Parse(text []byte) *Line {
	l := new(Line)
	if json.Unmarshal(text, l) != nil || l.Kind == "" || l.At.Unix() < 0 {
		return nil
	}
	if h := l.Held; l.Kind == Spent && h != nil && (h.First.Unix() < 0 || h.Last.Before(h.First)) {
		return nil
	}
	return l
}

// Caller is who asked. Key and Address may be short hashes.
type Caller struct {
	Key     string `json:"key,omitempty"` // "" when nobody known asked
	Plan    string `json:"plan,omitempty"`
	Address string `json:"address,omitempty"`
}

// Name is what a caller is followed under: its key, else its address.
func (c *Caller) Name() string {
	if c.Key != "" {
		return c.Key
	}
	return c.Address
}

// Rule is the rule that decided.
type Rule struct {
	Name  string `json:"rule"`            // "none" when no rule was for it
	Limit string `json:"limit,omitempty"` // as it is written, such as 10/s,burst=20
	From  string `json:"from,omitempty"`  // whose limit it is, such as plan gold
}

// Why a decision stands in the log.
const (
	BySample = "sample"
	AsFirst  = "first refusal"
)

// Decision is one request's outcome.
type Decision struct {
	Because   string `json:"because"` // BySample or AsFirst
	Source    string `json:"source"`
	Outcome   string `json:"outcome"` // "admitted" or "refused"
	Cost      int64  `json:"cost"`
	Remaining int64  `json:"remaining"` // tokens, right after
	// RetryAfterS is how long until the same cost would pass, in seconds: -1
	// never, -2 when nothing can tell.
	RetryAfterS float64 `json:"retry_after_s"`
}

// Held is what became of a caller's requests in the span that ended at the
// line's instant.
type Held struct {
	SpanS         float64          `json:"span_s"`         // length of the span
	First         time.Time        `json:"first"`          // of the caller's requests in it
	Last          time.Time        `json:"last"`           // and the last
	Admitted      int64            `json:"admitted"`       // by all rules together
	AdmittedUnits int64            `json:"admitted_units"` // their costs
	Refused       int64            `json:"refused"`        // by this rule
	RefusedBy     map[string]int64 `json:"refused_by"`     // source to count
}

// Breaker is the state that a store's breaker went into.
type Breaker struct {
	Node string `json:"node"` // "" is the only one
	Open bool   `json:"open"`
}

// Gap is what is missing since the last such line.
type Gap struct {
	Lines    int64 `json:"lines"`    // written too fast, or not at all
	Refusals int64 `json:"refusals"` // of callers that were not followed
}

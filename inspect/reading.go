package inspect

import (
	"time"

	"github.com/weir-cli/weir/limit"
)

// Reading is what a limiter's state says at one time.
type Reading struct {
	Layout *Layout
	Sure   Sure
	Others []*Layout // who else may have written it

	ID, Rule string            // the customer and the limit, as the name has them; "" when it has not
	Parts    map[string]string // all that the name says
	Entries  []Entry           // what was read, the state's main key first
	Now      int64             // unix ns, of the server's clock

	Algorithm string
	Limit     *limit.Spec // nil when neither told nor in the state
	LimitFrom string      // "state", "name", "told"; "" without a Limit

	// What follows is nil where the state and the limit do not say it.
	Used      *int64   // units that count against the limit now
	Capacity  *int64   // the most that can pass at once
	Remaining *int64   // the highest cost that passes now
	Held      *float64 // tokens with their fraction; below zero when owed

	LastUse     *int64 // unix ns, as all times here
	WindowStart *int64
	WindowEnd   *int64
	FullAt      *int64 // from when on all of Capacity passes
	// BlockedUntil is when a block ends, whatever was used; math.MaxInt64 for
	// one that never does.
	BlockedUntil *int64

	Notes    []string // what to know, sentences
	Problems []Problem

	told    *limit.Spec // by which it was decoded
	stored  string      // what the state held when it was written, a verb and its object; "" for nothing said
	wrote   *int64      // LastUse, if the state says it
	verdict *verdict
}

// Problem is something odd in a state, found while decoding it.
type Problem struct {
	ID   string // such as "no-ttl"
	Text string // a sentence
}

// Wait is how long until a call of that cost passes if nobody else asks: 0 for
// now, limit.Never or limit.Unknown. known is false when the limit is not.
func (r *Reading) Wait(cost int64) (wait time.Duration, known bool) {
	if r.verdict == nil {
		return 0, false
	}
	return r.verdict.wait(r.Now, cost), true
}

// Waits that are no time.
const (
	WaitNever   = limit.Never   // it can never pass
	WaitUnknown = limit.Unknown // until somebody gives back a slot
)

// Later is what passes at once at a later time of the server's clock, in unix
// ns, and how long a call of cost waits then, if nobody asks in between. known
// is false when the limit is not.
func (r *Reading) Later(now, cost int64) (remaining int64, wait time.Duration, known bool) {
	if r.verdict == nil {
		return 0, 0, false
	}
	now = max(now, r.Now)
	return r.verdict.remaining(now), r.verdict.wait(now, cost), true
}

// Existing is how many of the keys are there.
func (r *Reading) Existing() int {
	n := 0
	for i := range r.Entries {
		if r.Entries[i].Exists() {
			n++
		}
	}
	return n
}

func (r *Reading) problem(id, text string) { r.Problems = append(r.Problems, Problem{id, text}) }
func (r *Reading) note(text string)        { r.Notes = append(r.Notes, text) }

// Has reports whether there is a problem of that id.
func (r *Reading) Has(id string) bool {
	for _, p := range r.Problems {
		if p.ID == id {
			return true
		}
	}
	return false
}

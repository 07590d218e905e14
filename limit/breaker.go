package limit

import (
	"strconv"
	"time"
)

// BreakerRule says when a [Breaker] opens and how it looks whether the store
// is back. The zero value is not valid.
type BreakerRule struct {
	Failures int           // in a row, over all checks, that open it; an answer starts the row anew
	Every    time.Duration // between probes, counted from the opening
	// Skip leaves out the probes: Every after it opened the breaker sends
	// everything again. The row goes on, so that the next failure opens it at
	// once.
	Skip bool
}

// Way is what to do with a check.
type Way uint8

const (
	Send    Way = iota // ask the store
	Probe              // ask the store, the only check that does
	Locally            // do not ask: decide by the fail mode
)

// String is "send", "probe" or "locally".
func (w Way) String() string { return [...]string{"send", "probe", "locally"}[w] }

// Ticket is what a check was told, to be handed back with its outcome. A
// ticket to Send or Probe must come back once, in time: a probe that never
// does keeps the breaker open for ever, so give checks a timeout.
type Ticket struct {
	Way   Way
	phase uint32
}

// Breaker keeps a gateway from asking one shard of the store that does not
// answer. Open, it has every request decided locally, but for one probe at a
// time: the first request at or after the opening + k*Every, k from 1. A
// failed probe moves k on by one, an answered one closes the breaker. Checks
// that were on their way when the breaker opened count no further, neither as
// failures nor as answers. Not safe for concurrent use.
type Breaker struct {
	rule     BreakerRule
	open     bool
	probing  bool
	phase    uint32 // openings and closings so far
	failures int    // in a row
	opened   int64  // ns
	next     int64  // k
	openings int
}

// NewBreaker makes a closed breaker. Its error is a *SpecError.
func NewBreaker(rule BreakerRule) (*Breaker, error) {
	switch {
	case rule.Failures < 1:
		return nil, &SpecError{Field: "failures", Value: strconv.Itoa(rule.Failures), Reason: "must be above zero", Hint: "5"}
	case rule.Every <= 0:
		return nil, &SpecError{Field: "every", Value: rule.Every.String(), Reason: "must be above zero", Hint: "1s"}
	}
	return &Breaker{rule: rule}, nil
}

// Ask tells where the check of a request at now goes.
func (b *Breaker) Ask(now int64) Ticket {
	if !b.open {
		return Ticket{Send, b.phase}
	}
	if b.probing || now < b.due() {
		return Ticket{Locally, b.phase}
	}
	if b.rule.Skip {
		b.open = false
		b.phase++
		return Ticket{Send, b.phase}
	}
	b.probing = true
	return Ticket{Probe, b.phase}
}

// due is when the next probe may go.
func (b *Breaker) due() int64 {
	if b.next > (lastInstant-max(0, b.opened))/int64(b.rule.Every) {
		return lastInstant
	}
	return b.opened + b.next*int64(b.rule.Every)
}

// Failed takes note that a check got no answer, which the caller learned at
// now. It reports whether this opened the breaker.
func (b *Breaker) Failed(t Ticket, now int64) (opened bool) {
	if t.phase != b.phase {
		return false
	}
	switch {
	case t.Way == Probe && b.probing:
		b.probing = false
		b.next++
	case t.Way == Send && !b.open:
		b.failures++
		if b.failures >= b.rule.Failures {
			b.open, b.opened, b.next = true, now, 1
			b.phase++
			b.openings++
			return true
		}
	}
	return false
}

// Answered takes note that a check was answered, whatever the answer. It
// reports whether this closed the breaker.
func (b *Breaker) Answered(t Ticket) (closed bool) {
	if t.phase != b.phase {
		return false
	}
	switch {
	case t.Way == Probe && b.probing:
		b.open, b.probing, b.failures = false, false, 0
		b.phase++
		return true
	case t.Way == Send && !b.open:
		b.failures = 0
	}
	return false
}

// Open reports whether requests are decided locally. Under Skip it stays open
// until the first request after the time.
func (b *Breaker) Open() bool { return b.open }

// OpenedAt is when it last opened, in ns; 0 when it never did.
func (b *Breaker) OpenedAt() int64 { return b.opened }

// Openings counts how often it opened.
func (b *Breaker) Openings() int { return b.openings }

package load

import (
	"math"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// Limits bound what any behaviour may do. The zero value bounds nothing.
type Limits struct {
	// MaxWait is the longest wait a client sits out; 0 is no cap. A longer wait
	// is never shortened: the client stops instead of coming back too early.
	MaxWait time.Duration
	// MaxAttempts counts the first try too; 0 is no limit.
	MaxAttempts int
}

// Decision is what a client does after one attempt.
type Decision struct {
	Wait  time.Duration // from the answer to the next attempt; 0 without Retry
	Retry bool
	// Capped: the client stops only because its wait was above MaxWait.
	Capped bool
	// FromHeader: the wait is at least as long as the answer's hint asked, so
	// the next attempt obeys the server, whether or not the client meant to.
	FromHeader bool
	// Source is the field this client took its wait from; NoSource when the
	// wait is its own backoff.
	Source dialect.Source
}

// Decide asks b what to do after o and holds the answer to l. It is as pure as
// b: it draws only from r and writes only m. Call it for every attempt,
// admitted ones too.
func Decide(b Behaviour, o Outcome, now int64, m *Memory, r *Rand, l Limits) Decision {
	if c, ok := b.(*client); ok {
		return c.decide(o, now, m, r, l)
	}
	wait, retry := b.After(o, now, m, r)
	return l.bound(Decision{Wait: wait, Retry: retry}, o)
}

// bound applies the limits to a decision that has not been paid for yet.
func (l Limits) bound(d Decision, o Outcome) Decision {
	if !d.Retry || o.Verdict != report.Refused && o.Verdict != report.Failed {
		return Decision{}
	}
	if l.MaxAttempts > 0 && o.Attempt >= l.MaxAttempts {
		return Decision{}
	}
	d.Wait = min(max(d.Wait, 0), longestWait)
	if l.MaxWait > 0 && d.Wait > l.MaxWait {
		return Decision{Capped: true, Source: d.Source}
	}
	d.FromHeader = o.Answer != nil && o.Answer.Wait.Has && d.Wait >= o.Answer.Wait.Wait
	return d
}

// rule is the part of a behaviour that says whether to try again and when,
// without regard to attempts, budgets, breakers and caps.
type rule interface {
	next(o Outcome, m *Memory, r *Rand) step
}

// step is a rule's answer; the zero value lets the call go.
type step struct {
	wait  time.Duration
	retry bool
	from  dialect.Source
}

func again(wait time.Duration) step { return step{wait: wait, retry: true} }

// client is every behaviour that ParseBehaviour can return: a rule, a limit
// on attempts, and the wrappers around it.
type client struct {
	rule     rule
	attempts int           // first try included; 0 is no limit
	within   time.Duration // the call's whole time, the next wait included; 0 is no limit
	breaker  breaker
	purse    purse
	own      purse  // the one that comes with a preset; it takes the place of purse
	text     string // canonical
}

func (c *client) String() string { return c.text }

// After implements Behaviour.
func (c *client) After(o Outcome, now int64, m *Memory, r *Rand) (time.Duration, bool) {
	d := c.decide(o, now, m, r, Limits{})
	return d.Wait, d.Retry
}

// decide knows where a wait came from, and pays for a retry only once it is
// certain to be made.
func (c *client) decide(o Outcome, now int64, m *Memory, r *Rand, l Limits) Decision {
	if o.Attempt <= 1 {
		m.Prev = 0 // a new call
	}
	if c.breaker.after != 0 {
		c.breaker.note(o, now, m)
	}
	if c.purse.kind != free {
		c.purse.note(o, m)
	}
	if o.Verdict != report.Refused && o.Verdict != report.Failed {
		return Decision{}
	}
	if c.attempts > 0 && o.Attempt >= c.attempts {
		return Decision{}
	}
	s := c.rule.next(o, m, r)
	if !s.retry || c.within > 0 && (s.wait > c.within || o.Elapsed > c.within-s.wait) {
		return Decision{}
	}
	wait, probe := s.wait, false
	if c.breaker.after != 0 {
		var ok bool
		if wait, probe, ok = c.breaker.delay(s.wait, now, m); !ok {
			return Decision{}
		}
	}
	d := l.bound(Decision{Wait: wait, Retry: true, Source: s.from}, o)
	if !d.Retry {
		return d
	}
	if c.purse.kind != free && !c.purse.pay(o, m, r) {
		return Decision{}
	}
	if probe {
		m.Fails |= probing
	}
	m.Prev = d.Wait
	return d
}

// longestWait keeps now+wait inside int64 for any run: about 146 years.
const longestWait = time.Duration(math.MaxInt64 / 2)

// broken says that a generic client would call this outcome worth another
// try: no answer, an overload, or an explicit refusal. A 404 is an answer.
func broken(o Outcome) bool {
	if o.Verdict == report.Refused || o.Class != report.BadStatus {
		return true
	}
	return o.Status >= 500 || o.Status == 408 || o.Status == 429
}

// durationText is d as a user would type it: 1m, not 1m0s.
func durationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
)

// obey waits as long as the answer asked for: to the letter, later by a
// share, or spread over the whole wait. Without a usable hint it backs off on
// its own, and never comes back at once.
type obey struct {
	own    backoff
	jitter int64 // millionths of the hint that may be added
	spread bool
}

func (b obey) next(o Outcome, m *Memory, r *Rand) step {
	if !broken(o) {
		return step{}
	}
	a := o.Answer
	if a != nil && a.Should < 0 {
		return step{} // the server asked not to be tried again
	}
	if a == nil || !a.Wait.Has {
		s := b.own.next(o, m, r)
		s.wait = plus(s.wait, upTo(r, share(s.wait, b.jitter)))
		return s
	}
	wait, from := a.Wait.Wait, a.Wait.Source
	if from == dialect.RetryAfter && a.Notes&dialect.NotWhole != 0 {
		wait = plus(wait, time.Second-1) / time.Second * time.Second // the field is in whole seconds
	}
	if wait <= 0 {
		wait = Floor
	}
	if b.spread {
		return step{wait: upTo(r, wait), retry: true, from: from}
	}
	return step{wait: plus(wait, upTo(r, share(wait, b.jitter))), retry: true, from: from}
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

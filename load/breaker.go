package load

import (
	"strconv"
	"time"

	"github.com/weir-cli/weir/report"
)

// breaker stops a caller after failures in a row: nothing leaves for a while,
// then a single probe decides whether it closes. The zero value is no breaker.
//
// State lives in Memory: Fails counts, OpenTo is when the open time ends, and
// probing marks that one retry already holds the probe's place.
type breaker struct {
	after    int32         // failures in a row that open it; 0 is off
	open     time.Duration // how long nothing is sent
	refusals bool          // a refusal counts as a failure, not as an answer
}

// probing is a bit of Memory.Fails, far above any count that is accepted.
const probing = 1 << 30

// note counts o. Answers to attempts that were under way when the breaker
// opened count no further, good or bad ones.
func (b *breaker) note(o Outcome, now int64, m *Memory) {
	if m.OpenTo > now {
		return
	}
	bad := o.Verdict == report.Failed || b.refusals && o.Verdict == report.Refused
	if !bad {
		if o.Verdict == report.Admitted || o.Verdict == report.Refused {
			m.Fails, m.OpenTo = 0, 0
		}
		return
	}
	// After the open time Fails still stands at the threshold, so a failed
	// probe opens it again at once.
	m.Fails = min(m.Fails&^probing+1, b.after)
	if m.Fails == b.after {
		m.OpenTo = now + int64(b.open)
	}
}

// delay moves a retry that would leave while the breaker is open to the end
// of the open time, as its probe. ok is false when another retry has that
// place already: the breaker then refuses this one.
func (b *breaker) delay(wait time.Duration, now int64, m *Memory) (_ time.Duration, probe, ok bool) {
	if m.OpenTo-now <= int64(wait) {
		return wait, false, true
	}
	if m.Fails&probing != 0 {
		return 0, false, false
	}
	return time.Duration(m.OpenTo - now), true, true
}

// OpenUntil is the instant before which a caller with an open breaker sends
// nothing, first attempts included; open is false when it may send.
func (m *Memory) OpenUntil(now int64) (until int64, open bool) {
	return m.OpenTo, m.OpenTo > now
}

func buildBreaker(c *client, a *arguments) string {
	b := breaker{after: 5, refusals: a.flag("refusals")}
	if s, ok := a.value(); ok {
		b.after = int32(a.whole("the number of failures", s, 1, 1_000_000, 5))
	}
	b.open = a.duration(time.Second)
	c.breaker = b
	text := "breaker:" + strconv.Itoa(int(b.after)) + "," + durationText(b.open)
	if b.refusals {
		text += ",refusals"
	}
	return text
}

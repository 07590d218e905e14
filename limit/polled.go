package limit

import (
	"strconv"
	"time"
)

// PolledSpec is a rule of an edge firewall, which looks now and then at how
// many requests a source sent and blocks it a while later. All times are above
// zero but Delay.
type PolledSpec struct {
	Threshold int64         // more than this many in a window start blocking
	Window    time.Duration // how far back a check counts
	Every     time.Duration // checks are at whole multiples of this
	Delay     time.Duration // from a check to what it changes
	// OnlyPassed leaves blocked requests out of the count. A source that keeps
	// on is then let back in again and again.
	OnlyPassed bool
}

// Block is a time in which everything was blocked: from From on, until before
// Until, which is 0 while it lasts.
type Block struct{ From, Until int64 }

// Polled is the state of one source under a PolledSpec. Instants must not fall
// from call to call, and start at 0 or later. Not safe for concurrent use.
type Polled struct {
	spec   PolledSpec
	seen   ring  // what counted in the last window and since the last check
	count  int64 // units in seen
	next   int64 // check
	change int64 // when blocking starts or stops; 0 is not planned
	on     bool
	blocks []Block
	over   []int64
}

// NewPolled makes the state of a source that has sent nothing. Its error is a
// *SpecError.
func NewPolled(s PolledSpec) (*Polled, error) {
	for _, f := range []struct {
		name string
		d    time.Duration
		bad  bool
	}{{"window", s.Window, s.Window <= 0}, {"every", s.Every, s.Every <= 0}, {"delay", s.Delay, s.Delay < 0}} {
		if f.bad || f.d > maxWindow {
			return nil, &SpecError{Field: f.name, Value: f.d.String(), Reason: "is out of range", Hint: "10s"}
		}
	}
	if s.Threshold < 0 {
		return nil, &SpecError{Field: "threshold", Value: strconv.FormatInt(s.Threshold, 10), Reason: "must not be negative", Hint: "3000"}
	}
	return &Polled{spec: s}, nil
}

// Advance runs what is due up to now and at now itself, before any request of
// that instant: a planned change first, then a check. A check at c counts what
// came in [c-Window, c).
func (p *Polled) Advance(now int64) {
	for {
		switch {
		case p.change > 0 && p.change <= now && p.change <= p.next:
			p.switchAt(p.change)
		case p.next <= now:
			p.check(p.next)
			p.next += int64(p.spec.Every)
		default:
			return
		}
	}
}

// switchAt starts or stops blocking.
func (p *Polled) switchAt(at int64) {
	p.on, p.change = !p.on, 0
	if p.on {
		p.blocks = append(p.blocks, Block{From: at})
	} else {
		p.blocks[len(p.blocks)-1].Until = at
	}
}

func (p *Polled) check(at int64) {
	old := 0
	for old < p.seen.n && p.seen.at(old).at < at-int64(p.spec.Window) {
		p.count -= p.seen.at(old).cost
		old++
	}
	p.seen.drop(old)
	over := p.count > p.spec.Threshold
	if p.change > 0 || over == p.on {
		return // something is under way already, or all is as it should be
	}
	if over {
		p.over = append(p.over, at)
	}
	p.change = at + int64(p.spec.Delay)
	if p.spec.Delay == 0 {
		p.switchAt(at)
	}
}

// Ask runs what is due and tells whether a request at now is blocked.
func (p *Polled) Ask(now int64) (blocked bool) {
	p.Advance(now)
	if !p.on || !p.spec.OnlyPassed {
		p.seen.push(now, 1)
		p.count++
	}
	return p.on
}

// Blocks are the times in which it blocked.
func (p *Polled) Blocks() []Block { return p.blocks }

// Over are the checks that planned to block.
func (p *Polled) Over() []int64 { return p.over }

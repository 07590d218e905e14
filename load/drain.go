package load

import (
	"time"

	"github.com/weir-cli/weir/report"
)

// drop records an attempt that was planned and never left, and ends its call.
func (l *loop) drop(i int32) {
	c := &l.table.calls[i]
	ev := l.event(c)
	ev.Sent, ev.Done, ev.Verdict = l.now, l.now, report.Dropped
	l.e.cfg.Shards[l.id].Record(&ev)
	if !c.closed {
		l.table.put(i)
	}
}

// dropWaiting ends the calls that still wait for a connection when the run
// is over: they were due and could not leave.
func (l *loop) dropWaiting() {
	l.now = l.e.cfg.Clock()
	for t := range l.ready {
		q := &l.ready[t]
		for q.size > 0 {
			i, _ := q.peek()
			q.pop()
			l.drop(i)
		}
	}
	l.waiting = 0
}

// drain waits for the answers of what is in flight, for at most the grace.
func (l *loop) drain() {
	e, s := l.e, l.e.cfg.Senders[l.id]
	e.cfg.Shards[l.id].Advance(e.cfg.Clock())
	// No new attempt may leave from here on.
	l.end = 0
	until := e.cfg.Clock() + int64(e.cfg.Grace)
	for l.flying > 0 && !e.cut.Load() {
		l.now = e.cfg.Clock()
		if l.now >= until {
			break
		}
		s.Poll(min(until, l.now+int64(50*time.Millisecond)), l.done)
		e.cfg.Shards[l.id].Advance(l.now)
	}
	s.Abort(func(a *Attempt) {
		l.flying--
		a.Event.Done = e.cfg.Clock()
		a.Event.Verdict = report.InFlight
		e.cfg.Shards[l.id].Record(&a.Event)
	})
}

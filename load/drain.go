package load

import (
	"time"

	"github.com/weir-cli/weir/report"
)

// tooLate says that an open-loop attempt can no longer leave in time. The
// clients of a closed loop wait as long as it takes.
func (l *loop) tooLate(c *call) bool {
	return !c.closed && l.e.cfg.DropAfter > 0 && l.now-c.due > int64(l.e.cfg.DropAfter)
}

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

// dropWaiting ends the calls that still wait for a connection: they were due
// and could not leave. A run that was stopped before its time forgets those
// that were not late yet, as it does those that were not due yet.
func (l *loop) dropWaiting() {
	stopped := l.e.stopped.Load()
	for t := range l.ready {
		q := &l.ready[t]
		for q.size > 0 {
			i, _ := q.peek()
			q.pop()
			if !stopped || l.tooLate(&l.table.calls[i]) {
				l.drop(i)
			}
		}
	}
	l.waiting = 0
}

// drain lets what was due before the end leave, and waits for the answers of
// what is in flight, for at most the grace after the last of them could leave.
func (l *loop) drain() {
	e, s, shard := l.e, l.e.cfg.Senders[l.id], l.e.cfg.Shards[l.id]
	l.now = e.cfg.Clock()
	if l.paused {
		l.resume() // what waits for a connection still leaves
	}
	late := l.now + int64(e.cfg.DropAfter)
	until := l.now + int64(e.cfg.Grace)
	if l.waiting > 0 {
		until += int64(e.cfg.DropAfter) // the last of them may leave that late
	}
	l.end = 0 // nothing new is due from here on
	for l.flying+l.waiting > 0 && !e.cut.Load() && l.now < until {
		if l.waiting > 0 && (e.stopped.Load() || l.now >= late) {
			l.dropWaiting()
		}
		l.serveAll()
		s.Poll(min(until, l.now+int64(50*time.Millisecond)), false, l.done)
		l.now = e.cfg.Clock()
		shard.Advance(l.now)
	}
	if !e.cut.Load() {
		s.Poll(l.now, false, l.done) // what came or timed out while this loop was held up
	}
	l.dropWaiting()
	s.Abort(func(a *Attempt) {
		l.flying--
		if a.Event.Verdict == report.InFlight {
			a.Event.Done = e.cfg.Clock()
		}
		shard.Record(&a.Event)
	})
}

package load

import (
	"math"
	"runtime"
	"time"

	"github.com/weir-cli/weir/report"
)

// loop is one engine goroutine with its own clients, timers and sender.
type loop struct {
	e       *Engine
	id      int
	table   callTable
	wheel   *wheel
	ready   []queue // per target: calls that wait for a connection
	waiting int     // calls in ready
	first   int     // the target that serveAll begins with
	idle    []*Attempt
	flying  int
	sched   Schedule
	callers callers
	slot    Slot
	more    bool // slot holds the next arrival
	end     int64
	rr      uint32
	now     int64
	pace    pace
	seq     uint64
	done    func(*Attempt)
	warp    warp

	paused   bool // nothing is sent, since pausedAt
	pausedAt int64
}

func newLoop(e *Engine, id int) (*loop, error) {
	l := &loop{e: e, id: id, ready: make([]queue, e.cfg.Targets), rr: uint32(id), end: int64(e.cfg.Plan.Duration),
		seq: uint64(id) + 1 - uint64(len(e.cfg.Senders))} // one step before the loop's first number
	l.wheel = newWheel(&l.table.calls, 0)
	l.done = l.finish
	l.callers = newCallers(e.cfg.Plan)
	l.sched = e.cfg.Plan.SchedulePart(uint32(id), uint32(len(e.cfg.Senders)))
	l.pull()
	l.seedClosed()
	return l, nil
}

// seedClosed files the first call of every closed-loop client of this loop.
func (l *loop) seedClosed() {
	p, k := l.e.cfg.Plan, len(l.e.cfg.Senders)
	total := 0
	for i := range p.Populations {
		if !p.Populations[i].Open {
			total += int(p.Populations[i].Clients)/k + 1
		}
	}
	l.table.calls = make([]call, 0, total)
	for i := range p.Populations {
		pop := &p.Populations[i]
		if pop.Open {
			continue
		}
		for c := range pop.Clients {
			client := pop.First + c
			if int(client)%k != l.id {
				continue
			}
			n := l.table.get()
			l.begin(n, Slot{Due: p.ClosedStart(i, c), Client: client, Population: uint16(i)}, true)
			l.wheel.add(n)
		}
	}
}

// begin makes call i a new call of its client. Open-loop slots carry their
// key, cost and route; a closed-loop client draws them.
func (l *loop) begin(i int32, s Slot, closed bool) {
	c := &l.table.calls[i]
	if closed {
		s.Key, s.Cost, s.Route = l.e.cfg.Plan.Draw(int(s.Population), s.Client, s.N)
	}
	mem := c.mem // budgets and breakers outlive a call
	if !closed {
		mem = Memory{}
	}
	mem.Prev = 0
	*c = call{due: s.Due, first: s.Due, n: s.N, rng: NewRand(l.e.cfg.Seed, s.Client, s.N), mem: mem,
		client: s.Client, key: s.Key, cost: max(s.Cost, 1), pop: s.Population, route: s.Route, closed: closed}
}

func (l *loop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	e := l.e
	defer e.cfg.Shards[l.id].Close()
	for !e.stopped.Load() {
		l.now = e.cfg.Clock()
		l.steered()
		l.dispatch()
		if l.now >= l.end || !l.more && l.wheel.n == 0 && l.flying == 0 && l.waiting == 0 {
			break
		}
		e.cfg.Shards[l.id].Advance(l.now)
		at := l.wake()
		e.cfg.Senders[l.id].Poll(at, l.pace.dense && at-l.now <= tick, l.done)
	}
	l.drain()
}

// dispatch starts everything that is due. What was due before the end is part
// of the plan however late the loop gets to it, so it is looked for once more
// when the end has passed.
func (l *loop) dispatch() {
	if l.paused {
		return
	}
	n := 0
	for l.more && l.slot.Due <= min(l.now, l.end-1) && !l.e.stopped.Load() {
		i := l.table.get()
		l.begin(i, l.slot, false)
		l.pull()
		l.offer(i)
		n++
	}
	l.pace.sent(n, l.now)
	for {
		i, ok := l.wheel.pop(min(l.now, l.end-1))
		if !ok {
			break
		}
		l.offer(i)
	}
	l.serveAll()
}

// serveAll sends what waits and has a connection now. Targets take turns at
// being first, or the last ones would go without when connections are few.
func (l *loop) serveAll() {
	if l.waiting == 0 {
		return
	}
	l.first = (l.first + 1) % len(l.ready)
	for t := range l.ready {
		l.serve((l.first + t) % len(l.ready))
	}
}

// wake is when the loop must look up again at the latest.
func (l *loop) wake() int64 {
	// The stop flags are looked at twenty times a second when all is quiet.
	at := min(l.end, l.now+int64(50*time.Millisecond))
	if l.paused {
		return at
	}
	if w, ok := l.wheel.wake(); ok {
		at = min(at, w)
	}
	if l.more {
		at = min(at, l.pace.next(l.slot.Due))
	}
	return at
}

// offer picks the target of a due attempt and sends it, or queues it for a
// connection behind those that were due before it, whatever their target: one
// client's retries would else keep the connection from all the others.
func (l *loop) offer(i int32) {
	c := &l.table.calls[i]
	c.attempt++
	c.target = l.pick(c)
	if l.tooLate(c) {
		l.drop(i)
		return
	}
	if l.waiting == 0 && l.e.cfg.Senders[l.id].Room(c.target, c.client) {
		l.send(i)
		return
	}
	l.ready[c.target].push(i)
	l.waiting++
}

func (l *loop) pick(c *call) uint16 {
	n := uint32(l.e.cfg.Targets)
	switch {
	case n == 1:
		return 0
	case l.e.cfg.Spread == Sticky:
		return uint16(c.client % n)
	case l.e.cfg.Spread == Random:
		r := NewRand(l.e.cfg.Seed^int64(c.attempt), c.client, ^c.n)
		return uint16(r.Uint64() % uint64(n))
	}
	l.rr++
	return uint16((l.rr - 1) % n)
}

// serve sends what waits for target t, dropping what waited too long.
func (l *loop) serve(t int) {
	if l.paused {
		return
	}
	q := &l.ready[t]
	for {
		i, ok := q.peek()
		if !ok {
			return
		}
		c := &l.table.calls[i]
		if l.tooLate(c) {
			q.pop()
			l.waiting--
			l.drop(i)
			continue
		}
		if !l.e.cfg.Senders[l.id].Room(uint16(t), c.client) {
			return
		}
		q.pop()
		l.waiting--
		l.send(i)
	}
}

func (l *loop) send(i int32) {
	c := &l.table.calls[i]
	if !l.e.claim() {
		if !c.closed {
			l.table.put(i)
		}
		return
	}
	a := l.attempt()
	l.seq += uint64(len(l.e.loops))
	a.Seq, a.call, a.Answer = l.seq, i, nil
	a.Event = l.event(c)
	l.flying++
	l.e.cfg.Senders[l.id].Send(a)
	if c.notBefore > 0 {
		if a.Event.Sent >= c.notBefore {
			a.Event.Has |= report.Obeyed
		} else {
			a.Event.Has |= report.Early
		}
	}
}

// event is the part of an attempt's record that is known before it leaves.
func (l *loop) event(c *call) report.Event {
	return report.Event{Due: c.due, Client: c.client, Key: c.key, Cost: c.cost, Target: c.target,
		Population: c.pop, Route: c.route, Attempt: uint16(min(c.attempt, math.MaxUint16)), Wait: -1}
}

func (l *loop) attempt() *Attempt {
	if n := len(l.idle); n > 0 {
		a := l.idle[n-1]
		l.idle = l.idle[:n-1]
		return a
	}
	return new(Attempt)
}

// finish takes a finished attempt: decides what its client does next, records
// it, and sends again at once when the wait is nothing.
func (l *loop) finish(a *Attempt) {
	l.flying--
	c := &l.table.calls[a.call]
	ev := &a.Event
	now := ev.Done
	l.recall(c)
	d := Decide(l.e.behaviour(c.pop), Outcome{Verdict: ev.Verdict, Class: ev.Class, Status: ev.Status,
		Attempt: int(c.attempt), Elapsed: time.Duration(now - c.first), Answer: a.Answer},
		now, &c.mem, &c.rng, l.e.limits[c.pop])
	l.remember(c)
	if d.Retry {
		ev.Wait = int64(d.Wait)
		if ev.Verdict == report.Failed {
			ev.Wait = max(ev.Wait, int64(Floor))
		}
	} else if ev.Verdict != report.Admitted {
		ev.Has |= report.Abandoned
		if d.Capped {
			ev.Has |= report.Capped
		}
	}
	c.notBefore = 0
	if d.Retry && ev.Has&report.HasRetryAfter != 0 {
		c.notBefore = now + ev.RetryAfter
	}
	l.e.cfg.Shards[l.id].Record(ev)
	failed := ev.Verdict == report.Failed
	wait, target, i := ev.Wait, int(ev.Target), a.call
	l.idle = append(l.idle, a) // a may be in use again below
	switch {
	case d.Retry:
		c.due = now + wait
		l.again(i, now)
	case c.closed && d.Capped:
		// Its wait outlasts the cap, and with it the client's part in the run:
		// another call at once would turn a patient client into a storm.
	case c.closed:
		l.nextCall(i, now, failed)
	default:
		l.table.put(i)
	}
	if l.ready[target].size > 0 {
		l.now = now
		l.serve(target)
	}
}

// nextCall starts a closed-loop client's next call after its think time.
func (l *loop) nextCall(i int32, now int64, failed bool) {
	c := &l.table.calls[i]
	due := now + l.warp.shorten(int64(l.e.cfg.Plan.Think(int(c.pop), c.client, c.n)))
	if failed {
		due = max(due, now+int64(Floor))
	}
	if until, open := c.mem.OpenUntil(now); open {
		due = max(due, until)
	}
	l.begin(i, Slot{N: c.n + 1, Due: due, Client: c.client, Population: c.pop}, true)
	l.again(i, now)
}

// again sends a call at once when it is due already, else files it.
func (l *loop) again(i int32, now int64) {
	c := &l.table.calls[i]
	switch {
	case l.e.stopped.Load() || c.due >= l.end:
		if !c.closed {
			l.table.put(i)
		}
	case c.due <= now && !l.paused:
		l.offer(i)
	default:
		l.wheel.add(i)
	}
}

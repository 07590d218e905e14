package load

import (
	"math"
	"sync/atomic"
)

// steer is what a person changes while the run goes on. The zero value leaves
// the plan alone; loops read it between attempts, at the price of a load each.
type steer struct {
	pace      atomic.Uint64 // bits of the factor on the planned rate; 0 is 1
	behaviour atomic.Pointer[Behaviour]
	paused    atomic.Bool
}

// SetPace makes the plan go by faster or slower, from now on: due times come
// factor times as fast, and the pauses of closed loops are as much shorter.
// What is played faster than planned begins again at its beginning when it is
// used up before the run ends. A factor that is not above 0 is 1.
func (e *Engine) SetPace(factor float64) {
	if !(factor > 0) || math.IsInf(factor, 0) {
		factor = 1
	}
	e.steer.pace.Store(math.Float64bits(factor))
}

// SetBehaviour makes all clients decide by b from their next answer on; nil
// gives each its own again. Waits under way are sat out.
func (e *Engine) SetBehaviour(b Behaviour) {
	if b == nil {
		e.steer.behaviour.Store(nil)
		return
	}
	e.steer.behaviour.Store(&b)
}

// SetPaused makes all clients stand still, or go on. What falls due meanwhile is
// as much later as the pause is long; answers are still taken in, and the time
// of the run goes on. It holds within 50 ms.
func (e *Engine) SetPaused(on bool) { e.steer.paused.Store(on) }

// Offered is how many attempts have been sent or are about to be; it is
// counted only where MaxAttempts bounds the run.
func (e *Engine) Offered() int64 { return min(e.offered.Load(), e.cfg.MaxAttempts) }

// behaviour is what the clients of a population go by now.
func (e *Engine) behaviour(population uint16) Behaviour {
	if b := e.steer.behaviour.Load(); b != nil {
		return *b
	}
	return e.behave[population]
}

// warp maps the plan's time to the run's: from real on, planned time goes by
// factor times as fast. The zero value is the plan's own pace.
type warp struct {
	factor     float64
	real, plan int64 // the same instant in both times
	bits       uint64
	lap        int64 // planned time of the rounds of the schedule before this one
	due        int64 // planned due time of the loop's next slot
}

// toReal is when something due at plan is to be sent.
func (w *warp) toReal(plan int64) int64 {
	if w.factor == 0 {
		return plan
	}
	return w.real + clampTime(float64(plan-w.plan)/w.factor)
}

func (w *warp) toPlan(real int64) int64 {
	if w.factor == 0 {
		return real
	}
	return w.plan + clampTime(float64(real-w.real)*w.factor)
}

// shorten is a planned pause at the present pace.
func (w *warp) shorten(pause int64) int64 {
	if w.factor == 0 {
		return pause
	}
	return clampTime(float64(pause) / w.factor)
}

func clampTime(v float64) int64 {
	return int64(min(max(v, -math.MaxInt64/4), math.MaxInt64/4))
}

// pull takes the next slot of the schedule, at the present pace.
func (l *loop) pull() {
	w := &l.warp
	l.slot, l.more = l.sched.Next()
	if length := int64(l.e.cfg.Plan.Duration); !l.more && w.factor > 0 && w.toReal(w.lap+length) < l.end {
		w.lap += length
		l.sched = l.e.cfg.Plan.SchedulePart(uint32(l.id), uint32(len(l.e.cfg.Senders)))
		l.slot, l.more = l.sched.Next()
	}
	if l.more {
		w.due = l.slot.Due + w.lap
		l.slot.Due = w.toReal(w.due)
	}
}

// steered takes up a pause or its end, and a change of pace.
func (l *loop) steered() {
	switch on := l.e.steer.paused.Load(); {
	case on && !l.paused:
		l.paused, l.pausedAt = true, l.now
	case !on && l.paused:
		l.resume()
	}
	bits := l.e.steer.pace.Load()
	if l.paused || bits == l.warp.bits {
		return
	}
	w := &l.warp
	w.plan, w.real = w.toPlan(l.now), l.now
	w.bits, w.factor = bits, math.Float64frombits(bits)
	if l.more && l.slot.Due > l.now {
		l.slot.Due = max(w.toReal(w.due), l.now)
	}
}

// resume ends a pause: the plan goes on from where it stood, and what fell due
// in the pause, or was waiting for a connection, is due that much later.
func (l *loop) resume() {
	l.paused = false
	length := l.now - l.pausedAt
	w := &l.warp
	w.plan, w.real = w.toPlan(l.pausedAt), l.now
	if w.factor == 0 {
		w.factor = 1
	}
	if l.more {
		l.slot.Due = w.toReal(w.due)
	}
	var held []int32
	for {
		i, ok := l.wheel.pop(l.now)
		if !ok {
			break
		}
		held = append(held, i)
	}
	for _, i := range held {
		l.table.calls[i].due += length
		l.wheel.add(i)
	}
	for t := range l.ready {
		for i := range l.ready[t].all() {
			l.table.calls[i].due += length
		}
	}
}

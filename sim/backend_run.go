package sim

import (
	"context"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
)

// Events of a backend run.
type backendEvent struct {
	what    backendWhat
	attempt int32
}

type backendWhat uint8

const (
	callArrives backendWhat = iota
	attemptLeaves
	attemptExpires
	serviceEnds
	serverWakes
)

// tried is one attempt; slots are reused once nobody refers to them.
type tried struct {
	sent    Micros
	call    int32
	holders int8 // the timer and the server
	over    bool // answered, turned away or timed out: the client knows
	queued  bool
}

// wanted is one call.
type wanted struct {
	client  int64
	first   Micros
	attempt int
	rng     load.Rand
	mem     load.Memory
}

// backendRun is the state of a run.
type backendRun struct {
	p         *backend
	o         *Outcome
	behaviour load.Behaviour
	agenda    agenda[backendEvent]
	gap       interface{ next() Micros }
	tries     []tried
	freeTry   []int32
	calls     []wanted
	freeCall  []int32
	budgets   map[int64]load.Memory
	waiting   []int32 // queue, from head
	head      int
	busy      bool
	sec       []backendSecond
	n         struct{ calls, ok, failed, attempts, retries, timeouts, away, shed, wasted int64 }
	mostQueue int64
	longest   Micros
}

type backendSecond struct{ calls, attempts, ok int64 }

// randomArrivals are a Poisson process by CPython's expovariate.
type randomArrivals struct {
	r    *PyRandom
	rate float64
	at   Micros
}

func (a *randomArrivals) next() Micros {
	at := a.at
	a.at += Micros(a.r.Expovariate(a.rate) * float64(Second))
	return at
}

// evenArrivals come at the even rate of a stream.
type evenArrivals struct{ s stream }

func (a *evenArrivals) next() Micros {
	at := a.s.at
	a.s.pop()
	return at
}

func (p *backend) Run(ctx context.Context, o *Outcome) error {
	b, err := load.ParseBehaviour(p.Behaviour)
	if err != nil {
		return err
	}
	r := &backendRun{p: p, o: o, behaviour: b, budgets: map[int64]load.Memory{}}
	if p.Arrivals == arriveRandom {
		r.gap = &randomArrivals{r: NewPyRandom(p.Seed), rate: p.Offered.Float()}
	} else {
		r.gap = &evenArrivals{evenly(0, p.Duration, p.Offered)}
	}
	r.agenda.add(r.gap.next(), backendEvent{what: callArrives})
	err = r.loop(ctx)
	r.report()
	return err
}

func (r *backendRun) loop(ctx context.Context) error {
	for steps := 0; ; steps++ {
		if r.agenda.peek() >= r.p.Duration {
			return nil
		}
		at, e := r.agenda.next()
		if steps&0xffff == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.o.Progress != nil {
				r.o.Progress(at.Seconds() / r.p.Duration.Seconds())
			}
		}
		switch e.what {
		case callArrives:
			r.arrive(at)
		case attemptLeaves:
			r.send(at, e.attempt)
		case attemptExpires:
			r.expire(at, e.attempt)
		case serviceEnds:
			r.served(at, e.attempt)
		case serverWakes:
			r.serve(at)
		}
	}
}

func (r *backendRun) second(at Micros) *backendSecond {
	i := int(at / Second)
	for i >= len(r.sec) {
		r.sec = append(r.sec, backendSecond{})
	}
	return &r.sec[i]
}

func (r *backendRun) arrive(at Micros) {
	n := r.n.calls
	r.n.calls++
	r.second(at).calls++
	var c int32
	if k := len(r.freeCall); k > 0 {
		c = r.freeCall[k-1]
		r.freeCall = r.freeCall[:k-1]
	} else {
		r.calls = append(r.calls, wanted{})
		c = int32(len(r.calls) - 1)
	}
	client := n % r.p.Clients
	r.calls[c] = wanted{client: client, first: at, rng: load.NewRand(r.p.Seed, uint32(client), uint64(n))}
	r.send(at, c)
	if next := r.gap.next(); next < r.p.Duration {
		r.agenda.add(next, backendEvent{what: callArrives})
	}
}

// send starts an attempt of call c.
func (r *backendRun) send(at Micros, c int32) {
	call := &r.calls[c]
	call.attempt++
	r.n.attempts++
	r.second(at).attempts++
	if call.attempt > 1 {
		r.n.retries++
	}
	full := r.p.Queue > 0 && int64(len(r.waiting)-r.head) >= r.p.Queue
	if full || r.p.OutageHow == outageFails && r.p.out(at) {
		r.n.away++
		r.after(at, c, report.Refused)
		return
	}
	var t int32
	if k := len(r.freeTry); k > 0 {
		t = r.freeTry[k-1]
		r.freeTry = r.freeTry[:k-1]
	} else {
		r.tries = append(r.tries, tried{})
		t = int32(len(r.tries) - 1)
	}
	r.tries[t] = tried{sent: at, call: c, holders: 2, queued: true}
	r.waiting = append(r.waiting, t)
	r.mostQueue = max(r.mostQueue, int64(len(r.waiting)-r.head))
	r.agenda.add(at+r.p.Timeout, backendEvent{attemptExpires, t})
	if !r.busy {
		r.serve(at)
	}
}

// serve lets the server take the next request, if it can work.
func (r *backendRun) serve(at Micros) {
	r.busy = false
	if r.p.OutageHow == outageStalls && r.p.out(at) {
		r.busy = true
		r.agenda.add(r.p.OutageAt+r.p.OutageFor, backendEvent{what: serverWakes})
		return
	}
	for r.head < len(r.waiting) {
		t := r.waiting[r.head]
		r.head++
		if r.head > 4096 && r.head*2 > len(r.waiting) {
			r.waiting = r.waiting[:copy(r.waiting, r.waiting[r.head:])]
			r.head = 0
		}
		try := &r.tries[t]
		waited := at - try.sent
		if r.p.ShedAge > 0 && waited > r.p.ShedAge {
			r.n.shed++
			if !try.over {
				try.over = true
				r.after(at, try.call, report.Refused)
			}
			r.release(t)
			continue
		}
		if r.p.Stops && try.over {
			r.release(t)
			continue
		}
		r.longest = max(r.longest, waited)
		r.busy = true
		took := r.p.serviceTime()
		if r.p.OutageHow == outageSlows && r.p.out(at) {
			took = took * 100 / Micros(r.p.SlowShare)
		}
		r.agenda.add(at+took, backendEvent{serviceEnds, t})
		return
	}
}

func (r *backendRun) served(at Micros, t int32) {
	try := &r.tries[t]
	if try.over {
		r.n.wasted++
	} else {
		try.over = true
		r.n.ok++
		r.second(at).ok++
		r.after(at, try.call, report.Admitted)
	}
	r.release(t)
	r.serve(at)
}

func (r *backendRun) expire(at Micros, t int32) {
	try := &r.tries[t]
	if !try.over {
		try.over = true
		r.n.timeouts++
		r.after(at, try.call, report.Failed)
	}
	r.release(t)
}

func (r *backendRun) release(t int32) {
	if r.tries[t].holders--; r.tries[t].holders == 0 {
		r.freeTry = append(r.freeTry, t)
	}
}

// after lets the client decide, with the very code that runs live.
func (r *backendRun) after(at Micros, c int32, v report.Verdict) {
	call := &r.calls[c]
	o := load.Outcome{Verdict: v, Attempt: call.attempt, Elapsed: time.Duration(at-call.first) * time.Microsecond}
	switch v {
	case report.Admitted:
		o.Status = 200
	case report.Refused:
		o.Status = 503
	default:
		o.Class = report.Timeout
	}
	mem := r.budgets[call.client]
	mem.Prev, mem.Paid = call.mem.Prev, call.mem.Paid
	d := load.Decide(r.behaviour, o, int64(at)*1000, &mem, &call.rng, load.Limits{MaxWait: time.Hour})
	call.mem = mem
	r.budgets[call.client] = mem
	switch {
	case d.Retry:
		r.agenda.add(at+Micros((d.Wait+time.Microsecond-1)/time.Microsecond), backendEvent{attemptLeaves, c})
		return
	case v != report.Admitted:
		r.n.failed++
	}
	r.freeCall = append(r.freeCall, c)
}

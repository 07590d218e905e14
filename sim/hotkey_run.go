package sim

import (
	"context"
	"math"
	"math/big"
	"time"

	"github.com/weir-cli/weir/limit"
)

// leaseAnswer is what a LEASE brings back to its gateway.
type leaseAnswer struct {
	at          Micros
	gateway     int64
	granted     int64
	deniedUntil int64 // ns, when nothing was granted
}

// hotKeyRun is the state of a run. LEASE calls all take the same time, so they
// reach the store, and come back, in the order in which they were sent.
type hotKeyRun struct {
	p       *hotKey
	rule    limit.BlockLease
	book    *limit.BlockBook
	store   limit.Bucket
	held    []limit.BlockHeld
	answers []leaseAnswer // from head on
	head    int
	random  *PyRandom
	calls   int64
	grants  int64
	back    int64
	dropped int64
	busy    *windows // LEASE calls in a second
}

func (p *hotKey) Run(ctx context.Context, o *Outcome) error {
	block := p.block()
	book, err := limit.NewBlockBook(limit.Spec{Rate: p.Rate.Rate, Burst: p.Burst}.Bucket(), block, p.Gateways)
	if err != nil {
		return err
	}
	r := &hotKeyRun{
		p: p, book: book, random: NewPyRandom(p.Seed), busy: newWindows(Second),
		rule: limit.BlockLease{Block: block, Low: block * p.RenewPercent / 100, Life: time.Duration(p.Expiry) * time.Microsecond},
		held: make([]limit.BlockHeld, p.Gateways),
	}
	var (
		requests  = evenly(0, p.Duration, p.Requests)
		passed    = newWindows(Second)
		late      = newExcess(p.Rate.Rate)
		all       = newExcess(p.Rate.Rate)
		room      = p.Burst * all.token // burst + rate*t - admissions so far
		least     = room
		last, now Micros
		admitted  int64
		done      int64
		rec       = o.recorder()
	)
	for g := int64(0); requests.at != never; done++ {
		if err = o.goOn(ctx, done, requests.at, p.Duration); err != nil {
			break
		}
		now = requests.at
		requests.pop()
		ok := r.request(g, now)
		if rec != nil {
			a := decidedAt(now, g, ok, r.held[g].Wait(int64(now)*1000))
			rec.record(&a)
		}
		if ok {
			admitted++
			passed.add(now)
			room += int64(now-last)*1000*all.units - all.token
			least = min(least, room)
			last = now
			if now > p.ExcessAfter {
				late.admit(now)
			}
		}
		if g++; g == p.Gateways {
			g = 0
		}
	}
	inStore := r.book.Tokens(&r.store, int64(now)*1000)
	r.deliver(math.MaxInt64)
	held := int64(0)
	for i := range r.held {
		held += r.held[i].Tokens()
	}
	span := p.Duration
	if err != nil {
		span = now
	}
	// The excess bound in hundredths of a unit, exactly.
	bound := new(big.Int).Mul(big.NewInt(p.Gateways), big.NewInt(block))
	bound.Mul(bound, big.NewInt(100+p.RenewPercent))
	worst := new(big.Int).Mul(big.NewInt(late.worst), big.NewInt(100))
	o.Set("requests", float64(done))
	o.Set("block", float64(block))
	o.Set("lease_calls", float64(r.calls))
	o.Set("lease_calls_per_s", float64(r.calls)/max(span, 1).Seconds())
	o.Set("max_lease_calls_in_1s", float64(r.busy.spans[0].best))
	o.Set("lease_grants", float64(r.grants))
	o.Set("lease_denials", float64(r.calls-r.grants))
	o.Set("store_calls_without_leases", float64(done))
	o.Set("admitted", float64(admitted))
	o.Set("refused", float64(done-admitted))
	o.Set("max_in_1s", float64(passed.spans[0].best))
	o.Set("tokens_held_at_end", float64(held))
	o.Set("tokens_given_back", float64(r.back))
	o.Set("tokens_expired", float64(r.dropped))
	o.Set("tokens_in_store_at_end", float64(inStore))
	o.Set("largest_excess", late.tokens(late.worst))
	o.Set("largest_excess_bound", float64(p.Gateways)*float64(block)*float64(100+p.RenewPercent)/100)
	o.Set("bound", float64(p.Burst)+p.Rate.Float()*span.Seconds())
	o.Set("admitted_is_granted_less_held_holds", holds(admitted == block*r.grants-held-r.back-r.dropped))
	o.Set("admitted_within_bound_holds", holds(least >= 0))
	o.Set("excess_within_bound_holds", holds(worst.Cmp(bound.Mul(bound, big.NewInt(late.token))) <= 0))
	return err
}

// goOn tells of progress now and then and whether to stop.
func (o *Outcome) goOn(ctx context.Context, done int64, at, end Micros) error {
	if done%checkEvery != 0 {
		return nil
	}
	if o.Progress != nil {
		o.Progress(float64(at) / float64(end))
	}
	return ctx.Err()
}

// decidedAt is a request that a gateway decided at once.
func decidedAt(now Micros, gateway int64, ok bool, wait time.Duration) attempt {
	a := attempt{sent: now, decided: now, done: now, gateway: int32(gateway)}
	if a.d.OK = ok; !ok {
		a.d.RetryAfter = wait
	}
	return a
}

// holds is a property as a figure.
func holds(ok bool) float64 {
	if ok {
		return 1
	}
	return 0
}

// request decides a request at gateway g and sends what it asks for.
func (r *hotKeyRun) request(g int64, now Micros) bool {
	r.deliver(now)
	h, ns := &r.held[g], int64(now)*1000
	r.expire(h, now)
	step := r.rule.Request(h, ns, 1)
	if step.Asks() {
		r.lease(g, now)
	}
	return step.Admits()
}

// lease sends a LEASE. What the store does half a round trip later is settled
// now, since every call sent earlier has been.
func (r *hotKeyRun) lease(g int64, now Micros) {
	a := leaseAnswer{at: now + r.p.RoundTrip, gateway: g}
	a.granted, a.deniedUntil = r.book.Lease(&r.store, int64(now+r.p.RoundTrip/2)*1000)
	r.calls++
	r.busy.add(now)
	if a.granted > 0 {
		r.grants++
	}
	r.answers = append(r.answers, a)
}

// deliver applies the answers that have come by now.
func (r *hotKeyRun) deliver(now Micros) {
	for r.head < len(r.answers) && r.answers[r.head].at <= now {
		a := &r.answers[r.head]
		h := &r.held[a.gateway]
		if a.granted > 0 {
			r.expire(h, a.at)
			r.rule.Granted(h, int64(a.at)*1000, a.granted)
		} else {
			// Drawn in microseconds; the comparison is exact in whole ns.
			jitter := math.Ceil(r.random.Uniform(0, float64(r.p.Jitter)) * 1000)
			r.rule.Denied(h, a.deniedUntil+int64(jitter))
		}
		r.head++
	}
	if r.head == len(r.answers) {
		r.answers, r.head = r.answers[:0], 0
	} else if r.head > 1024 && r.head > len(r.answers)/2 {
		r.answers = r.answers[:copy(r.answers, r.answers[r.head:])]
		r.head = 0
	}
}

// expire takes unspent tokens past their life from a gateway, and gives them
// back to the store half a round trip later.
func (r *hotKeyRun) expire(h *limit.BlockHeld, now Micros) {
	n := r.rule.Expired(h, int64(now)*1000)
	switch {
	case n == 0:
	case r.p.GiveBack:
		r.back += n
		r.book.GiveBack(&r.store, int64(now+r.p.RoundTrip/2)*1000, n)
	default:
		r.dropped += n
	}
}

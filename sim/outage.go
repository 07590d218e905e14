package sim

import (
	"context"
	"fmt"

	"github.com/weir-cli/weir/limit"
)

// outage is a storm through a central bucket whose store does not answer for a
// while, with a breaker and a fallback in every gateway.
type outage struct {
	Trace     `yaml:",inline"`
	Rate      Rate   `yaml:"rate" about:"of the key's bucket"`
	Burst     int64  `yaml:"burst" about:"of the key's bucket"`
	Others    Rate   `yaml:"others" about:"other partners' calls, evenly while the storm runs; call j goes to gateway j mod N"`
	Capacity  int64  `yaml:"backend_capacity" about:"calls a second that the backend can take"`
	From      Micros `yaml:"outage_from" about:"checks that reach the store from now on get no answer"`
	For       Micros `yaml:"outage_for" about:"how long that lasts"`
	ToStore   Micros `yaml:"to_store" about:"from a gateway to the store"`
	FromStore Micros `yaml:"from_store" about:"from the store back"`
	Timeout   Micros `yaml:"timeout" about:"a check without an answer fails this long after sending"`
	Failures  int64  `yaml:"failures" about:"failures in a row that open a gateway's breaker"`
	Probe     Micros `yaml:"probe_every" about:"an open breaker lets a request through at opening + k times this"`
	Policy    string `yaml:"policy" about:"what decides without the store: open admits; closed refuses; local admits other partners and gives the key 1/gateways of its limit"`
}

func outageKind() Kind {
	return Kind{
		Name:  "store-outage",
		About: "A store that does not answer, with a breaker and a fallback in every gateway",
		Rules: []string{
			"a check runs in the store to_store after sending and is answered from_store later",
			"at equal times: failures, answers, checks in the store, requests; the key's requests before the others'",
			"failures in a row are counted over all requests of a gateway; those in flight when the breaker opens count no further",
			"while open, one request at a time goes to the store as a probe; an answered one closes the breaker",
			"a request whose check failed is decided by the policy when it failed",
			"the bucket stays exactly as last written",
		},
		Figures: append([]FigureInfo{
			{"policy_admitted", "requests", "calls of the key that the policy lets pass"},
			{"policy_refused", "requests", "calls of the key that the policy refuses"},
			{"partners_refused", "requests", "calls of other partners that are refused"},
			{"partners_by_policy", "requests", "calls of other partners that the policy decides"},
			{"central_admitted", "requests", "calls of the key that the central bucket lets pass"},
			{"central_admitted_first_second_after_outage", "requests", "of these, by their time in the store, in the first second after the outage"},
			{"admitted_in_outage", "requests", "calls of the key that pass while the store is out"},
			{"breakers_opened", "gateways", "gateways whose breaker opened"},
			{"first_breaker_opened_after_s", "s", "from the outage's begin to the first opening"},
			{"last_breaker_opened_after_s", "s", "from the outage's begin to the last breaker's first opening"},
			{"first_breaker_closed_after_s", "s", "from the outage's begin to the first closing"},
			{"last_breaker_closed_after_s", "s", "from the outage's begin to the last closing"},
			{"breaker_N_opened_after_s", "s", "from the outage's begin to the opening of gateway N's breaker, from 1"},
			{"breaker_N_closed_after_s", "s", "from the outage's begin to the closing of gateway N's breaker, from 1"},
			{"checks_failed", "checks", "checks that got no answer"},
			{"probes", "checks", "of all checks, those that were probes"},
			{"backend_busiest_second", "requests", "most that pass of all partners in an aligned second"},
			{"backend_seconds_over_capacity", "s", "aligned seconds in which more pass than the backend can take"},
		}, tallyFigures...),
		Plots: []string{"backend_per_second"},
		New: func() Params {
			t := newTrace()
			t.StormOnly, t.Length = true, 180*Second
			return &outage{Trace: t, Rate: PerSecond(10), Burst: 20, Others: PerSecond(695), Capacity: 800,
				From: 120 * Second, For: 12 * Second, ToStore: 500, FromStore: 500, Timeout: 3000, Failures: 5, Probe: Second, Policy: "local"}
		},
	}
}

// Unused lists the parameters that mean nothing beside the others.
func (p *outage) Unused() map[string]string {
	m := p.Trace.unused()
	if p.Spread != spreadRandom {
		m["seed"] = "means something with spread=random"
	}
	return m
}

func (p *outage) bucket() limit.BucketSpec {
	return limit.BucketSpec{Rate: p.Rate.Rate, Burst: limit.Whole(p.Burst), Follow: true}
}

func (p *outage) Validate() error {
	if err := firstError(p.Trace.validate(),
		rateWithin("rate", p.Rate), countWithin("burst", p.Burst, 1, maxCalls),
		rateWithin("others", p.Others), countWithin("backend_capacity", p.Capacity, 1, maxCalls),
		spanWithin("outage_from", p.From, 0, maxTime), spanWithin("outage_for", p.For, 0, maxTime),
		spanWithin("to_store", p.ToStore, 0, 3600*Second), spanWithin("from_store", p.FromStore, 0, 3600*Second),
		spanWithin("timeout", p.Timeout, 1, 3600*Second),
		countWithin("failures", p.Failures, 1, maxCalls),
		spanWithin("probe_every", p.Probe, 1, maxTime),
		oneOfNames("policy", p.Policy, "open", "closed", "local"),
	); err != nil {
		return err
	}
	if p.Timeout < p.ToStore+p.FromStore {
		return &ParamError{"timeout", p.Timeout.String() + " is shorter than the way to the store and back", "--set timeout=" + (2 * (p.ToStore + p.FromStore)).String()}
	}
	if _, err := p.bucket().Rule(); err != nil {
		return paramOf(err, "")
	}
	_, err := p.fallback()
	return paramOf(err, "")
}

// fallback is what one gateway does with the key when the store is out.
func (p *outage) fallback() (*limit.Fallback, error) {
	mode, err := limit.ParseFailMode(p.Policy)
	if err != nil {
		return nil, err
	}
	return limit.NewFallback(mode, p.bucket(), limit.Fraction{Num: 1, Den: p.Gateways})
}

// Document is how the run's events are read. The others are not judged.
func (p *outage) Document() Document {
	d := traceDocument(&p.Trace, bucketPromise(p.Rate, p.Burst))
	return d
}

// check is one request on its way to the store and back.
type check struct {
	sent    Micros
	kind    callKind
	gateway int32
	ticket  limit.Ticket
	d       limit.Decision
}

// queue is checks that come out in the order in which they went in.
type queue struct {
	buf     []check
	head, n int
}

func (q *queue) push(c check) {
	if q.n == len(q.buf) {
		next := make([]check, max(64, 2*len(q.buf)))
		for i := range q.n {
			next[i] = q.buf[(q.head+i)&(len(q.buf)-1)]
		}
		q.buf, q.head = next, 0
	}
	q.buf[(q.head+q.n)&(len(q.buf)-1)] = c
	q.n++
}

// due is when the first comes out, if it takes after from its sending.
func (q *queue) due(after Micros) Micros {
	if q.n == 0 {
		return never
	}
	return q.buf[q.head].sent + after
}

func (q *queue) pop() check {
	c := q.buf[q.head]
	q.head = (q.head + 1) & (len(q.buf) - 1)
	q.n--
	return c
}

// outageRun is one run.
type outageRun struct {
	p        *outage
	rule     limit.BucketRule
	bucket   limit.Bucket
	breakers []*limit.Breaker
	policies []*limit.Fallback
	opened   []Micros // first opening, by gateway; never when it did not
	closed   []Micros // last closing

	toStore, answers, failures queue

	t       *tally
	rec     *recorder
	seconds []int64 // what passes to the backend

	policyAdmitted, policyRefused   int64
	partnersRefused, partnersPolicy int64
	central, firstSecond, inOutage  int64
	failed, probes                  int64
}

func (p *outage) Run(ctx context.Context, o *Outcome) error {
	r := &outageRun{p: p, t: newTally(p.StormFrom, p.stormEnd()), rec: o.recorder()}
	var err error
	if r.rule, err = p.bucket().Rule(); err != nil {
		return err
	}
	for range p.Gateways {
		b, err := limit.NewBreaker(limit.BreakerRule{Failures: int(p.Failures), Every: p.Probe.duration()})
		if err != nil {
			return err
		}
		f, err := p.fallback()
		if err != nil {
			return err
		}
		r.breakers, r.policies = append(r.breakers, b), append(r.policies, f)
		r.opened, r.closed = append(r.opened, never), append(r.closed, never)
	}
	r.play(ctx, o)
	r.report(o)
	return ctx.Err()
}

func (r *outageRun) play(ctx context.Context, o *Outcome) {
	p := r.p
	f := p.traffic(p.Length)
	others := evenly(p.StormFrom, p.stormEnd(), p.Others)
	otherGateway := int64(0)
	round := p.ToStore + p.FromStore
	var c call
	for i := 1; ; i++ {
		key, other := f.peek(), others.at
		request := min(key, other)
		store, answer, failure := r.toStore.due(p.ToStore), r.answers.due(round), r.failures.due(p.Timeout)
		at := min(request, store, answer, failure)
		switch {
		case at == never:
			return
		case failure == at:
			r.fail(at, r.failures.pop())
		case answer == at:
			r.answer(at, r.answers.pop())
		case store == at:
			r.inStore(at, r.toStore.pop())
		case key == at:
			f.next(&c)
			r.t.calls[c.kind]++
			r.arrive(at, c.kind, c.gateway)
		default:
			r.arrive(at, otherCall, int32(otherGateway))
			otherGateway = step(otherGateway, p.Gateways)
			others.pop()
		}
		if i%checkEvery == 0 {
			if ctx.Err() != nil {
				return
			}
			if o.Progress != nil {
				o.Progress(float64(at) / float64(p.Length))
			}
		}
	}
}

// arrive sends a request's check, or decides it on the spot.
func (r *outageRun) arrive(at Micros, kind callKind, gateway int32) {
	c := check{sent: at, kind: kind, gateway: gateway, ticket: r.breakers[gateway].Ask(int64(at) * 1000)}
	if c.ticket.Way == limit.Locally {
		r.byPolicy(at, &c)
		return
	}
	if c.ticket.Way == limit.Probe {
		r.probes++
	}
	r.toStore.push(c)
}

// inStore runs a check, unless the store is out.
func (r *outageRun) inStore(at Micros, c check) {
	if at >= r.p.From && at < r.p.From+r.p.For {
		r.failures.push(c)
		return
	}
	c.d = limit.Decision{OK: true}
	if c.kind != otherCall {
		c.d = r.bucket.Take(&r.rule, int64(at)*1000, 1)
		if c.d.OK {
			r.central++
			if end := r.p.From + r.p.For; at >= end && at < end+Second {
				r.firstSecond++
			}
		}
		r.count(at, &c)
	}
	r.answers.push(c)
}

func (r *outageRun) answer(at Micros, c check) {
	if r.breakers[c.gateway].Answered(c.ticket) {
		r.closed[c.gateway] = at
	}
	if c.kind == otherCall {
		r.count(at, &c)
	}
	r.record(&c, at-r.p.FromStore, at)
}

func (r *outageRun) fail(at Micros, c check) {
	r.failed++
	if r.breakers[c.gateway].Failed(c.ticket, int64(at)*1000) && r.opened[c.gateway] == never {
		r.opened[c.gateway] = at
	}
	r.byPolicy(at, &c)
}

// byPolicy decides a request without the store.
func (r *outageRun) byPolicy(at Micros, c *check) {
	if c.kind == otherCall {
		r.partnersPolicy++
		c.d = limit.Decision{OK: r.policies[c.gateway].Mode() != limit.FailClosed, RetryAfter: limit.Unknown}
		if !c.d.OK {
			r.partnersRefused++
		}
	} else {
		c.d = r.policies[c.gateway].Decide(int64(at)*1000, 1)
		if c.d.OK {
			r.policyAdmitted++
		} else {
			r.policyRefused++
		}
	}
	r.count(at, c)
	r.record(c, at, at)
}

// count takes a decision made at the instant at.
func (r *outageRun) count(at Micros, c *check) {
	if c.d.OK {
		bump(&r.seconds, int64(at/Second))
	}
	switch {
	case c.kind == otherCall:
	case !c.d.OK:
		r.t.refuse(c.kind, &c.d)
	default:
		r.t.admit(c.kind, at)
		if at >= r.p.From && at < r.p.From+r.p.For {
			r.inOutage++
		}
	}
}

func (r *outageRun) record(c *check, decided, done Micros) {
	if r.rec == nil || c.kind == otherCall {
		return
	}
	r.rec.record(&attempt{sent: c.sent, decided: decided, done: done, client: uint32(c.kind), gateway: c.gateway, group: uint16(c.kind), d: c.d})
}

// maxShown is how many gateways have figures of their own.
const maxShown = 1000

func (r *outageRun) report(o *Outcome) {
	p := r.p
	o.Set("policy_admitted", float64(r.policyAdmitted))
	o.Set("policy_refused", float64(r.policyRefused))
	o.Set("partners_refused", float64(r.partnersRefused))
	o.Set("partners_by_policy", float64(r.partnersPolicy))
	o.Set("central_admitted", float64(r.central))
	o.Set("central_admitted_first_second_after_outage", float64(r.firstSecond))
	o.Set("admitted_in_outage", float64(r.inOutage))
	opened := 0
	for g := range r.breakers {
		if r.opened[g] != never {
			opened++
		}
		if g >= maxShown {
			continue
		}
		if r.opened[g] != never {
			o.Set(fmt.Sprintf("breaker_%d_opened_after_s", g+1), (r.opened[g] - p.From).Seconds())
		}
		if r.closed[g] != never {
			o.Set(fmt.Sprintf("breaker_%d_closed_after_s", g+1), (r.closed[g] - p.From).Seconds())
		}
	}
	o.Set("breakers_opened", float64(opened))
	for _, x := range []struct {
		name string
		at   []Micros
	}{{"opened", r.opened}, {"closed", r.closed}} {
		if first, last, ok := ends(x.at); ok {
			o.Set("first_breaker_"+x.name+"_after_s", (first - p.From).Seconds())
			o.Set("last_breaker_"+x.name+"_after_s", (last - p.From).Seconds())
		}
	}
	o.Set("checks_failed", float64(r.failed))
	o.Set("probes", float64(r.probes))
	over := 0
	for _, n := range r.seconds {
		if n > p.Capacity {
			over++
		}
	}
	if len(r.seconds) > 0 {
		o.Set("backend_busiest_second", float64(maxOf(r.seconds)))
	}
	o.Set("backend_seconds_over_capacity", float64(over))
	o.Series = append(o.Series, Series{Name: "backend_per_second", Step: 1, Values: floats(r.seconds)})
	r.t.report(o)
	o.Notes = append(o.Notes, "the document counts the key's calls; those of other partners are in the figures")
}

// ends are the least and the largest instant that is not never.
func ends(at []Micros) (first, last Micros, ok bool) {
	first, last = never, -never
	for _, t := range at {
		if t != never {
			first, last, ok = min(first, t), max(last, t), true
		}
	}
	return first, last, ok
}

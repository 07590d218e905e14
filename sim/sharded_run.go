package sim

import (
	"context"
	"math/big"
	"time"

	"github.com/weir-cli/weir/limit"
)

// shardedRun is the state of a run.
type shardedRun struct {
	p       *sharded
	book    *limit.BatchBook
	buckets []limit.Bucket
	rule    limit.BatchLease
	gates   []shardedGate

	calls    []int64 // by aligned second
	store    storeCounts
	failures int64
	skipped  int64
	local    int64 // admitted by the fallback
	turned   int64 // refused by the fallback
	granted  int64 // tokens
}

// shardedGate is one gateway.
type shardedGate struct {
	held  limit.BatchHeld
	store *limit.Breaker
	alone *limit.Fallback
	calls int64
}

// storeCounts are calls to a store and requests that cost none.
type storeCounts struct {
	calls, granting, background, cached int64
}

func (a *storeCounts) add(b storeCounts) {
	a.calls += b.calls
	a.granting += b.granting
	a.background += b.background
	a.cached += b.cached
}

// report sets the figures of storeFigures.
func (a *storeCounts) report(o *Outcome, requests, failures int64, most float64, over Micros) {
	o.Set("store_calls", float64(a.calls))
	o.Set("store_calls_per_s", float64(a.calls)/max(over, 1).Seconds())
	o.Set("max_store_calls_in_a_second", most)
	o.Set("store_calls_per_request", float64(a.calls)/float64(max(requests, 1)))
	o.Set("store_calls_granting", float64(a.granting))
	o.Set("store_calls_denied", float64(a.calls-a.granting-failures))
	o.Set("background_calls", float64(a.background))
	o.Set("refused_by_cache", float64(a.cached))
}

func newShardedRun(p *sharded) (*shardedRun, error) {
	specs := []limit.BucketSpec{limit.Spec{Rate: p.Rate.Rate, Burst: p.Burst}.Bucket()}
	for _, a := range p.Also {
		specs = append(specs, limit.Spec{Rate: a.Rate.Rate, Burst: a.Burst}.Bucket())
	}
	book, err := limit.NewBatchBook(specs...)
	if err != nil {
		return nil, err
	}
	r := &shardedRun{
		p: p, book: book, buckets: make([]limit.Bucket, len(specs)),
		rule: limit.BatchLease{
			Batch: batchSize(p.Leases, p.Rate, p.Gateways, p.BatchTime),
			Life:  time.Duration(p.Life) * time.Microsecond,
		},
		gates: make([]shardedGate, p.Gateways),
	}
	for i := range r.gates {
		g := &r.gates[i]
		if g.store, err = limit.NewBreaker(limit.BreakerRule{
			Failures: int(p.SkipAfter), Every: time.Duration(p.SkipFor) * time.Microsecond, Skip: true,
		}); err != nil {
			return nil, err
		}
		if g.alone, err = p.fallback(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// request decides a request at gateway g.
func (r *shardedRun) request(g *shardedGate, now Micros) bool {
	ns := int64(now) * 1000
	switch r.rule.Request(&g.held, ns) {
	case limit.LeaseSpendAndAsk:
		n, _, way := r.lease(g, now)
		if way != skippedStore {
			r.store.background++
		}
		r.rule.Granted(&g.held, ns, n)
		return true
	case limit.LeaseSpend:
		return true
	case limit.LeaseRefuse:
		r.store.cached++
		return false
	}
	n, wait, way := r.lease(g, now)
	switch {
	case way == skippedStore:
		r.skipped++
		return r.alone(g, ns)
	case way == lostCall:
		return r.alone(g, ns)
	case n > 0:
		r.rule.Fetched(&g.held, ns, n)
		return true
	case r.p.RefusalCache:
		r.rule.Denied(&g.held, ns+int64(wait))
	}
	return false
}

// What became of a call to the store.
type storeWay uint8

const (
	answeredCall storeWay = iota
	lostCall              // no answer
	skippedStore          // not called
)

// lease calls the store unless it is to be skipped.
func (r *shardedRun) lease(g *shardedGate, now Micros) (granted int64, wait time.Duration, way storeWay) {
	ns := int64(now) * 1000
	ticket := g.store.Ask(ns)
	if ticket.Way == limit.Locally {
		return 0, 0, skippedStore
	}
	bump(&r.calls, int64(now/Second))
	r.store.calls++
	g.calls++
	if now >= r.p.Outage.From && now-r.p.Outage.From < r.p.Outage.For {
		r.failures++
		g.store.Failed(ticket, ns)
		return 0, 0, lostCall
	}
	g.store.Answered(ticket)
	if granted, wait = r.book.Lease(r.buckets, ns, r.rule.Batch); granted > 0 {
		r.store.granting++
		r.granted += granted
	}
	return granted, wait, answeredCall
}

// alone decides without the store.
func (r *shardedRun) alone(g *shardedGate, ns int64) bool {
	if g.alone.Decide(ns, 1).OK {
		r.local++
		return true
	}
	r.turned++
	return false
}

func (p *sharded) Run(ctx context.Context, o *Outcome) error {
	r, err := newShardedRun(p)
	if err != nil {
		return err
	}
	var (
		requests = evenly(0, p.Duration, p.Requests)
		passed   = newWindows(Second, 60*Second)
		over     = newExcess(p.Rate.Rate)
		rec      = o.recorder()
		now      Micros
		admitted int64
		done     int64
	)
	for g := int64(0); requests.at != never; done++ {
		if err = o.goOn(ctx, done, requests.at, p.Duration); err != nil {
			break
		}
		now = requests.at
		requests.pop()
		gate := &r.gates[g]
		ok := r.request(gate, now)
		if rec != nil {
			a := decidedAt(now, g, ok, gate.held.Wait(int64(now)*1000))
			rec.record(&a)
		}
		if ok {
			admitted++
			passed.add(now)
			over.admit(now)
		}
		if g++; g == p.Gateways {
			g = 0
		}
	}
	run := p.Duration
	if err != nil {
		run = now
	}
	o.Set("requests", float64(done))
	o.Set("batch", float64(r.rule.Batch))
	o.Set("admitted", float64(admitted))
	o.Set("refused", float64(done-admitted))
	o.Set("max_in_1s", float64(passed.spans[0].best))
	o.Set("max_in_60s", float64(passed.spans[1].best))
	o.Set("worst_excess", over.tokens(max(0, over.worst-p.Burst*over.token)))
	o.Set("bound", float64(p.Burst)+p.Rate.Float()*run.Seconds())
	r.report(o, done, admitted, now, run)
	o.Series = append(o.Series, Series{Name: "store_calls", Step: 1, Values: floats(r.calls)})
	return err
}

// report sets the figures about the store.
func (r *shardedRun) report(o *Outcome, requests, admitted int64, now, run Micros) {
	p := r.p
	r.store.report(o, requests, r.failures, largest(r.calls), run)
	var busiest, held int64
	for i := range r.gates {
		busiest = max(busiest, r.gates[i].calls)
		held += r.gates[i].held.Tokens(int64(now) * 1000)
	}
	o.Set("store_calls_saved", float64(requests-r.store.calls))
	o.Set("calls_of_busiest_gateway", float64(busiest))
	o.Set("failures", float64(r.failures))
	o.Set("skipped", float64(r.skipped))
	o.Set("admitted_by_fallback", float64(r.local))
	o.Set("refused_by_fallback", float64(r.turned))
	o.Set("admitted_from_store", float64(admitted-r.local))
	o.Set("tokens_granted", float64(r.granted))
	o.Set("tokens_held_at_end", float64(held))
	o.Set("tokens_dropped", float64(r.granted-held-(admitted-r.local)))
	share := p.Rate.Float() * float64(p.FallbackShare) / float64(p.Gateways)
	o.Set("fallback_rate_per_gateway", share)
	o.Set("fallback_burst_per_gateway", max(1, float64(p.Burst*p.FallbackShare)/float64(p.Gateways)))
	o.Set("fallback_rate_of_fleet", share*float64(p.Gateways))
	o.Set("closed_form_calls_per_s", min(p.Rate.Float()*float64(p.Gateways), p.Requests.Float()))
	o.Set("closed_form_calls_per_s_without_cache", p.Requests.Float())
	capacity := new(big.Rat).SetInt64(p.ShardCapacity)
	o.Set("gateways_needed", needed(ratPerSecond(p.Requests), big.NewRat(p.GatewayCapacity*p.GatewayPercent, 100)))
	perSecond := new(big.Rat).Mul(big.NewRat(r.store.calls, int64(max(run, 1))), big.NewRat(int64(Second), 1))
	o.Set("shards_needed", needed(perSecond, capacity))
	o.Set("shards_needed_without_cache", needed(ratPerSecond(p.Requests), capacity))
}

// largest is the largest of counts, 0 when there are none.
func largest(counts []int64) float64 {
	return float64(maxOf(append(counts[:len(counts):len(counts)], 0)))
}

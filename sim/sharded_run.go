package sim

import (
	"context"
	"math/big"
	"time"

	"github.com/weir-cli/weir/limit"
)

// shardedRun is the state of a run.
type shardedRun struct {
	p        *sharded
	book     *limit.BatchBook
	buckets  []limit.Bucket
	rule     limit.BatchLease
	skip     limit.StoreSkip
	fallback limit.BucketRule
	gates    []shardedGate

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
	skip  limit.SkipState
	local limit.Bucket
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
	if over > 0 {
		o.Set("store_calls_per_s", float64(a.calls)/over.Seconds())
	}
	o.Set("most_store_calls_in_a_second", most)
	if requests > 0 {
		o.Set("store_calls_per_request", float64(a.calls)/float64(requests))
	}
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
	share, err := p.fallback()
	if err != nil {
		return nil, err
	}
	fallback, err := share.Rule()
	if err != nil {
		return nil, err
	}
	return &shardedRun{
		p: p, book: book, buckets: make([]limit.Bucket, len(specs)),
		rule: limit.BatchLease{
			Batch: batchSize(p.Leases, p.Rate, p.Gateways, p.BatchTime),
			Life:  time.Duration(p.Life) * time.Microsecond,
		},
		skip:     limit.StoreSkip{After: p.SkipAfter, For: time.Duration(p.SkipFor) * time.Microsecond},
		fallback: fallback,
		gates:    make([]shardedGate, p.Gateways),
	}, nil
}

// request decides a request at gateway g.
func (r *shardedRun) request(g *shardedGate, now Micros) bool {
	ns := int64(now) * 1000
	switch r.rule.Request(&g.held, ns) {
	case limit.LeaseSpendAndAsk:
		if r.skip.Ask(&g.skip, ns) {
			r.store.background++
			n, _, _ := r.lease(g, now)
			r.rule.Granted(&g.held, ns, n)
		} else {
			r.rule.Granted(&g.held, ns, 0)
		}
		return true
	case limit.LeaseSpend:
		return true
	case limit.LeaseRefuse:
		r.store.cached++
		return false
	}
	if !r.skip.Ask(&g.skip, ns) {
		r.skipped++
		return r.alone(g, ns)
	}
	n, wait, ok := r.lease(g, now)
	switch {
	case !ok:
		return r.alone(g, ns)
	case n > 0:
		r.rule.Fetched(&g.held, ns, n)
		return true
	case r.p.RefusalCache:
		r.rule.Denied(&g.held, ns+int64(wait))
	}
	return false
}

// lease calls the store. ok is false when it does not answer.
func (r *shardedRun) lease(g *shardedGate, now Micros) (granted int64, wait time.Duration, ok bool) {
	ns := int64(now) * 1000
	for int(now/Second) >= len(r.calls) {
		r.calls = append(r.calls, 0)
	}
	r.calls[now/Second]++
	r.store.calls++
	g.calls++
	if now >= r.p.Outage.From && now-r.p.Outage.From < r.p.Outage.For {
		r.failures++
		r.skip.Failed(&g.skip, ns)
		return 0, 0, false
	}
	r.skip.Answered(&g.skip)
	if granted, wait = r.book.Lease(r.buckets, ns, r.rule.Batch); granted > 0 {
		r.store.granting++
		r.granted += granted
	}
	return granted, wait, true
}

// alone decides without the store.
func (r *shardedRun) alone(g *shardedGate, ns int64) bool {
	if !r.p.Closed && g.local.Take(&r.fallback, ns, 1).OK {
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
	n, _ := countEvenly(p.Requests, p.Duration)
	var (
		arrivals = newEvenly(p.Requests)
		second   = newBusiest(Second)
		minute   = newBusiest(60 * Second)
		over     = newExcess(p.Rate.Rate)
		rec      = newRecording(o.Collector)
		now      Micros
		admitted int64
		done     int64
	)
	for g := int64(0); done < n; done++ {
		if done&(1<<16-1) == 0 {
			if err = ctx.Err(); err != nil {
				break
			}
			if o.Progress != nil {
				o.Progress(float64(done) / float64(n))
			}
		}
		now = arrivals.next()
		ok := r.request(&r.gates[g], now)
		rec.decided(now, 0, g, ok)
		if ok {
			admitted++
			second.add(now)
			minute.add(now)
			over.admit(now)
		}
		if g++; g == p.Gateways {
			g = 0
		}
	}
	rec.close(now)
	run := p.Duration
	if done < n {
		run = now
	}
	o.Set("requests", float64(done))
	o.Set("batch", float64(r.rule.Batch))
	o.Set("admitted", float64(admitted))
	o.Set("refused", float64(done-admitted))
	o.Set("most_in_1s", float64(second.most))
	o.Set("most_in_60s", float64(minute.most))
	o.Set("worst_excess", over.tokens(max(0, over.worst-p.Burst*over.token)))
	o.Set("bound", float64(p.Burst)+p.Rate.Float()*run.Seconds())
	r.report(o, done, admitted, now, run)
	o.Series = append(o.Series, perSecond("store_calls", r.calls))
	return err
}

// report sets the figures about the store.
func (r *shardedRun) report(o *Outcome, requests, admitted int64, now, run Micros) {
	p := r.p
	r.store.report(o, requests, r.failures, most(r.calls), run)
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
	if run > 0 {
		o.Set("shards_needed", needed(big.NewRat(r.store.calls*int64(Second), int64(run)), capacity))
	}
	o.Set("shards_needed_without_cache", needed(ratPerSecond(p.Requests), capacity))
}

// perSecond is a series of counts by aligned second.
func perSecond(name string, counts []int64) Series {
	s := Series{Name: name, Step: 1, Values: make([]float64, len(counts))}
	for i, n := range counts {
		s.Values[i] = float64(n)
	}
	return s
}

// most is the largest of counts.
func most(counts []int64) float64 {
	top := int64(0)
	for _, n := range counts {
		top = max(top, n)
	}
	return float64(top)
}

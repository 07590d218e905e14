package sim

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/weir-cli/weir/limit"
)

func (p *fleet) Run(ctx context.Context, o *Outcome) error {
	rules, err := p.rules()
	if err != nil {
		return err
	}
	shards := make([]fleetShard, p.Shards)
	for i := range shards {
		shards[i] = fleetShard{rules: rules, cache: p.DenyCache}
	}
	keys := newZipf(p.Keys, p.Zipf)
	home := make([]uint16, p.Keys)
	for key := range home {
		home[key] = uint16(shardOf(uint32(key), uint64(p.Shards)))
	}
	n, _ := countOf(p.Requests, p.Duration)
	chunks := make([]fleetChunk, min(fleetChunks, (n+chunkRequests-1)/chunkRequests))
	for i := range chunks {
		chunks[i].from = make([]uint32, p.Shards+1)
	}
	clock := newArrivals(p.Requests)
	done := int64(0)
	for done < n {
		if err = ctx.Err(); err != nil {
			break
		}
		if o.Progress != nil {
			o.Progress(float64(done) / float64(n))
		}
		now := int(min(n-done, epochRequests))
		used := (now + chunkRequests - 1) / chunkRequests
		onAllCores(used, func(i int) {
			first := i * chunkRequests
			chunks[i].draw(keys, p.Seed, uint64(done)/chunkRequests+uint64(i), uint32(first), min(chunkRequests, now-first), home)
		})
		gateway := done % p.Gateways
		onAllCores(len(shards), func(s int) {
			for i := range chunks[:used] {
				c := &chunks[i]
				for _, call := range c.calls[c.from[s]:c.from[s+1]] {
					shards[s].request(call.key, (gateway+int64(call.j))%p.Gateways, clock.after(int64(call.j)))
				}
			}
		})
		clock.skip(int64(now))
		done += int64(now)
	}
	run := p.Duration
	if done < n {
		run = clock.at
	}
	p.report(o, shards, rules, run)
	return err
}

// report sums the shards up.
func (p *fleet) report(o *Outcome, shards []fleetShard, rules []fleetRule, run Micros) {
	var sum fleetShard
	hottest, coolest := 0, 0
	overCapacity, liveKeys, liveLeases, bytes := 0, 0, 0, uintptr(0)
	peak := 0.0
	for i := range shards {
		s := &shards[i]
		sum.store.add(s.store)
		sum.requests += s.requests
		sum.admitted += s.admitted
		sum.ideal += s.ideal
		sum.granted += s.granted
		for t, n := range s.calls {
			for t >= len(sum.calls) {
				sum.calls = append(sum.calls, 0)
			}
			sum.calls[t] += n
		}
		if s.store.calls > shards[hottest].store.calls {
			hottest = i
		}
		if s.store.calls < shards[coolest].store.calls {
			coolest = i
		}
		top := largest(s.calls)
		peak = max(peak, top)
		if top > float64(p.ShardCapacity) {
			overCapacity++
		}
		s.keys.clear(s.keepKey)
		s.leases.clear(s.keepLease)
		liveKeys += s.keys.most
		liveLeases += s.leases.most
		bytes += uintptr(len(s.keys.table))*unsafe.Sizeof(slot[fleetKey]{}) + uintptr(len(s.leases.table))*unsafe.Sizeof(slot[limit.BatchHeld]{})
	}
	o.Set("requests", float64(sum.requests))
	o.Set("admitted", float64(sum.admitted))
	o.Set("refused", float64(sum.requests-sum.admitted))
	o.Set("admitted_by_one_bucket_each", float64(sum.ideal))
	sum.store.report(o, sum.requests, 0, largest(sum.calls), run)
	o.Set("store_calls_saved", float64(sum.requests-sum.store.calls))
	hot := float64(shards[hottest].store.calls)
	o.Set("hottest_shard", float64(hottest))
	o.Set("hottest_shard_calls", hot)
	o.Set("hottest_shard_max_calls_in_a_second", peak)
	o.Set("hottest_shard_calls_per_s", hot/max(run, 1).Seconds())
	o.Set("coolest_shard_calls_per_s", float64(shards[coolest].store.calls)/max(run, 1).Seconds())
	o.Set("hottest_shard_over_mean", hot*float64(len(shards))/float64(max(sum.store.calls, 1)))
	o.Set("shards_over_capacity", float64(overCapacity))
	o.Set("tokens_granted", float64(sum.granted))
	o.Set("tokens_unspent", float64(sum.granted-sum.admitted))
	p.reportKeys(o, shards, rules)
	o.Set("max_live_keys", float64(liveKeys))
	o.Set("max_live_leases", float64(liveLeases))
	o.Set("state_mb", float64(bytes)/1e6)
	o.Series = append(o.Series, Series{Name: "store_calls", Step: 1, Values: floats(sum.calls)})
	for i := range shards {
		o.Series = append(o.Series, Series{Name: fmt.Sprintf("shard_%d_store_calls", i), Step: 1, Values: floats(shards[i].calls)})
	}
	o.Notes = append(o.Notes, "Requests are counted, not recorded one by one: there are no events and no per-key rows")
}

// reportKeys tells which keys were held under or over. Ties go to the lower
// rank, so that the order of a table never shows.
func (p *fleet) reportKeys(o *Outcome, shards []fleetShard, rules []fleetRule) {
	var refused, under, underOne, over, overOne, back, worstBack int64
	var underRank, overRank uint64
	var worstOver float64
	for i := range shards {
		shards[i].keys.each(func(key uint64, k *fleetKey) {
			rank, r := key+1, &rules[k.tier]
			if k.passed < k.offered {
				refused++
			}
			if short := k.ideal - k.passed; short > 0 {
				under++
				back += short
				if short*100 > k.ideal {
					underOne++
				}
				if short > worstBack || short == worstBack && rank < underRank {
					worstBack, underRank = short, rank
				}
			}
			if k.worst > r.burst {
				over++
				if k.worst-r.burst >= r.over.token {
					overOne++
				}
				by := r.over.tokens(k.worst - r.burst)
				if by > worstOver || by == worstOver && rank < overRank {
					worstOver, overRank = by, rank
				}
			}
		})
	}
	o.Set("keys_refused", float64(refused))
	o.Set("keys_held_under", float64(under))
	o.Set("keys_held_under_1_percent", float64(underOne))
	o.Set("requests_held_back", float64(back))
	o.Set("worst_key_held_under", float64(underRank))
	o.Set("worst_requests_held_back", float64(worstBack))
	o.Set("keys_held_over", float64(over))
	o.Set("keys_held_over_by_1_request", float64(overOne))
	o.Set("worst_key_held_over", float64(overRank))
	o.Set("worst_excess", worstOver)
	batch := int64(0)
	for i := range rules {
		batch = max(batch, rules[i].lease.Batch)
	}
	o.Set("largest_batch", float64(batch))
	bound := 0.0
	for i := range rules {
		bound = max(bound, p.mostExcess(p.Tiers[i].Rate, rules[i].lease.Batch))
	}
	o.Set("worst_excess_bound", bound)
	if k := shards[shardOf(0, uint64(p.Shards))].keys.get(0); k != nil {
		o.Set("hottest_key_requests", float64(k.offered))
		o.Set("hottest_key_admitted", float64(k.passed))
	}
}

// mostExcess is how far admissions can be above the bound: by what gateways
// can hold, at most a batch and one less than the half at which they ask, and
// by what the rate gives in the millisecond that the store's clock cuts off.
func (p *fleet) mostExcess(r Rate, batch int64) float64 {
	held := batch - 1
	if batch > 3 {
		held += batch/2 - 1
	}
	return float64(p.Gateways*held) + r.Float()/1000
}

package sim

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// fleet is many keys over many shards at full size. Each key and gateway works
// as in sharded, without outages; keys do not touch each other.
type fleet struct {
	Gateways      int64       `yaml:"gateways" about:"how many gateways there are"`
	Shards        int64       `yaml:"shards" about:"how many shards the store has"`
	Requests      Rate        `yaml:"requests" about:"of the whole fleet, evenly; request j goes to gateway j mod gateways"`
	Duration      Micros      `yaml:"duration" about:"when the last request comes"`
	Keys          int64       `yaml:"keys" about:"how many keys there are"`
	Zipf          float64     `yaml:"zipf" about:"the weight of the key of rank k is 1/k^zipf"`
	Tiers         []fleetTier `yaml:"tiers" about:"limits of the keys by rank; the last takes the rest"`
	Leases        bool        `yaml:"leases" about:"or else each request asks for one token"`
	BatchTime     Micros      `yaml:"batch_time" about:"batch = max(1, floor(rate * batch_time / gateways))"`
	Life          Micros      `yaml:"life" about:"tokens die so long after some were last added"`
	DenyCache     bool        `yaml:"deny_cache" about:"a gateway refuses a key until the wait that the store gave is over"`
	ShardCapacity int64       `yaml:"shard_capacity" about:"calls a second that a shard can do"`
	Seed          int64       `yaml:"seed" about:"of the draws of keys"`
}

// fleetTier is the limit of the next Keys keys by rank; the last tier takes
// all that are left.
type fleetTier struct {
	Keys  int64 `yaml:"keys" about:"how many keys, by rank; the last tier takes the rest"`
	Rate  Rate  `yaml:"rate" about:"of each one's bucket"`
	Burst int64 `yaml:"burst" about:"of each one's bucket"`
}

// The most that a fleet may have: an alias table has 8 bytes a key, and counts
// by shard and second 8 bytes each.
const (
	maxFleetKeys     = 1 << 24
	maxFleetShards   = 1 << 12
	maxFleetGateways = 1 << 16
	maxFleetTiers    = 1 << 8
	maxFleetCounts   = 1 << 24
)

func fleetKind() Kind {
	return Kind{
		Name:  "fleet",
		About: "A whole fleet at full size: Zipf traffic over many keys, gateways and shards",
		Rules: []string{
			"request j of the fleet arrives at floor(j / requests) at gateway j mod gateways; its key is drawn from a Zipf distribution over ranks",
			"a key lives on the shard that a hash of it names; a call is decided at its request's arrival",
			"each key has one token bucket, leased to gateways in batches as in sharded-leases; without leases a request asks for one token",
			"the deny cache refuses at a gateway until the wait that the store gave is over",
			"held under: fewer admitted than one bucket asked about every request would admit; held over: some interval with more admissions than burst + rate * t",
		},
		Figures: append(append([]FigureInfo{
			{"requests", "requests", "requests of the whole fleet"},
			{"admitted", "requests", "requests admitted"},
			{"refused", "requests", "requests refused"},
			{"admitted_by_one_bucket_each", "requests", "requests that one bucket per key, asked about every request, would admit"},
		}, storeFigures...), []FigureInfo{
			{"store_calls_saved", "calls", "requests - store calls"},
			{"hottest_shard", "number", "the shard with most calls, from 0"},
			{"hottest_shard_calls", "calls", "calls to it"},
			{"hottest_shard_calls_per_s", "1/s", "calls to it a second, on average"},
			{"hottest_shard_max_calls_in_a_second", "calls", "most calls to one shard in an aligned second"},
			{"coolest_shard_calls_per_s", "1/s", "calls a second to the shard with fewest"},
			{"hottest_shard_over_mean", "ratio", "calls to the hottest shard against the mean"},
			{"shards_over_capacity", "shards", "shards with more than shard_capacity calls in some aligned second"},
			{"tokens_granted", "tokens", "tokens that the store gave"},
			{"tokens_unspent", "tokens", "tokens granted that no request spent: dropped, or held at the end"},
			{"keys_refused", "keys", "keys that were refused at least once"},
			{"keys_held_under", "keys", "keys of which fewer requests were admitted than one bucket would admit"},
			{"keys_held_under_1_percent", "keys", "those short by more than one in a hundred"},
			{"requests_held_back", "requests", "by how much, over all keys held under"},
			{"worst_key_held_under", "rank", "rank of the key held under by most requests, from 1; 0 when there is none"},
			{"worst_requests_held_back", "requests", "by how much it was"},
			{"keys_held_over", "keys", "keys with more than burst + rate * t admitted in some interval"},
			{"keys_held_over_by_1_request", "keys", "those over by a whole request or more"},
			{"worst_key_held_over", "rank", "rank of the key furthest over, from 1; 0 when there is none"},
			{"worst_excess", "requests", "by how much it was"},
			{"worst_excess_bound", "tokens", "how far a key can be over: what all gateways can hold of it, and the rate for the millisecond by which the store's clock lags"},
			{"hottest_key_requests", "requests", "requests for the key of rank 1"},
			{"hottest_key_admitted", "requests", "of those, admitted"},
			{"largest_batch", "tokens", "tokens that a gateway asks for, of the tier with most"},
			{"max_live_keys", "keys", "keys whose state mattered at once, as seen when tables were cleared"},
			{"max_live_leases", "leases", "leases and denials in force at once, seen likewise"},
			{"state_mb", "MB", "memory of keys and leases at the end of the run, all shards"},
		}...),
		Plots:   []string{"store_calls"},
		Anytime: true,
		New: func() Params {
			return &fleet{
				Gateways: 330, Shards: 32, Requests: PerSecond(1_000_000), Duration: 60 * Second,
				Keys: 1_000_000, Zipf: 1,
				Tiers: []fleetTier{
					{Keys: 10, Rate: PerSecond(50_000), Burst: 50_000},
					{Keys: 1000, Rate: PerSecond(1000), Burst: 2000},
					{Rate: PerSecond(100), Burst: 200},
				},
				Leases: true, BatchTime: Second / 10, Life: Second, DenyCache: true,
				ShardCapacity: 50_000, Seed: 1,
			}
		},
	}
}

func (p *fleet) Validate() error {
	if err := firstError(
		trafficFits(p.Requests, p.Duration),
		countWithin("gateways", p.Gateways, 1, maxFleetGateways),
		countWithin("shards", p.Shards, 1, maxFleetShards),
		countWithin("keys", p.Keys, 1, maxFleetKeys),
		countWithin("tiers", int64(len(p.Tiers)), 1, maxFleetTiers),
		spanWithin("batch_time", p.BatchTime, 0, maxTime),
		spanWithin("life", p.Life, 1, maxTime),
		countWithin("shard_capacity", p.ShardCapacity, 1, math.MaxInt32),
	); err != nil {
		return err
	}
	if seconds := int64(p.Duration/Second) + 1; seconds*p.Shards > maxFleetCounts {
		return &ParamError{"duration", fmt.Sprintf("and shards make more than %d counts by second", maxFleetCounts), "--set duration=60s"}
	}
	if math.IsNaN(p.Zipf) || p.Zipf < 0 || p.Zipf > 10 {
		return &ParamError{"zipf", fmt.Sprintf("%v is not between 0 (all keys alike) and 10", p.Zipf), "--set zipf=1"}
	}
	for i, t := range p.Tiers {
		at := indexPath("tiers", i) + "."
		least := int64(1)
		if i+1 == len(p.Tiers) {
			least = 0
		}
		if err := firstError(countWithin(at+"keys", t.Keys, least, maxFleetKeys), bucketFits(at, t.Rate, t.Burst, p.Duration)); err != nil {
			return err
		}
	}
	return nil
}

// fleetRule is a tier made ready, shared by all shards.
type fleetRule struct {
	from  uint32 // the first key
	book  *limit.BatchBook
	one   limit.BucketRule // of the bucket to compare with
	lease limit.BatchLease
	over  excess // the zero of each key
	burst int64  // in the units of over
}

func (p *fleet) rules() ([]fleetRule, error) {
	rules := make([]fleetRule, len(p.Tiers))
	from := int64(0)
	for i, t := range p.Tiers {
		spec := limit.Spec{Rate: t.Rate.Rate, Burst: t.Burst}.Bucket()
		book, err := limit.NewBatchBook(spec)
		if err != nil {
			return nil, err
		}
		one, err := spec.Rule()
		if err != nil {
			return nil, err
		}
		over := newExcess(t.Rate.Rate)
		rules[i] = fleetRule{
			from: uint32(min(from, math.MaxUint32)), book: book, one: one,
			lease: limit.BatchLease{Batch: batchSize(p.Leases, t.Rate, p.Gateways, p.BatchTime), Life: time.Duration(p.Life) * time.Microsecond},
			over:  over, burst: t.Burst * over.token,
		}
		from += t.Keys
	}
	return rules, nil
}

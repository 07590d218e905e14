package sim

import (
	"math"
	"math/big"
	"time"

	"github.com/weir-cli/weir/limit"
)

// sharded is one key of the sharded design: gateways that lease its tokens in
// batches, remember refusals, and limit alone while the store is away.
type sharded struct {
	Rate            Rate          `yaml:"rate" about:"of the key's first bucket"`
	Burst           int64         `yaml:"burst" about:"of the key's first bucket, which is full at the start"`
	Also            []bucketParam `yaml:"also" about:"further limits that each request is under"`
	Gateways        int64         `yaml:"gateways" about:"how many gateways there are"`
	Requests        Rate          `yaml:"requests" about:"of the whole fleet, evenly; request j goes to gateway j mod gateways"`
	Duration        Micros        `yaml:"duration" about:"when the last request comes"`
	Leases          bool          `yaml:"leases" about:"or else each request asks for one token"`
	BatchTime       Micros        `yaml:"batch_time" about:"batch = max(1, floor(rate * batch_time / gateways))"`
	Life            Micros        `yaml:"life" about:"tokens die so long after some were last added"`
	RefusalCache    bool          `yaml:"refusal_cache" about:"a gateway refuses until the wait that the store gave is over"`
	Outage          outageParam   `yaml:"outage" about:"when the store does not answer; for 0s is never"`
	SkipAfter       int64         `yaml:"skip_after" about:"failures in a row after which a gateway skips the store"`
	SkipFor         Micros        `yaml:"skip_for" about:"for how long"`
	FallbackShare   int64         `yaml:"fallback_share" about:"a gateway alone has fallback_share/gateways of rate and burst, burst at least 1"`
	Closed          bool          `yaml:"closed" about:"a gateway alone refuses"`
	GatewayCapacity int64         `yaml:"gateway_capacity" about:"requests a second that a gateway can do"`
	GatewayPercent  int64         `yaml:"gateway_percent" about:"how busy it may be"`
	ShardCapacity   int64         `yaml:"shard_capacity" about:"calls a second that a shard can do"`
}

// bucketParam is a further limit that each request is under.
type bucketParam struct {
	Rate  Rate  `yaml:"rate" about:"of a further bucket"`
	Burst int64 `yaml:"burst" about:"of that bucket"`
}

// outageParam is when the store answers nothing. For 0 is never.
type outageParam struct {
	From Micros `yaml:"from" about:"when the store stops to answer"`
	For  Micros `yaml:"for" about:"for how long; 0s is never"`
}

func shardedLeases() Kind {
	return Kind{
		Name:  "sharded-leases",
		About: "One key of a sharded limiter: batches of tokens, a refusal cache, a local fallback",
		Rules: []string{
			"the store's script works in whole milliseconds: grant = min(wanted, whole tokens of the lowest bucket), or nothing written and wait = ceil((1 - level) * 1000 / rate) ms",
			"batch = max(1, floor(rate * batch_time / gateways))",
			"with tokens and lease alive, spend; then with fewer than floor(batch / 2) left take a batch in the background, at once; 0 changes nothing",
			"without tokens, refuse while denied; else take a batch: 0 sets denied-until, otherwise one token is spent at once",
			"adding tokens renews their life; tokens of a dead lease are dropped",
			"skip_after failures in a row skip the store for skip_for; meanwhile each gateway has fallback_share/gateways of rate and burst (burst at least 1), or refuses when closed",
		},
		Figures: append(append([]FigureInfo{
			{"requests", "requests", "requests of the whole fleet"},
			{"batch", "tokens", "tokens that a gateway asks for"},
			{"admitted", "requests", "requests admitted, the fallback's included"},
			{"refused", "requests", "requests refused"},
			{"max_in_1s", "requests", "most admitted in any second"},
			{"max_in_60s", "requests", "most admitted in any 60 seconds"},
			{"worst_excess", "requests", "the largest of (admissions - burst - rate * t) over all intervals; 0 when never above"},
			{"bound", "requests", "burst + rate * duration of the first limit"},
		}, storeFigures...),
			FigureInfo{"store_calls_saved", "calls", "requests that cost no store call of their own: requests - store calls"},
			FigureInfo{"calls_of_busiest_gateway", "calls", "store calls of the gateway that made most"},
			FigureInfo{"failures", "calls", "store calls that failed in the outage"},
			FigureInfo{"skipped", "requests", "requests that would have called the store while it was skipped"},
			FigureInfo{"admitted_by_fallback", "requests", "requests admitted by the gateways' own share of the limit"},
			FigureInfo{"refused_by_fallback", "requests", "requests that it refused, or that a closed rule did"},
			FigureInfo{"admitted_from_store", "requests", "requests admitted with tokens from the store"},
			FigureInfo{"tokens_granted", "tokens", "tokens that the store gave"},
			FigureInfo{"tokens_held_at_end", "tokens", "tokens alive at the gateways at the end"},
			FigureInfo{"tokens_dropped", "tokens", "tokens granted that were neither spent nor are held: dropped with a dead lease"},
			FigureInfo{"fallback_rate_per_gateway", "1/s", "rate of one gateway alone"},
			FigureInfo{"fallback_burst_per_gateway", "tokens", "burst of one gateway alone, at least 1"},
			FigureInfo{"fallback_rate_of_fleet", "1/s", "rate of all gateways alone"},
			FigureInfo{"closed_form_calls_per_s", "1/s", "calls of a key over its limit whose gateways each ask once per token: gateways * rate, and at most once per request"},
			FigureInfo{"closed_form_calls_per_s_without_cache", "1/s", "one call per request"},
			FigureInfo{"gateways_needed", "gateways", "requests / gateway_capacity / gateway_percent, rounded up"},
			FigureInfo{"shards_needed", "shards", "calls a second as simulated / shard_capacity, rounded up"},
			FigureInfo{"shards_needed_without_cache", "shards", "requests a second / shard_capacity, rounded up"},
		),
		Plots: []string{"store_calls"},
		New: func() Params {
			return &sharded{
				Rate: Rate{limit.Rate{Units: 1000, Per: time.Minute}}, Burst: 1000,
				Gateways: 300, Requests: PerSecond(300_000), Duration: 60 * Second,
				Leases: true, BatchTime: Second / 10, Life: Second, RefusalCache: true,
				SkipAfter: 5, SkipFor: 2 * Second, FallbackShare: 2,
				GatewayCapacity: 5000, GatewayPercent: 60, ShardCapacity: 50_000,
			}
		},
	}
}

// storeFigures are what calls to the store come to.
var storeFigures = []FigureInfo{
	{"store_calls", "calls", "calls to the store"},
	{"store_calls_per_s", "1/s", "calls to the store a second, on average"},
	{"max_store_calls_in_a_second", "calls", "most calls to the store in an aligned second"},
	{"store_calls_per_request", "calls", "calls to the store for each request"},
	{"store_calls_granting", "calls", "calls that gave tokens"},
	{"store_calls_denied", "calls", "calls that found no token"},
	{"background_calls", "calls", "calls made ahead, while tokens were left"},
	{"refused_by_cache", "requests", "requests refused by a remembered denial, without the store"},
}

func (p *sharded) Validate() error {
	if err := firstError(
		trafficFits(p.Requests, p.Duration),
		countWithin("gateways", p.Gateways, 1, maxGateways),
		bucketFits("", p.Rate, p.Burst, p.Duration),
		spanWithin("batch_time", p.BatchTime, 0, maxTime),
		spanWithin("life", p.Life, 1, maxTime),
		spanWithin("outage.from", p.Outage.From, 0, maxTime),
		spanWithin("outage.for", p.Outage.For, 0, maxTime),
		countWithin("skip_after", p.SkipAfter, 1, math.MaxInt32),
		spanWithin("skip_for", p.SkipFor, 1, maxTime),
		countWithin("fallback_share", p.FallbackShare, 1, maxGateways),
		countWithin("gateway_capacity", p.GatewayCapacity, 1, math.MaxInt32),
		countWithin("gateway_percent", p.GatewayPercent, 1, 100),
		countWithin("shard_capacity", p.ShardCapacity, 1, math.MaxInt32),
	); err != nil {
		return err
	}
	for i, a := range p.Also {
		if err := bucketFits(indexPath("also", i)+".", a.Rate, a.Burst, p.Duration); err != nil {
			return err
		}
	}
	_, err := p.fallback()
	return paramOf(err, "")
}

// Document names what the events speak of.
func (p *sharded) Document() Document { return keyDocument(p.Rate, p.Burst, p.Duration) }

// fallback is a gateway's own share of the limit.
func (p *sharded) fallback() (*limit.Fallback, error) {
	mode := limit.FailLocal
	if p.Closed {
		mode = limit.FailClosed
	}
	return limit.NewFallback(mode, limit.Spec{Rate: p.Rate.Rate, Burst: p.Burst}.Bucket(), limit.Fraction{Num: p.FallbackShare, Den: p.Gateways})
}

// batchSize is what a gateway asks for; without leases one token per request.
func batchSize(leases bool, r Rate, gateways int64, span Micros) int64 {
	if !leases {
		return 1
	}
	return limit.BatchSize(r.Rate, gateways, time.Duration(span)*time.Microsecond)
}

// needed is n / each, rounded up: how many it takes.
func needed(n, each *big.Rat) float64 {
	q := new(big.Rat).Quo(n, each)
	up, rest := new(big.Int).QuoRem(q.Num(), q.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		up.Add(up, big.NewInt(1))
	}
	f, _ := new(big.Float).SetInt(up).Float64()
	return f
}

// ratPerSecond is r as an exact number a second.
func ratPerSecond(r Rate) *big.Rat {
	n := new(big.Int).Mul(big.NewInt(r.Units), big.NewInt(int64(time.Second)))
	return new(big.Rat).SetFrac(n, big.NewInt(int64(r.Per)))
}

package sim

import (
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// sharded is one key of the sharded design: gateways that lease its tokens in
// batches, remember refusals, and limit alone while the store is away.
type sharded struct {
	Rate            Rate          `yaml:"rate"`
	Burst           int64         `yaml:"burst"`
	Also            []bucketParam `yaml:"also"`
	Gateways        int64         `yaml:"gateways"`
	Requests        Rate          `yaml:"requests"`
	Duration        Micros        `yaml:"duration"`
	Leases          bool          `yaml:"leases"`
	BatchTime       Micros        `yaml:"batch_time"`
	Life            Micros        `yaml:"life"`
	RefusalCache    bool          `yaml:"refusal_cache"`
	Outage          outageParam   `yaml:"outage"`
	SkipAfter       int64         `yaml:"skip_after"`
	SkipFor         Micros        `yaml:"skip_for"`
	FallbackShare   int64         `yaml:"fallback_share"`
	Closed          bool          `yaml:"closed"`
	GatewayCapacity int64         `yaml:"gateway_capacity"`
	GatewayPercent  int64         `yaml:"gateway_percent"`
	ShardCapacity   int64         `yaml:"shard_capacity"`
}

// bucketParam is a further limit that each request is under.
type bucketParam struct {
	Rate  Rate  `yaml:"rate"`
	Burst int64 `yaml:"burst"`
}

// outageParam is when the store answers nothing. For 0 is never.
type outageParam struct {
	From Micros `yaml:"from"`
	For  Micros `yaml:"for"`
}

func shardedLeases() Kind {
	return Kind{
		Name:  "sharded-leases",
		About: "one key of a sharded limiter: batches of tokens, a refusal cache, a local fallback",
		Rules: []string{
			"the store's script works in whole milliseconds: grant = min(wanted, whole tokens of the lowest bucket), or nothing written and wait = ceil((1 - level) * 1000 / rate) ms",
			"batch = max(1, floor(rate * batch_time / gateways))",
			"with tokens and lease alive, spend; then with fewer than floor(batch / 2) left take a batch in the background, at once; 0 changes nothing",
			"without tokens, refuse while denied; else take a batch: 0 sets denied-until, otherwise one token is spent at once",
			"adding tokens renews their life; tokens of a dead lease are dropped",
			"skip_after failures in a row skip the store for skip_for; meanwhile each gateway has fallback_share/gateways of rate and burst (burst at least 1), or refuses when closed",
		},
		Figures: append(append([]FigureInfo{
			{"requests", "requests", "Requests of the whole fleet."},
			{"batch", "tokens", "Tokens that a gateway asks for."},
			{"admitted", "requests", "Requests admitted, the fallback's included."},
			{"refused", "requests", "Requests refused."},
			{"most_in_1s", "requests", "Most admitted in any second."},
			{"most_in_60s", "requests", "Most admitted in any 60 seconds."},
			{"worst_excess", "requests", "The largest of (admissions - burst - rate * t) over all intervals; 0 when never above."},
			{"bound", "requests", "burst + rate * duration of the first limit."},
		}, storeFigures...),
			FigureInfo{"store_calls_saved", "calls", "Requests that cost no store call of their own: requests - store calls."},
			FigureInfo{"calls_of_busiest_gateway", "calls", "Store calls of the gateway that made most."},
			FigureInfo{"failures", "calls", "Store calls that failed in the outage."},
			FigureInfo{"skipped", "requests", "Requests that would have called the store while it was skipped."},
			FigureInfo{"admitted_by_fallback", "requests", "Requests admitted by the gateways' own share of the limit."},
			FigureInfo{"refused_by_fallback", "requests", "Requests that it refused, or that a closed rule did."},
			FigureInfo{"admitted_from_store", "requests", "Requests admitted with tokens from the store."},
			FigureInfo{"tokens_granted", "tokens", "Tokens that the store gave."},
			FigureInfo{"tokens_held_at_end", "tokens", "Tokens alive at the gateways at the end."},
			FigureInfo{"tokens_dropped", "tokens", "Tokens granted that were neither spent nor are held: dropped with a dead lease."},
			FigureInfo{"fallback_rate_per_gateway", "1/s", "Rate of one gateway alone."},
			FigureInfo{"fallback_burst_per_gateway", "tokens", "Burst of one gateway alone, at least 1."},
			FigureInfo{"fallback_rate_of_fleet", "1/s", "Rate of all gateways alone."},
			FigureInfo{"closed_form_calls_per_s", "1/s", "Calls of a key over its limit whose gateways each ask once per token: gateways * rate, and at most once per request."},
			FigureInfo{"closed_form_calls_per_s_without_cache", "1/s", "One call per request."},
			FigureInfo{"gateways_needed", "gateways", "requests / gateway_capacity / gateway_percent, rounded up."},
			FigureInfo{"shards_needed", "shards", "Calls a second as simulated / shard_capacity, rounded up."},
			FigureInfo{"shards_needed_without_cache", "shards", "Requests a second / shard_capacity, rounded up."},
		),
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
	{"store_calls", "calls", "Calls to the store."},
	{"store_calls_per_s", "1/s", "Calls to the store a second, on average."},
	{"most_store_calls_in_a_second", "calls", "Most calls to the store in an aligned second."},
	{"store_calls_per_request", "calls", "Calls to the store for each request."},
	{"store_calls_granting", "calls", "Calls that gave tokens."},
	{"store_calls_denied", "calls", "Calls that found no token."},
	{"background_calls", "calls", "Calls made ahead, while tokens were left."},
	{"refused_by_cache", "requests", "Requests refused by a remembered denial, without the store."},
}

func (p *sharded) Validate() error {
	if err := checkTraffic(p.Requests, p.Duration); err != nil {
		return err
	}
	if err := checkGateways(p.Gateways); err != nil {
		return err
	}
	if err := checkBucket(p.Rate, p.Burst, p.Duration); err != nil {
		return err
	}
	for i, a := range p.Also {
		if err := checkBucket(a.Rate, a.Burst, p.Duration); err != nil {
			e := err.(*ParamError)
			e.Path = "also[" + strconv.Itoa(i) + "]." + e.Path
			return e
		}
	}
	if err := checkSpans([]span{
		{"batch_time", p.BatchTime, 0}, {"life", p.Life, 1}, {"skip_for", p.SkipFor, 0},
		{"outage.from", p.Outage.From, 0}, {"outage.for", p.Outage.For, 0},
	}); err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"skip_after", p.SkipAfter}, {"fallback_share", p.FallbackShare},
		{"gateway_capacity", p.GatewayCapacity}, {"gateway_percent", p.GatewayPercent}, {"shard_capacity", p.ShardCapacity},
	} {
		if f.n < 1 || f.n > math.MaxInt32 {
			return &ParamError{f.name, strconv.FormatInt(f.n, 10) + " is not between 1 and 2147483647", "--set " + f.name + "=5"}
		}
	}
	if _, err := p.fallback(); err != nil {
		return &ParamError{"fallback_share", "of this rate and burst cannot be counted exactly in 64 bits", "--set fallback_share=2"}
	}
	return nil
}

// fallback is a gateway's own share of the limit.
func (p *sharded) fallback() (limit.BucketSpec, error) {
	s, err := limit.Spec{Rate: p.Rate.Rate, Burst: p.Burst}.Bucket().Share(limit.Fraction{Num: p.FallbackShare, Den: p.Gateways})
	if err == nil {
		_, err = s.Rule()
	}
	return s, err
}

// batch is what a gateway asks for; without leases one token per request.
func batchSize(leases bool, r Rate, gateways int64, span Micros) int64 {
	if !leases {
		return 1
	}
	return limit.BatchSize(r.Rate, gateways, time.Duration(span)*time.Microsecond)
}

// span is a length of time and the least that it may be.
type span struct {
	name  string
	v     Micros
	least Micros
}

func checkSpans(spans []span) error {
	for _, s := range spans {
		if s.v < s.least || s.v > maxRun {
			return &ParamError{s.name, s.v.String() + " is not between " + s.least.String() + " and a year", "--set " + s.name + "=1s"}
		}
	}
	return nil
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

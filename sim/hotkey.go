package sim

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// hotKey is one key with more traffic than its limit, whose gateways lease
// tokens in blocks and never ask the store about a request.
type hotKey struct {
	Rate         Rate   `yaml:"rate"`
	Burst        int64  `yaml:"burst"`
	Gateways     int64  `yaml:"gateways"`
	Requests     Rate   `yaml:"requests"`
	Duration     Micros `yaml:"duration"`
	BlockTime    Micros `yaml:"block_time"`
	BlockLeast   int64  `yaml:"block_least"`
	RenewPercent int64  `yaml:"renew_percent"`
	RoundTrip    Micros `yaml:"round_trip"`
	Jitter       Micros `yaml:"jitter"`
	Expiry       Micros `yaml:"expiry"`
	GiveBack     bool   `yaml:"give_back"`
	ExcessAfter  Micros `yaml:"excess_after"`
	Seed         int64  `yaml:"seed"`
}

func hotKeyLeases() Kind {
	return Kind{
		Name:  "hot-key-leases",
		About: "gateways that lease blocks of a hot key's tokens instead of asking about each request",
		Rules: []string{
			"token bucket in the store, full at the start",
			"block = max(block_least, block_time * rate / gateways, rounded up), taken whole or not at all",
			"LEASE runs half a round trip after sending, the answer comes half a round trip later",
			"a request spends a local token or is refused; then, at or under renew_percent of a block, with no lease in flight and no denial in force, the gateway sends LEASE",
			"a denial lasts until the store's time + gateways * block / rate, and a uniform random part of jitter",
			"an answer at the instant of a request of its gateway comes first",
		},
		Figures: []FigureInfo{
			{"requests", "requests", "Requests of the whole fleet."},
			{"block", "tokens", "Tokens of one lease."},
			{"calls", "calls", "LEASE calls that were sent."},
			{"calls_per_s", "1/s", "LEASE calls a second, on average."},
			{"most_calls_in_1s", "calls", "Most LEASE calls sent in any second."},
			{"grants", "calls", "LEASE calls that took a block."},
			{"denials", "calls", "LEASE calls that took nothing."},
			{"store_calls_without_leases", "calls", "Store calls if each request were checked there."},
			{"admitted", "requests", "Requests admitted."},
			{"refused", "requests", "Requests refused."},
			{"most_in_1s", "requests", "Most admitted in any second."},
			{"most_in_60s", "requests", "Most admitted in any 60 seconds."},
			{"tokens_held_at_end", "tokens", "Unspent tokens at the gateways, those on their way included."},
			{"tokens_given_back", "tokens", "Unspent tokens of expired leases that went back to the store."},
			{"tokens_expired", "tokens", "Unspent tokens of expired leases that were dropped."},
			{"tokens_in_store_at_end", "tokens", "Whole tokens in the store's bucket after the last request."},
			{"excess_after_start", "requests", "The largest of (admissions - rate * t) over intervals that start after excess_after."},
			{"excess_bound", "tokens", "gateways * block * (1 + renew_percent), the most that the fleet can hold."},
			{"bound", "requests", "burst + rate * duration."},
			{"admitted_is_granted_less_held_holds", "0/1", "1 when admitted = block * grants - held - given back - dropped."},
			{"admitted_within_bound_holds", "0/1", "1 when admissions since the start never passed burst + rate * t."},
			{"excess_within_bound_holds", "0/1", "1 when the excess is at most its bound."},
		},
		New: func() Params {
			return &hotKey{
				Rate: PerSecond(10_000), Burst: 20_000, Gateways: 20,
				Requests: PerSecond(100_000), Duration: 60 * Second,
				BlockTime: Second / 4, BlockLeast: 10, RenewPercent: 20,
				RoundTrip: 1000, Jitter: 50_000, Expiry: 10 * Second, GiveBack: true,
				ExcessAfter: 3 * Second, Seed: 1,
			}
		},
	}
}

// maxRun bounds durations, so that nanoseconds and their sums fit.
const maxRun = 366 * 24 * 3600 * Second

func (p *hotKey) Validate() error {
	if err := checkTraffic(p.Requests, p.Duration); err != nil {
		return err
	}
	if err := checkGateways(p.Gateways); err != nil {
		return err
	}
	if err := checkBucket(p.Rate, p.Burst, p.Duration); err != nil {
		return err
	}
	if err := checkSpans([]span{
		{"block_time", p.BlockTime, 0}, {"round_trip", p.RoundTrip, 0}, {"jitter", p.Jitter, 0},
		{"expiry", p.Expiry, 0}, {"excess_after", p.ExcessAfter, 0},
	}); err != nil {
		return err
	}
	if p.RenewPercent < 0 || p.RenewPercent > 100 {
		return &ParamError{"renew_percent", strconv.FormatInt(p.RenewPercent, 10) + " is not a percentage of a block", "--set renew_percent=20"}
	}
	if p.BlockLeast < 1 {
		return &ParamError{"block_least", strconv.FormatInt(p.BlockLeast, 10) + " is not above zero", "--set block_least=1"}
	}
	if b := p.block(); b > p.Burst {
		return &ParamError{
			"burst", fmt.Sprintf("a block of %d is above the burst of %d, so that it could never be leased", b, p.Burst),
			fmt.Sprintf("--set burst=%d", b),
		}
	}
	if p.Gateways > (1<<53)/p.block() {
		return &ParamError{"gateways", "times the block is too many tokens to count", "--set gateways=20"}
	}
	return nil
}

func (p *hotKey) block() int64 {
	return limit.BlockSize(p.Rate.Rate, p.Gateways, time.Duration(p.BlockTime)*time.Microsecond, p.BlockLeast)
}

// checkTraffic refuses rates and durations that cannot be counted.
func checkTraffic(r Rate, d Micros) error {
	if r.Units <= 0 || r.Per <= 0 || r.Units > maxPerSecond || r.Float() > maxPerSecond {
		return &ParamError{"requests", r.String() + " is not between 0 and 1,000,000,000 a second", "--set requests=100k/s"}
	}
	if d <= 0 || d > maxRun {
		return &ParamError{"duration", d.String() + " is not above 0 and at most a year", "--set duration=60s"}
	}
	if n, ok := countEvenly(r, d); !ok || n > 1<<40 {
		return &ParamError{"duration", "has more than 2^40 requests", "--set duration=60s"}
	}
	return nil
}

func checkGateways(n int64) error {
	if n < 1 || n > math.MaxUint16+1 {
		return &ParamError{"gateways", strconv.FormatInt(n, 10) + " is not between 1 and 65536", "--set gateways=20"}
	}
	return nil
}

// checkBucket refuses a bucket that cannot be counted exactly over the run.
func checkBucket(r Rate, burst int64, d Micros) error {
	if r.Units <= 0 || r.Per <= 0 {
		return &ParamError{"rate", r.String() + " is not above zero", "--set rate=10/s"}
	}
	if burst <= 0 {
		return &ParamError{"burst", strconv.FormatInt(burst, 10) + " is not above zero", "--set burst=20"}
	}
	if _, err := (limit.Spec{Rate: r.Rate, Burst: burst}).Bucket().Rule(); err != nil {
		return &ParamError{"burst", "is too much to count exactly in 64 bits with this rate", "--set burst=20"}
	}
	e := newExcess(r.Rate)
	if e.units > (1<<62)/(int64(d)*1000) || burst > (1<<61)/e.token {
		return &ParamError{"rate", "over this duration is too much to count exactly in 64 bits", "--set duration=60s"}
	}
	return nil
}

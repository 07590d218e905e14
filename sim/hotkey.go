package sim

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// hotKey is one key with more traffic than its limit, whose gateways lease
// tokens in blocks and never ask the store about a request.
type hotKey struct {
	Rate         Rate   `yaml:"rate" about:"of the key's bucket in the store"`
	Burst        int64  `yaml:"burst" about:"of the key's bucket, which is full at the start"`
	Gateways     int64  `yaml:"gateways" about:"how many gateways there are"`
	Requests     Rate   `yaml:"requests" about:"of the whole fleet, evenly; request j goes to gateway j mod gateways"`
	Duration     Micros `yaml:"duration" about:"when the last request comes"`
	BlockTime    Micros `yaml:"block_time" about:"a block lasts a gateway so long at its part of the rate: block = max(block_least, block_time * rate / gateways rounded up)"`
	BlockLeast   int64  `yaml:"block_least" about:"the smallest block, tokens"`
	RenewPercent int64  `yaml:"renew_percent" about:"a gateway asks for a lease at or under this much of a block, whole tokens"`
	RoundTrip    Micros `yaml:"round_trip" about:"a LEASE runs in the store after half of it"`
	Jitter       Micros `yaml:"jitter" about:"a uniform draw from 0 to this is added to the store's denied-until"`
	Expiry       Micros `yaml:"expiry" about:"tokens may be spent so long after the last grant; 0 is for ever"`
	GiveBack     bool   `yaml:"give_back" about:"expired tokens return to the store; or else they are dropped"`
	ExcessAfter  Micros `yaml:"excess_after" about:"largest_excess looks at intervals that start after this"`
	Seed         int64  `yaml:"seed" about:"of the jitter, as in Python's random.Random"`
}

func hotKeyLeases() Kind {
	return Kind{
		Name:  "hot-key-leases",
		About: "Gateways that lease blocks of a hot key's tokens instead of asking about each request",
		Rules: []string{
			"token bucket in the store, full at the start",
			"block = max(block_least, block_time * rate / gateways, rounded up), taken whole or not at all",
			"LEASE runs half a round trip after sending, the answer comes half a round trip later",
			"a request spends a local token or is refused; then, at or under renew_percent of a block, with no lease in flight and no denial in force, the gateway sends LEASE",
			"a denial lasts until the store's time + gateways * block / rate, and a uniform random part of jitter",
			"an answer at the instant of a request of its gateway comes first",
		},
		Figures: []FigureInfo{
			{"requests", "requests", "requests of the whole fleet"},
			{"block", "tokens", "tokens of one lease"},
			{"lease_calls", "calls", "LEASE calls that were sent"},
			{"lease_calls_per_s", "1/s", "LEASE calls a second, on average"},
			{"max_lease_calls_in_1s", "calls", "most LEASE calls sent in any second"},
			{"lease_grants", "calls", "LEASE calls that took a block"},
			{"lease_denials", "calls", "LEASE calls that took nothing"},
			{"store_calls_without_leases", "calls", "store calls if each request were checked there"},
			{"admitted", "requests", "requests admitted"},
			{"refused", "requests", "requests refused"},
			{"max_in_1s", "requests", "most admitted in any second"},
			{"tokens_held_at_end", "tokens", "unspent tokens at the gateways, those on their way included"},
			{"tokens_given_back", "tokens", "unspent tokens of expired leases that went back to the store"},
			{"tokens_expired", "tokens", "unspent tokens of expired leases that were dropped"},
			{"tokens_in_store_at_end", "tokens", "whole tokens in the store's bucket after the last request"},
			{"largest_excess", "requests", "the largest of (admissions - rate * t) over intervals that start after excess_after"},
			{"largest_excess_bound", "tokens", "gateways * block * (1 + renew_percent), the most that the fleet can hold"},
			{"bound", "requests", "burst + rate * duration"},
			{"admitted_is_granted_less_held_holds", "0/1", "1 when admitted = block * grants - held - given back - dropped"},
			{"admitted_within_bound_holds", "0/1", "1 when admissions since the start never passed burst + rate * t"},
			{"excess_within_bound_holds", "0/1", "1 when the excess is at most its bound"},
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

func (p *hotKey) Validate() error {
	if err := firstError(
		trafficFits(p.Requests, p.Duration),
		countWithin("gateways", p.Gateways, 1, maxGateways),
		bucketFits("", p.Rate, p.Burst, p.Duration),
		spanWithin("block_time", p.BlockTime, 0, maxTime),
		countWithin("block_least", p.BlockLeast, 1, maxCalls),
		countWithin("renew_percent", p.RenewPercent, 0, 100),
		spanWithin("round_trip", p.RoundTrip, 0, maxTime),
		spanWithin("jitter", p.Jitter, 0, maxTime),
		spanWithin("expiry", p.Expiry, 0, maxTime),
		spanWithin("excess_after", p.ExcessAfter, 0, maxTime),
	); err != nil {
		return err
	}
	if b := p.block(); b > p.Burst {
		return &ParamError{
			"burst", fmt.Sprintf("a block of %d is above the burst of %d, so that it could never be leased", b, p.Burst),
			fmt.Sprintf("--set burst=%d", b),
		}
	}
	return nil
}

// Document names what the events speak of.
func (p *hotKey) Document() Document { return keyDocument(p.Rate, p.Burst, p.Duration) }

// keyDocument is that of one key under a bucket.
func keyDocument(r Rate, burst int64, d Micros) Document {
	return Document{
		Length:  d,
		Promise: bucketPromise(r, burst),
		Names: report.Names{
			Key:        func(uint32) string { return "hot-key" },
			Target:     gatewayName,
			Population: func(uint16) string { return "fleet" },
		},
	}
}

func (p *hotKey) block() int64 {
	return limit.BlockSize(p.Rate.Rate, p.Gateways, time.Duration(p.BlockTime)*time.Microsecond, p.BlockLeast)
}

// bucketFits refuses a bucket that cannot be counted exactly over the run.
func bucketFits(prefix string, r Rate, burst int64, d Micros) error {
	if err := firstError(rateWithin(prefix+"rate", r), countWithin(prefix+"burst", burst, 1, maxCalls)); err != nil {
		return err
	}
	if _, err := (limit.Spec{Rate: r.Rate, Burst: burst}).Bucket().Rule(); err != nil {
		return paramOf(err, prefix)
	}
	e := newExcess(r.Rate)
	if d > 0 && e.units > (1<<61)/(int64(d)*1000) || burst > (1<<61)/e.token {
		return &ParamError{prefix + "rate", "over this duration is too much to count exactly in 64 bits", "--set duration=60s"}
	}
	return nil
}

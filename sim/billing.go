package sim

import (
	"context"
	"strconv"

	"github.com/weir-cli/weir/load"
)

// billing is a count of what was used, kept beside the bucket: gateways send
// records, some twice, one gateway crashes, and a flag says that a quota is
// used up.
type billing struct {
	Gateways   int64   `yaml:"gateways" about:"how many there are"`
	Requests   Rate    `yaml:"requests" about:"of the whole fleet, evenly; request i goes to gateway i mod gateways"`
	Flush      Micros  `yaml:"flush_every" about:"how often a gateway writes a record, at offsets spread over it"`
	Pipeline   Micros  `yaml:"pipeline" about:"from writing a record to counting it"`
	FlagRead   Micros  `yaml:"flag_read_every" about:"how often a gateway looks at the quota flag"`
	Quota      int64   `yaml:"quota" about:"count at which the flag is set"`
	Duplicates float64 `yaml:"duplicate_share" about:"of records that arrive twice"`
	CrashAt    Micros  `yaml:"crash_at" about:"when one gateway crashes; 0 for never"`
	CrashIndex int64   `yaml:"crash_gateway" about:"which, from 0"`
	OutageAt   Micros  `yaml:"store_outage_at" about:"when the limiter's store is away and everything is admitted"`
	OutageFor  Micros  `yaml:"store_outage_for" about:"how long"`
	Limit      Rate    `yaml:"limit" about:"of the fleet's bucket, whose burst is its rate for a second"`
	Duration   Micros  `yaml:"duration" about:"length of the run"`
	Seed       int64   `yaml:"seed" about:"of the duplicates"`
}

func billingKind() Kind {
	return Kind{
		Name:  "billing",
		About: "A billing count beside the limiter, with duplicates, a crash and an outage; and how late a quota flag comes",
		Rules: []string{
			"request i goes to gateway i mod gateways; what the limit admits is served and counted at its gateway",
			"in the outage of the store the limiter fails open: everything is admitted, and counted as well",
			"gateway g writes a record every flush_every, at offsets g/gateways of it: once as an increment, once as its running total of this life",
			"a record counts pipeline later; a share of the records arrives twice",
			"a crash loses what the gateway had not yet written, and its next life counts from 0 under a new name",
			"a gateway reads the flag every flag_read_every, at the same offsets",
		},
		Figures: []FigureInfo{
			{"served", "requests", "requests that were served"},
			{"served_in_outage", "requests", "of those, while the store was away"},
			{"counted_by_totals", "requests", "what running totals add up to at the end"},
			{"counted_by_increments", "requests", "what increments add up to at the end"},
			{"lost_in_crash", "requests", "served and never written, because of the crash"},
			{"not_yet_counted", "requests", "served and still on the way at the end"},
			{"totals_error", "requests", "counted_by_totals - (served - not_yet_counted)"},
			{"increments_error", "requests", "counted_by_increments - (served - not_yet_counted)"},
			{"records", "records", "records written, those that arrive twice counted once"},
			{"records_per_s", "1/s", "records a second: gateways / flush_every"},
			{"quota_reached_s", "s", "when the quota was really used up; -1 when it was not"},
			{"flag_set_s", "s", "when the count reached the quota; -1 when it did not"},
			{"last_gateway_knows_s", "s", "when the last gateway had read the flag; -1 when it had not"},
			{"served_past_quota", "requests", "requests served after the quota was used up, by gateways that did not know"},
			{"most_delay_s", "s", "flush_every + pipeline + flag_read_every, the longest a flag can take"},
		},
		New: func() Params {
			return &billing{Gateways: 20, Requests: PerSecond(1000), Flush: 5 * Second, Pipeline: 5 * Second, FlagRead: Second,
				Quota: 40_000, Duplicates: 0.01, CrashAt: 30 * Second, CrashIndex: 3, OutageAt: 20 * Second, OutageFor: 5 * Second,
				Limit: PerSecond(800), Duration: 120 * Second, Seed: 1}
		},
	}
}

func (p *billing) Validate() error {
	if err := countWithin("gateways", p.Gateways, 1, maxGateways); err != nil {
		return err
	}
	if err := trafficFits(p.Requests, p.Duration); err != nil {
		return err
	}
	if err := firstError(spanWithin("flush_every", p.Flush, 1, maxTime), spanWithin("pipeline", p.Pipeline, 0, maxTime), spanWithin("flag_read_every", p.FlagRead, 1, maxTime), spanWithin("crash_at", p.CrashAt, 0, maxTime), spanWithin("store_outage_at", p.OutageAt, 0, maxTime), spanWithin("store_outage_for", p.OutageFor, 0, maxTime)); err != nil {
		return err
	}
	if p.Flush < 1000 || p.FlagRead < 1000 {
		return &ParamError{"flush_every", "and flag_read_every are at least 1ms", "--set flush_every=5s"}
	}
	if p.Duplicates < 0 || p.Duplicates > 1 {
		return &ParamError{"duplicate_share", strconv.FormatFloat(p.Duplicates, 'g', -1, 64) + " is not between 0 and 1", "--set duplicate_share=0.01"}
	}
	if p.CrashIndex < 0 || p.CrashIndex >= p.Gateways {
		return &ParamError{"crash_gateway", strconv.FormatInt(p.CrashIndex, 10) + " is not a gateway, numbered from 0", "--set crash_gateway=0"}
	}
	if p.Quota < 1 {
		return &ParamError{"quota", strconv.FormatInt(p.Quota, 10) + " is not above zero", "--set quota=40000"}
	}
	return bucketFits("", p.Limit, max(1, p.Limit.Units), p.Duration)
}

// billed is one gateway's books.
type billed struct {
	since int64 // served since the last record
	total int64 // of this life
	life  int64
	knows bool // that the quota is used up
}

// billingEvent is a flush, an arrival of a record, a look at the flag, or the
// crash.
type billingEvent struct {
	what    billingWhat
	gateway int64
	amount  int64 // increment
	total   int64
	life    int64
}

type billingWhat uint8

const (
	billingFlush billingWhat = iota
	billingArrives
	billingLook
	billingCrash
)

func (p *billing) Run(ctx context.Context, o *Outcome) error {
	r, err := newBillingRun(p)
	if err != nil {
		return err
	}
	arrivals := evenly(0, p.Duration, p.Requests)
	for n := int64(0); arrivals.at != never; n++ {
		at := arrivals.at
		arrivals.pop()
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		r.until(at)
		r.request(at, n%p.Gateways)
	}
	r.until(p.Duration)
	r.report(o)
	return nil
}

func (r *billingRun) draw(gateway int64) bool {
	r.drawn++
	rng := load.NewRand(r.p.Seed, uint32(gateway), r.drawn)
	return rng.Float64() < r.p.Duplicates
}

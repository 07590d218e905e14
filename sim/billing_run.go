package sim

import (
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/metering"
)

// lifeOf names one life of one gateway, under which it sends running totals.
type lifeOf struct{ gateway, life int64 }

type billingRun struct {
	p        *billing
	rule     limit.BucketRule
	bucket   limit.Bucket
	gateways []billed
	agenda   agenda[billingEvent]
	totals   metering.Totals[lifeOf]
	sumAdded int64
	drawn    uint64
	flag     bool

	served, inOutage, lost, records, past int64
	reachedAt, flagAt, knownAt            Micros
	known                                 int64
}

func newBillingRun(p *billing) (*billingRun, error) {
	rule, err := limit.Spec{Rate: p.Limit.Rate, Burst: max(1, p.Limit.Units)}.Bucket().Rule()
	if err != nil {
		return nil, err
	}
	r := &billingRun{p: p, rule: rule, gateways: make([]billed, p.Gateways), reachedAt: -1, flagAt: -1, knownAt: -1}
	for g := range p.Gateways {
		r.agenda.add(p.Flush*Micros(g)/Micros(p.Gateways)+p.Flush, billingEvent{what: billingFlush, gateway: g})
		r.agenda.add(p.FlagRead*Micros(g)/Micros(p.Gateways), billingEvent{what: billingLook, gateway: g})
	}
	if p.CrashAt > 0 {
		r.agenda.add(p.CrashAt, billingEvent{what: billingCrash, gateway: p.CrashIndex})
	}
	return r, nil
}

// until works off what is due at or before an instant.
func (r *billingRun) until(now Micros) {
	for r.agenda.peek() <= now {
		at, e := r.agenda.next()
		g := &r.gateways[e.gateway]
		switch e.what {
		case billingFlush:
			if g.since > 0 {
				rec := billingEvent{what: billingArrives, gateway: e.gateway, amount: g.since, total: g.total, life: g.life}
				r.records++
				g.since = 0
				r.agenda.add(at+r.p.Pipeline, rec)
				if r.draw(e.gateway) {
					r.agenda.add(at+r.p.Pipeline, rec)
				}
			}
			r.agenda.add(at+r.p.Flush, e)
		case billingArrives:
			r.sumAdded += e.amount
			// A total that only grows numbers its records itself.
			r.totals.Apply(lifeOf{e.gateway, e.life}, e.total, e.total)
			if !r.flag && r.totals.Sum() >= r.p.Quota {
				r.flag, r.flagAt = true, at
			}
		case billingLook:
			if r.flag && !g.knows {
				g.knows = true
				if r.known++; r.known == r.p.Gateways {
					r.knownAt = at
				}
			}
			r.agenda.add(at+r.p.FlagRead, e)
		case billingCrash:
			r.lost += g.since
			g.since, g.total = 0, 0
			g.life++
		}
	}
}

func (r *billingRun) request(at Micros, gateway int64) {
	g := &r.gateways[gateway]
	if g.knows {
		return
	}
	away := at >= r.p.OutageAt && at < r.p.OutageAt+r.p.OutageFor
	if !away && !r.bucket.Take(&r.rule, int64(at)*1000, 1).OK {
		return
	}
	r.served++
	if away {
		r.inOutage++
	}
	g.since++
	g.total++
	switch {
	case r.served > r.p.Quota:
		r.past++
	case r.served == r.p.Quota:
		r.reachedAt = at
	}
}

func (r *billingRun) report(o *Outcome) {
	onTheWay := int64(0)
	for _, g := range r.gateways {
		onTheWay += g.since
	}
	// Records on their way: everything written and not yet arrived, once each.
	seen := map[lifeOf]int64{}
	for _, it := range r.agenda.heap {
		if it.what.what == billingArrives {
			name := lifeOf{it.what.gateway, it.what.life}
			seen[name] = max(seen[name], it.what.total)
		}
	}
	for name, total := range seen {
		onTheWay += max(0, total-r.totals.Of(name))
	}
	seconds := func(m Micros) float64 {
		if m < 0 {
			return -1
		}
		return m.Seconds()
	}
	settled := r.served - onTheWay
	o.Set("served", float64(r.served))
	o.Set("served_in_outage", float64(r.inOutage))
	o.Set("counted_by_totals", float64(r.totals.Sum()))
	o.Set("counted_by_increments", float64(r.sumAdded))
	o.Set("lost_in_crash", float64(r.lost))
	o.Set("not_yet_counted", float64(onTheWay))
	o.Set("totals_error", float64(r.totals.Sum()-settled))
	o.Set("increments_error", float64(r.sumAdded-settled))
	o.Set("records", float64(r.records))
	o.Set("records_per_s", float64(r.p.Gateways)/r.p.Flush.Seconds())
	o.Set("quota_reached_s", seconds(r.reachedAt))
	o.Set("flag_set_s", seconds(r.flagAt))
	o.Set("last_gateway_knows_s", seconds(r.knownAt))
	o.Set("served_past_quota", float64(r.past))
	o.Set("most_delay_s", (r.p.Flush + r.p.Pipeline + r.p.FlagRead).Seconds())
}

package sim

import (
	"context"

	"github.com/weir-cli/weir/limit"
)

// logins is an attack on one account's login while the store is out and every
// gateway limits alone.
type logins struct {
	Rate     Rate   `yaml:"rate" about:"logins that one account may try"`
	Burst    int64  `yaml:"burst" about:"tries at once"`
	Gateways int64  `yaml:"gateways" about:"how many gateways there are"`
	Outage   Micros `yaml:"outage" about:"how long the store is out"`
	Attempts Rate   `yaml:"attempts" about:"the attacker's tries, evenly, going round the gateways"`
}

func loginsKind() Kind {
	return Kind{
		Name:  "login-outage",
		About: "Guesses at one account while every gateway limits alone",
		Rules: []string{
			"attempt i comes at floor(i/attempts) at gateway i mod N; buckets are full when the outage begins",
			"full limit: rate and burst in each gateway; share: 1/N of the rate and max(1, burst/N)",
		},
		Figures: []FigureInfo{
			{"attempts", "attempts", "tries during the outage"},
			{"full_limit_admitted", "attempts", "tries that pass when every gateway has the full limit"},
			{"share_admitted", "attempts", "tries that pass when every gateway has its share"},
			{"promised", "attempts", "what the limit promises for that time: burst + rate * outage"},
		},
		New: func() Params {
			return &logins{Rate: Rate{limit.Rate{Units: 5, Per: 60_000_000_000}}, Burst: 5, Gateways: 20, Outage: 12 * Second, Attempts: PerSecond(100)}
		},
	}
}

func (p *logins) bucket() limit.BucketSpec {
	return limit.BucketSpec{Rate: p.Rate.Rate, Burst: limit.Whole(p.Burst)}
}

func (p *logins) Validate() error {
	if err := firstError(
		rateWithin("rate", p.Rate), countWithin("burst", p.Burst, 1, maxCalls), countWithin("gateways", p.Gateways, 1, maxGateways),
		spanWithin("outage", p.Outage, 0, maxTime), rateWithin("attempts", p.Attempts),
	); err != nil {
		return err
	}
	if _, err := limit.LocalCopies(p.bucket(), int(p.Gateways)); err != nil {
		return paramOf(err, "")
	}
	_, err := limit.ExactShares(p.bucket(), int(p.Gateways))
	return paramOf(err, "")
}

func (p *logins) Run(ctx context.Context, o *Outcome) error {
	full, err := limit.LocalCopies(p.bucket(), int(p.Gateways))
	if err != nil {
		return err
	}
	part, err := limit.ExactShares(p.bucket(), int(p.Gateways))
	if err != nil {
		return err
	}
	var n, byFull, byPart, g int64
	for s := evenly(0, p.Outage, p.Attempts); s.at != never; s.pop() {
		if n++; n%checkEvery == 0 && ctx.Err() != nil {
			break
		}
		now := int64(s.at) * 1000
		if full.Take(int(g), now, 1).OK {
			byFull++
		}
		if part.Take(int(g), now, 1).OK {
			byPart++
		}
		g = step(g, p.Gateways)
	}
	o.Set("attempts", float64(n))
	o.Set("full_limit_admitted", float64(byFull))
	o.Set("share_admitted", float64(byPart))
	o.Set("promised", float64(p.Burst)+p.Rate.Float()*p.Outage.Seconds())
	return ctx.Err()
}

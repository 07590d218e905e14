package sim

import (
	"context"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// attack is a login attack spread over many addresses, beside honest users of
// the same route, against limits that count by different things.
type attack struct {
	Addresses  int64  `yaml:"addresses" about:"that the attack comes from, by turns"`
	Accounts   int64  `yaml:"accounts" about:"that it tries, by turns"`
	Attack     Rate   `yaml:"attack" about:"attempts a second of the attack, evenly"`
	Honest     Rate   `yaml:"honest" about:"requests a second of honest users, evenly"`
	Users      int64  `yaml:"users" about:"honest users, each with an address and an account of its own"`
	PerAddress Rate   `yaml:"per_address" about:"limit per address"`
	BurstAddr  int64  `yaml:"per_address_burst" about:"its burst"`
	PerAccount Rate   `yaml:"per_account" about:"limit per account"`
	BurstAcct  int64  `yaml:"per_account_burst" about:"its burst"`
	PerRoute   Rate   `yaml:"per_route" about:"limit of the route"`
	BurstRoute int64  `yaml:"per_route_burst" about:"its burst"`
	Duration   Micros `yaml:"duration" about:"length of the run"`
}

func attackKind() Kind {
	return Kind{
		Name:  "spread-attack",
		About: "An attack over thousands of addresses against limits per address, per account and per route",
		Rules: []string{
			"attempt i of the attack comes from address i mod addresses for account i mod accounts",
			"honest user i has an address and an account of its own; request i is user i mod users",
			"token buckets, full at the start; at equal times the attack comes first",
			"each limit is judged by itself, and all three together, all or nothing",
		},
		Figures: []FigureInfo{
			{"attack_attempts", "requests", "attempts of the attack"},
			{"honest_requests", "requests", "requests of honest users"},
			{"per_address_admits", "requests", "attempts that a limit per address lets through"},
			{"per_account_admits", "requests", "attempts that a limit per account lets through"},
			{"per_route_admits", "requests", "attempts that one limit for the route lets through"},
			{"all_three_admit", "requests", "attempts that all three together let through"},
			{"attempts_per_account", "requests", "of those, per attacked account"},
			{"honest_refused_per_address", "requests", "honest requests that a limit per address refuses"},
			{"honest_refused_per_account", "requests", "honest requests that a limit per account refuses"},
			{"honest_refused_per_route", "requests", "honest requests that one limit for the route refuses"},
			{"honest_refused_by_all_three", "requests", "honest requests that all three together refuse"},
			{"attempts_per_address_per_s", "1/s", "rate of one attacking address: attack / addresses"},
		},
		New: func() Params {
			return &attack{Addresses: 5000, Accounts: 100, Attack: PerSecond(1000), Honest: PerSecond(50), Users: 2000,
				PerAddress: PerSecond(1), BurstAddr: 5, PerAccount: Rate{limit.Rate{Units: 5, Per: time.Minute}}, BurstAcct: 5,
				PerRoute: PerSecond(200), BurstRoute: 400, Duration: 60 * Second}
		},
	}
}

func (p *attack) Validate() error {
	for _, c := range []struct {
		path string
		n    int64
	}{{"addresses", p.Addresses}, {"accounts", p.Accounts}, {"users", p.Users}} {
		if c.n < 1 || c.n > 10_000_000 {
			return &ParamError{c.path, strconv.FormatInt(c.n, 10) + " is not between 1 and 10,000,000", "--set " + c.path + "=1000"}
		}
	}
	for _, r := range []struct {
		path string
		rate Rate
	}{{"attack", p.Attack}, {"honest", p.Honest}} {
		if err := trafficFits(r.rate, p.Duration); err != nil {
			if e, ok := err.(*ParamError); ok && e.Path == "requests" {
				e.Path, e.Hint = r.path, "--set "+r.path+"=100/s"
			}
			return err
		}
	}
	for _, l := range p.limits() {
		if _, err := l.spec.New(); err != nil {
			return &ParamError{l.path, err.Error(), "--set " + l.path + "=10/s"}
		}
	}
	return nil
}

type attackLimit struct {
	path string
	spec limit.Spec
}

func (p *attack) limits() []attackLimit {
	return []attackLimit{
		{"per_address", limit.Spec{Rate: p.PerAddress.Rate, Burst: p.BurstAddr}},
		{"per_account", limit.Spec{Rate: p.PerAccount.Rate, Burst: p.BurstAcct}},
		{"per_route", limit.Spec{Rate: p.PerRoute.Rate, Burst: p.BurstRoute}},
	}
}

// counted is one way to limit: its buckets, and what it let through.
type counted struct {
	rule            limit.BucketRule
	buckets         []limit.Bucket
	attack, refused int64
}

func (c *counted) take(i int64, now int64) bool { return c.buckets[i].Take(&c.rule, now, 1).OK }

func (p *attack) Run(ctx context.Context, o *Outcome) error {
	// The first three are judged alone; the last three only ever together.
	sizes := []int64{p.Addresses + p.Users, p.Accounts + p.Users, 1}
	var alone, joint [3]counted
	for i, l := range p.limits() {
		rule, err := l.spec.Bucket().Rule()
		if err != nil {
			return err
		}
		alone[i] = counted{rule: rule, buckets: make([]limit.Bucket, sizes[i])}
		joint[i] = counted{rule: rule, buckets: make([]limit.Bucket, sizes[i])}
	}
	var attacks, honest, passed, held int64
	all := make(limit.All, 3)
	one := func(now Micros, at [3]int64, evil bool) {
		ns := int64(now) * 1000
		for i := range alone {
			ok := alone[i].take(at[i], ns)
			switch {
			case ok && evil:
				alone[i].attack++
			case !ok && !evil:
				alone[i].refused++
			}
			all[i] = limit.Part{Bucket: &joint[i].buckets[at[i]], Rule: &joint[i].rule, Cost: 1}
		}
		d, _ := all.Take(ns)
		switch {
		case d.OK && evil:
			passed++
		case !d.OK && !evil:
			held++
		}
	}
	evil, good := evenly(0, p.Duration, p.Attack), evenly(0, p.Duration, p.Honest)
	for {
		now := min(evil.at, good.at)
		if now == never {
			break
		}
		if (attacks+honest)&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if evil.at <= good.at {
			one(now, [3]int64{attacks % p.Addresses, attacks % p.Accounts, 0}, true)
			attacks++
			evil.pop()
			continue
		}
		u := honest % p.Users
		one(now, [3]int64{p.Addresses + u, p.Accounts + u, 0}, false)
		honest++
		good.pop()
	}
	o.Set("attack_attempts", float64(attacks))
	o.Set("honest_requests", float64(honest))
	for i, name := range []string{"per_address", "per_account", "per_route"} {
		o.Set(name+"_admits", float64(alone[i].attack))
		o.Set("honest_refused_"+name, float64(alone[i].refused))
	}
	o.Set("all_three_admit", float64(passed))
	o.Set("honest_refused_by_all_three", float64(held))
	o.Set("attempts_per_account", ratioOf(float64(passed), float64(p.Accounts)))
	o.Set("attempts_per_address_per_s", p.Attack.Float()/float64(p.Addresses))
	return nil
}

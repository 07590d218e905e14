package load

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/profiles"
)

// compiler builds a plan: arrivals and client numbers first, then the key
// spaces, then what each call draws from.
type compiler struct {
	opt   Options
	run   int64 // nanoseconds
	plan  *Plan
	files map[string][]byte
	rows  map[int][]traceRow // by population
	lines map[int][]string   // by population
}

// arrivals compiles population i's process and numbers its clients.
func (c *compiler) arrivals(i int, p *profiles.Population) error {
	ru := popRule{run: c.run, round: round{clients: uint64(p.Clients), block: 1}}
	most, err := c.process(i, p, &ru)
	if err != nil {
		return err
	}
	held := uint64(p.Clients)
	open := p.Arrivals.Kind != profiles.Closed
	if open && held == 0 {
		held = max(most, 1)
		ru.round.block = held
	}
	first := uint64(c.plan.Clients)
	if first+held > maxNumbered {
		return &PlanError{
			Msg:  fmt.Sprintf("up to %d callers in one run", held),
			Hint: "set clients above 0, so that calls go round that many callers",
		}
	}
	c.plan.Clients = uint32(first + held)
	behaviour, err := ParseBehaviour(cmp.Or(p.Behaviour, profiles.DefaultBehaviour))
	if err != nil {
		return err
	}
	c.plan.Populations = append(c.plan.Populations, Population{
		Name: p.Name, First: uint32(first), Clients: uint32(held),
		NewCallers: open && p.Clients == 0, Open: open,
		Behaviour: behaviour.String(), MaxAttempts: p.MaxAttempts,
		Keys: p.Keys, Arrivals: p.Arrivals,
	})
	c.plan.rules = append(c.plan.rules, ru)
	return nil
}

// process fills in when calls come and says how many there can be at most.
func (c *compiler) process(i int, p *profiles.Population, ru *popRule) (most uint64, err error) {
	a := &p.Arrivals
	run := float64(c.run) / 1e9
	never := func(what string, at time.Duration) error {
		return &PlanError{
			Msg:  fmt.Sprintf("%s comes at %v, and the run ends after %v", what, at, time.Duration(c.run)),
			Hint: "make the run longer with --duration",
		}
	}
	switch a.Kind {
	case profiles.Closed:
		ru.think, ru.jitter, ru.stagger = int64(a.Think), a.ThinkJitter, int64(a.Stagger)
		if a.Stagger >= 2*time.Duration(c.run) {
			return 0, never("half of the clients' first call", a.Stagger/2)
		}
		return 0, nil
	case profiles.Poisson:
		g := newPoisson(a.Rate, c.opt.Seed, i)
		ru.gaps = &g
		mean := run * a.Rate
		return uint64(mean+8*math.Sqrt(mean)) + 32, nil
	case profiles.Burst:
		ru.bursts = &bursts{
			first: c.firstEdge(a, 0), period: int64(a.Period),
			low: uint64(a.Min), high: uint64(a.Max),
			seed: c.opt.Seed, population: uint32(i),
		}
		n := ru.bursts.during(c.run)
		if n == 0 {
			return 0, never("the first burst", time.Duration(ru.bursts.first))
		}
		return n * uint64(a.Max), nil
	case profiles.Constant:
		if whole := math.Floor(a.Rate); whole == a.Rate {
			ru.steady = even{uint64(whole)}
		} else {
			ru.steady = pieces{}.add(run, a.Rate, a.Rate)
		}
		most = uint64(run*a.Rate) + 2
	case profiles.Ramp, profiles.Step, profiles.Spike:
		if a.Kind == profiles.Spike && int64(a.At) >= c.run {
			return 0, never("the spike", a.At)
		}
		p := arrivalShape(a, run)
		ru.steady, most = p, uint64(p.total())+2
	case profiles.Sine:
		s := sine{a.Rate, a.Amplitude, a.Period.Seconds()}
		calls, _ := s.both(run)
		ru.steady, most = s, uint64(calls)+2
	case profiles.Edge:
		e := edges{first: c.firstEdge(a, int64(a.Spread)), period: int64(a.Period), spread: int64(a.Spread), count: uint64(a.Count)}
		if e.first > c.run {
			return 0, never("the first edge", time.Duration(e.first))
		}
		ru.steady, most = e, (uint64(c.run/e.period)+2)*2*e.count
	case profiles.Expiry:
		e := expiries{uint64(p.Clients), int64(a.Period), int64(a.Lead), int64(a.Stagger)}
		ru.steady, most = e, (uint64(c.run/e.period)+2)*e.clients
	case profiles.Trace:
		if ru.trace, err = c.trace(i, a.File); err != nil {
			return 0, err
		}
		ru.steady, most = ru.trace, uint64(len(ru.trace.due))
	}
	ru.count = countBefore(ru.steady, c.run, most)
	if ru.count == 0 {
		return 0, &PlanError{
			Msg:  fmt.Sprintf("no call is due in a run of %v", time.Duration(c.run)),
			Hint: "make the run longer with --duration, or the rate higher",
		}
	}
	return ru.count, nil
}

// arrivalShape is the rate over the run of the processes that are piecewise linear.
// Pieces of no length are left out; the last plateau lasts to the end.
func arrivalShape(a *profiles.Arrivals, run float64) pieces {
	var p pieces
	left := run
	add := func(length, rate, to float64) {
		if length = min(length, left); length > 0 {
			p, left = p.add(length, rate, to), left-length
		}
	}
	switch a.Kind {
	case profiles.Ramp:
		add(run, a.Rate, a.To)
	case profiles.Spike:
		add(a.At.Seconds(), a.Rate, a.Rate)
		add(a.For.Seconds(), a.To, a.To)
		add(run, a.Rate, a.Rate)
	case profiles.Step:
		for i, s := range a.Steps {
			length := s.For.Seconds()
			if i == len(a.Steps)-1 {
				length = run
			}
			add(length, s.Rate, s.Rate)
		}
	}
	return p
}

// firstEdge is the first multiple of the period that leaves room before it:
// the train of an edge is whole or not there at all, because half of one
// spends the window that the next needs. With room 0 the run's own start
// counts; otherwise the first edge is above 0.
func (c *compiler) firstEdge(a *profiles.Arrivals, room int64) int64 {
	period := int64(a.Period)
	edge := int64(0)
	if a.Aligned {
		past := c.opt.Start % period
		if past < 0 {
			past += period
		}
		edge = (period - past) % period
	}
	for edge < room {
		edge += period
	}
	return edge
}

func (c *compiler) trace(i int, file string) (trace, error) {
	data, err := c.read(file)
	if err != nil {
		return trace{}, err
	}
	rows, err := parseTrace(file, data)
	if err != nil {
		return trace{}, err
	}
	if c.rows == nil {
		c.rows = map[int][]traceRow{}
	}
	c.rows[i] = rows
	t := trace{due: make([]int64, len(rows))}
	for j, row := range rows {
		t.due[j] = row.due
		if row.cost > 0 && t.cost == nil {
			t.cost = make([]uint32, len(rows))
		}
		if row.cost > 0 {
			t.cost[j] = row.cost
		}
	}
	return t, nil
}

func (c *compiler) read(file string) ([]byte, error) {
	if data, ok := c.files[file]; ok {
		return data, nil
	}
	if c.opt.ReadFile == nil {
		return nil, &PlanError{Msg: fmt.Sprintf("needs the file %q, and files are not read here", file)}
	}
	data, err := c.opt.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c.files[file] = data
	return data, nil
}

// spaces reserves the generated keys of population i.
func (c *compiler) spaces(i int, p *profiles.Population) error {
	var n uint64
	switch p.Keys.Kind {
	case profiles.KeyFile:
		data, err := c.read(p.Keys.File)
		if err != nil {
			return err
		}
		if c.lines == nil {
			c.lines = map[int][]string{}
		}
		c.lines[i], err = parseKeys(p.Keys.File, data)
		return err
	case profiles.KeyEach:
		n = uint64(c.plan.Populations[i].Clients)
	case profiles.OneKey:
		n = 1
	default:
		n = uint64(p.Keys.Count)
	}
	c.plan.keys.want(prefix(p), n)
	c.plan.rules[i].keys = keyRule{kind: p.Keys.Kind, n: n}
	if p.Keys.Kind == profiles.KeyZipf {
		c.plan.rules[i].keys.zipf = newZipf(n, p.Keys.S)
	}
	return nil
}

func prefix(p *profiles.Population) string {
	if p.Keys.Prefix == "" {
		return profiles.DefaultPrefix
	}
	return p.Keys.Prefix
}

// choices resolves keys to numbers, and builds the mixes of costs and routes.
func (c *compiler) choices(i int, p *profiles.Population) error {
	ru, keys := &c.plan.rules[i], &c.plan.keys
	if p.Keys.Kind == profiles.KeyFile {
		ru.keys = keyRule{kind: profiles.KeyFile}
		for _, name := range c.lines[i] {
			k, err := keys.add(name)
			if err != nil {
				return err
			}
			ru.keys.lines = append(ru.keys.lines, k)
		}
	} else {
		for _, s := range keys.spaces {
			if s.prefix == prefix(p) {
				ru.keys.first = s.first
			}
		}
	}
	for j, row := range c.rows[i] {
		if row.key == "" {
			continue
		}
		if ru.trace.key == nil {
			ru.trace.key = make([]uint32, len(ru.trace.due))
			for k := range ru.trace.key {
				ru.trace.key[k] = noKey
			}
		}
		k, err := keys.add(row.key)
		if err != nil {
			return err
		}
		ru.trace.key[j] = k
	}
	for _, cost := range p.Cost {
		ru.costs.add(uint32(cost.Cost), cost.Weight)
	}
	if len(p.Cost) == 0 {
		ru.costs.add(1, 1)
	}
	for _, r := range p.Routes {
		ru.routes.add(0, r.Weight)
		ru.routeOf = append(ru.routeOf, c.route(Route{r.Method, r.Path}))
		ru.routeCost = append(ru.routeCost, uint32(r.Cost))
	}
	if len(p.Routes) == 0 {
		ru.routes.add(0, 1)
		ru.routeOf, ru.routeCost = []uint16{0}, []uint32{0}
	}
	return nil
}

// route numbers a route; populations share equal ones.
func (c *compiler) route(r Route) uint16 {
	for i, have := range c.plan.Routes {
		if have == r {
			return uint16(i)
		}
	}
	c.plan.Routes = append(c.plan.Routes, r)
	return uint16(len(c.plan.Routes) - 1)
}

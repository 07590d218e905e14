package load

import (
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/weir-cli/weir/profiles"
)

// maxNumbered is how many clients, and how many keys, a plan can number.
const maxNumbered = math.MaxUint32

// Options are what a plan needs beyond its profile.
type Options struct {
	Seed     int64
	Duration time.Duration // of the run; 0 is the profile's own
	Start    int64         // unix nanoseconds at which the run starts; for aligned arrivals
	// ReadFile reads the key and trace files that a profile names; nil refuses
	// such profiles.
	ReadFile func(string) ([]byte, error)
}

// PlanError is a profile that is well formed and still gives no plan.
type PlanError struct {
	Population string // "" when it is the whole
	Msg        string
	Hint       string // what to do; "" when Msg says it all
}

func (e *PlanError) Error() string {
	if e.Population == "" {
		return e.Msg
	}
	return fmt.Sprintf("population %q: %s", e.Population, e.Msg)
}

// Plan is all that a run will do before any answer is known: who calls, with
// which key, cost and route, and when first attempts are due. It is never
// changed after [Compile], so any number of goroutines may read it, and it is
// a function of profile, options and files alone.
type Plan struct {
	Name, About string
	Seed        int64
	Duration    time.Duration
	Start       int64  // unix nanoseconds, as in Options
	Clients     uint32 // client numbers go from 0 to Clients-1
	Populations []Population
	Routes      []Route // by Slot.Route; the first is the run's own method and path

	keys    keyTable
	rules   []popRule
	planned func() (uint64, bool)
}

// Population is a group of clients of a plan.
type Population struct {
	Name    string
	First   uint32 // number of its first client
	Clients uint32 // how many numbers it holds
	// NewCallers: every open-loop call has a client number of its own, and
	// Clients is the most there can be.
	NewCallers  bool
	Open        bool   // calls come by the schedule, not by Think after the last
	Behaviour   string // canonical, as ParseBehaviour reads it
	MaxAttempts int    // of one call; 0 leaves it to the behaviour
	Keys        profiles.Keys
	Arrivals    profiles.Arrivals
}

// Route is a method and path; empty ones are the run's own.
type Route struct{ Method, Path string }

// popRule is what a population does, ready to be evaluated.
type popRule struct {
	run   int64
	round round
	keys  keyRule
	costs mix
	// routes picks an index into routeOf and routeCost.
	routes    mix
	routeOf   []uint16
	routeCost []uint32 // 0: from costs

	// Open loop: exactly one of steady, gaps and bursts.
	steady indexed
	count  uint64 // of steady
	gaps   *poissonGaps
	bursts *bursts
	trace  trace

	// Closed loop.
	think, stagger int64
	jitter         float64
}

// trace holds due times of a trace file, with its keys and costs where it has
// any: nil, or noKey and 0 for "by the population's rule".
type trace struct {
	due  []int64
	key  []uint32
	cost []uint32
}

const noKey = math.MaxUint32

func (t trace) at(i uint64) int64 { return t.due[i] }

// Compile turns a profile into a plan.
func Compile(p *profiles.Profile, opt Options) (*Plan, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	c := compiler{opt: opt, run: int64(opt.Duration), files: map[string][]byte{}}
	if c.run == 0 {
		c.run = int64(p.Duration)
	}
	if c.run <= 0 || c.run > int64(profiles.MaxDuration) {
		return nil, &PlanError{
			Msg:  fmt.Sprintf("a run of %v", time.Duration(c.run)),
			Hint: fmt.Sprintf("a run lasts above 0 and at most %v", profiles.MaxDuration),
		}
	}
	c.plan = &Plan{
		Name: p.Name, About: p.About, Seed: opt.Seed,
		Duration: time.Duration(c.run), Start: opt.Start, Routes: []Route{{}},
	}
	for i := range p.Populations {
		if err := c.arrivals(i, &p.Populations[i]); err != nil {
			return nil, inPopulation(p.Populations[i].Name, err)
		}
	}
	for i := range p.Populations {
		if err := c.spaces(i, &p.Populations[i]); err != nil {
			return nil, inPopulation(p.Populations[i].Name, err)
		}
	}
	if err := c.plan.keys.seal(); err != nil {
		return nil, err
	}
	for i := range p.Populations {
		if err := c.choices(i, &p.Populations[i]); err != nil {
			return nil, inPopulation(p.Populations[i].Name, err)
		}
	}
	c.plan.keys.byName = nil
	c.plan.planned = sync.OnceValues(c.plan.countPlanned)
	return c.plan, nil
}

func inPopulation(name string, err error) error {
	if e, ok := err.(*PlanError); ok {
		e.Population = name
		return e
	}
	return fmt.Errorf("population %q: %w", name, err)
}

// slot completes an arrival.
func (p *Plan) slot(n uint64, population int, client uint32, a arrival) Slot {
	s := Slot{N: n, Due: a.due, Client: client, Population: uint16(population)}
	s.Key, s.Cost, s.Route = p.Draw(population, client, a.call)
	if a.row >= 0 {
		t := p.rules[population].trace
		if t.key != nil && t.key[a.row] != noKey {
			s.Key = t.key[a.row]
		}
		if t.cost != nil && t.cost[a.row] != 0 {
			s.Cost = t.cost[a.row]
		}
	}
	return s
}

// Draw is the key, cost and route of a client's call, counted from 0: a pure
// function of the seed and its arguments, the same in both kinds of loop.
func (p *Plan) Draw(population int, client uint32, call uint64) (key, cost uint32, route uint16) {
	ru := &p.rules[population]
	r := NewRand(p.Seed^drawStream, client, call)
	k := ru.routes.pick(&r)
	cost = ru.routeCost[k]
	if c := ru.costs.pick(&r); cost == 0 {
		cost = ru.costs.value[c]
	}
	return ru.keys.pick(client-p.Populations[population].First, &r), cost, ru.routeOf[k]
}

// ClosedStart is when client i (from 0 within its population) of a closed loop
// makes its first call, in nanoseconds since the start of the run.
func (p *Plan) ClosedStart(population int, i uint32) int64 {
	return mulDiv(uint64(i), p.rules[population].stagger, uint64(p.Populations[population].Clients))
}

// Think is how long a closed-loop client waits after its call (counted from 0)
// has ended before it makes the next one, in nanoseconds.
func (p *Plan) Think(population int, client uint32, call uint64) int64 {
	ru := &p.rules[population]
	if ru.jitter == 0 {
		return ru.think
	}
	r := NewRand(p.Seed^thinkStream, client, call)
	return int64(float64(ru.think) * (1 + ru.jitter*(2*r.Float64()-1)))
}

// NKeys is the number of keys the plan can use; they are numbered from 0.
func (p *Plan) NKeys() int { return p.keys.len() }

// KeyName is the key as it is sent. One from a file may be a credential: print
// [Plan.KeyLabel] instead.
func (p *Plan) KeyName(i uint32) string { return p.keys.name(i) }

// AppendKey is KeyName for those who send a key with every attempt.
func (p *Plan) AppendKey(dst []byte, i uint32) []byte { return p.keys.append(dst, i) }

// KeyLabel is the key as it may be shown: a short hash when it is from a file.
func (p *Plan) KeyLabel(i uint32) string { return p.keys.label(i) }

// countable is how many random arrivals are drawn just to count them.
const countable = 100_000_000

// Planned is how many calls the schedule holds. Closed loops plan none. Above
// a hundred million random arrivals it is the mean; see [Plan.PlannedExact].
func (p *Plan) Planned() uint64 {
	n, _ := p.planned()
	return n
}

// PlannedExact says whether [Plan.Planned] was counted.
func (p *Plan) PlannedExact() bool {
	_, exact := p.planned()
	return exact
}

func (p *Plan) countPlanned() (total uint64, exact bool) {
	exact = true
	for i := range p.rules {
		n, ok := p.rules[i].planned()
		total, exact = total+n, exact && ok
	}
	return total, exact
}

func (ru *popRule) planned() (n uint64, exact bool) {
	switch {
	case ru.gaps != nil:
		if mean := float64(ru.run) / ru.gaps.mean; mean > countable {
			return uint64(math.Round(mean)), false
		}
		for g := *ru.gaps; g.next() < ru.run; n++ {
		}
		return n, true
	case ru.bursts != nil:
		b := ru.bursts
		all := b.during(ru.run)
		if b.low == b.high {
			return all * b.low, true
		}
		if all > countable {
			return uint64(float64(all) * float64(b.low+b.high) / 2), false
		}
		for i := range all {
			n += b.size(i)
		}
		return n, true
	}
	return ru.count, true
}

func (ru *popRule) cursor() cursor {
	switch {
	case ru.gaps != nil:
		return &poissonCursor{gaps: *ru.gaps, run: ru.run, round: ru.round}
	case ru.bursts != nil:
		return &burstCursor{b: *ru.bursts, run: ru.run, round: ru.round}
	}
	return &indexCursor{p: ru.steady, n: ru.count, run: ru.run, round: ru.round, trace: ru.trace.due != nil}
}

// mix is a weighted choice.
type mix struct {
	value []uint32
	upTo  []float64 // running sum of the weights
}

func (m *mix) add(value uint32, weight float64) {
	m.value = append(m.value, value)
	if len(m.upTo) > 0 {
		weight += m.upTo[len(m.upTo)-1]
	}
	m.upTo = append(m.upTo, weight)
}

// pick draws once, so that streams stay in step whatever the mix.
func (m *mix) pick(r *Rand) int {
	last := len(m.upTo) - 1
	u := r.Float64() * m.upTo[last]
	for i := range last {
		if u < m.upTo[i] {
			return i
		}
	}
	return last
}

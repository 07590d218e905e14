package sim

import "fmt"

// Trace is the traffic of the one-key story: a customer's normal calls, a page
// that loads, and a storm of retries, over a number of gateways.
type Trace struct {
	Length          Micros `yaml:"length" about:"when the trace ends; time zero is 08:59:00"`
	NormalRate      Rate   `yaml:"normal_rate" about:"normal calls, evenly, while no storm runs"`
	PageLoadAt      Micros `yaml:"page_load_at" about:"when a page is loaded"`
	PageLoadCalls   int64  `yaml:"page_load_calls" about:"calls of the page load"`
	PageLoadSpacing Micros `yaml:"page_load_spacing" about:"time between two calls of the page load"`
	StormFrom       Micros `yaml:"storm_from" about:"when the storm begins"`
	StormFor        Micros `yaml:"storm_for" about:"how long the storm lasts"`
	StormRate       Rate   `yaml:"storm_rate" about:"calls of the storm, evenly"`
	ResumeAfter     Micros `yaml:"resume_after" about:"silence between the storm's end and the first normal call"`
	StormOnly       bool   `yaml:"storm_only" about:"leave out the normal calls and the page load"`
	Gateways        int64  `yaml:"gateways" about:"how many gateways there are"`
	Spread          string `yaml:"spread" about:"round-robin: storm calls and the others each go round on their own; first: call i of the trace goes to gateway i mod spread_over; random: a draw for each call"`
	SpreadOver      int64  `yaml:"spread_over" about:"gateways that spread=first uses"`
	Seed            int64  `yaml:"seed" about:"of the random draws, as in Python's random.Random"`
}

// Ways to spread calls over gateways.
const (
	spreadRound  = "round-robin"
	spreadFirst  = "first"
	spreadRandom = "random"
)

func newTrace() Trace {
	return Trace{
		Length: 240 * Second, NormalRate: PerSecond(5),
		PageLoadAt: 30_100_000, PageLoadCalls: 15,
		StormFrom: 60 * Second, StormFor: 120 * Second, StormRate: PerSecond(400),
		Gateways: 20, Spread: spreadRound, SpreadOver: 20, Seed: 1,
	}
}

// unused lists parameters that mean nothing beside the others.
func (t *Trace) unused() map[string]string {
	m := map[string]string{}
	if t.Spread != spreadFirst {
		m["spread_over"] = "means something with spread=first only"
	}
	if t.StormOnly {
		for _, name := range []string{"normal_rate", "page_load_at", "page_load_calls", "page_load_spacing", "resume_after"} {
			m[name] = "means nothing with storm_only=true"
		}
	}
	return m
}

func (t *Trace) validate() error {
	return firstError(
		spanWithin("length", t.Length, 1, maxTime),
		rateWithin("normal_rate", t.NormalRate),
		rateWithin("storm_rate", t.StormRate),
		spanWithin("page_load_at", t.PageLoadAt, 0, maxTime),
		countWithin("page_load_calls", t.PageLoadCalls, 0, maxCalls),
		spanWithin("page_load_spacing", t.PageLoadSpacing, 0, maxTime),
		spanWithin("storm_from", t.StormFrom, 0, maxTime),
		spanWithin("storm_for", t.StormFor, 0, maxTime),
		spanWithin("resume_after", t.ResumeAfter, 0, maxTime),
		oneOfNames("spread", t.Spread, spreadRound, spreadFirst, spreadRandom),
		countWithin("gateways", t.Gateways, 1, maxGateways),
		t.spreadFits(),
		t.ends(),
	)
}

func (t *Trace) spreadFits() error {
	if t.Spread != spreadFirst {
		return nil
	}
	return countWithin("spread_over", t.SpreadOver, 1, t.Gateways)
}

// ends checks that the whole traffic lies inside the trace.
func (t *Trace) ends() error {
	last := t.StormFrom + t.StormFor
	if last > t.Length {
		return &ParamError{"length", fmt.Sprintf("%v ends before the storm does, at %v", t.Length, last), "--set length=" + (last + 60*Second).String()}
	}
	if page := t.PageLoadCalls * int64(t.PageLoadSpacing); !t.StormOnly && t.PageLoadCalls > 0 &&
		(int64(t.PageLoadSpacing) > int64(maxTime)/t.PageLoadCalls || t.PageLoadAt+Micros(page) > t.Length) {
		return &ParamError{"page_load_at", "the page load does not end within length " + t.Length.String(), "--set page_load_calls=15"}
	}
	return nil
}

// stormEnd is when the storm is over.
func (t *Trace) stormEnd() Micros { return t.StormFrom + t.StormFor }

// callKind says what a call is part of. The order is that of calls at one
// instant.
type callKind uint8

const (
	otherCall callKind = iota // of another key
	normalCall
	pageCall
	stormCall
	callKinds
)

var callNames = [callKinds]string{"other-key", "normal", "page-load", "storm"}

// call is one request of the trace.
type call struct {
	at      Micros
	n       int64 // among its kind, from 0
	gateway int32
	kind    callKind
}

// traffic yields a trace's calls in order, one by one.
type traffic struct {
	before, after, page, storm stream // before and after: normal
	spread                     string
	gateways, over             int64
	stormAt, restAt, all       int64 // next gateways
	rand                       *PyRandom
	normal                     int64
}

// traffic starts the trace; normal calls go on until end, where it is set.
func (t *Trace) traffic(end Micros) *traffic {
	f := &traffic{spread: t.Spread, gateways: t.Gateways, over: t.SpreadOver,
		storm: evenly(t.StormFrom, t.stormEnd(), t.StormRate)}
	if t.StormOnly {
		f.before.at, f.after.at, f.page.at = never, never, never
	} else {
		f.before = evenly(0, min(t.StormFrom, end), t.NormalRate)
		f.after = evenly(t.stormEnd()+t.ResumeAfter, end, t.NormalRate)
		f.page = spaced(t.PageLoadAt, t.PageLoadCalls, t.PageLoadSpacing)
	}
	if t.Spread == spreadRandom {
		f.rand = NewPyRandom(t.Seed)
	}
	return f
}

// peek is when the next call comes; never when there is none.
func (f *traffic) peek() Micros { return min(f.storm.at, f.before.at, f.page.at, f.after.at) }

// next fills c with the next call; false when there is none.
func (f *traffic) next(c *call) bool {
	// Normal first, then page load, then storm.
	at, s, kind := f.storm.at, &f.storm, stormCall
	if f.page.at <= at {
		at, s, kind = f.page.at, &f.page, pageCall
	}
	if f.after.at <= at {
		at, s, kind = f.after.at, &f.after, normalCall
	}
	if f.before.at <= at {
		at, s, kind = f.before.at, &f.before, normalCall
	}
	if at == never {
		return false
	}
	c.at, c.kind, c.n = at, kind, s.n
	if kind == normalCall {
		c.n = f.normal
		f.normal++
	}
	s.pop()
	c.gateway = f.gateway(kind)
	return true
}

// gateway is where the next call goes.
func (f *traffic) gateway(kind callKind) int32 {
	var g int64
	switch {
	case f.rand != nil:
		return int32(f.rand.Randrange(f.gateways))
	case f.spread == spreadFirst:
		g = f.all
		f.all = step(f.all, f.over)
	case kind == stormCall:
		g = f.stormAt
		f.stormAt = step(f.stormAt, f.gateways)
	default:
		g = f.restAt
		f.restAt = step(f.restAt, f.gateways)
	}
	return int32(g)
}

// step is (i+1) mod n without dividing.
func step(i, n int64) int64 {
	if i++; i == n {
		return 0
	}
	return i
}

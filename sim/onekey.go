package sim

import (
	"context"
	"maps"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// Where the state of the limit is.
const (
	central = "central"
	local   = "local"
	shares  = "shares"
	sticky  = "sticky"
)

// Whether another key shares the bucket.
const (
	nobody = "none"
	even   = "even"
	random = "random"
)

// oneKey is the trace through one limit: central, in every gateway, in shares,
// or at an owner.
type oneKey struct {
	Trace   `yaml:",inline"`
	Limiter `yaml:",inline"`

	Design       string           `yaml:"design" about:"central: one state in a store; local: the full limit in every gateway; shares: 1/gateways of it in each; sticky: one bucket at an owner"`
	Moves        []Micros         `yaml:"moves" about:"when the key moves to a new owner, who starts full"`
	TTL          Micros           `yaml:"ttl" about:"the bucket's state disappears this long after its last write; 0 is never"`
	Clocks       map[int64]Micros `yaml:"clocks" about:"how far the clock of a gateway is ahead, by index from 0: {6: 50ms} is G7; negative is behind"`
	WriteBack    bool             `yaml:"write_callers_time" about:"a bucket stores each caller's time, also one earlier than the stored one"`
	Accounts     int64            `yaml:"accounts" about:"storm call s acts for account s mod accounts, and each has a limit of its own; 0 is one limit for the key"`
	Neighbour    string           `yaml:"neighbour" about:"calls of another key, k-8, on the same limit: none, even or random"`
	NeighbourPer Rate             `yaml:"neighbour_rate" about:"its calls"`
	Phase        Micros           `yaml:"neighbour_phase" about:"when its first call comes, if even"`
	Beside       bool             `yaml:"beside_bucket" about:"also ask a plain central bucket of the contract about every call, and compare"`
	Others       Rate             `yaml:"others" about:"other partners' calls on the backend"`
}

func onekeyKind() Kind {
	return Kind{
		Name:  "trace",
		About: "The one-key trace through one limiter",
		Rules: []string{
			"time in whole microseconds; amounts exact; a request is decided at its arrival",
			"at equal times: another key, normal, page load, storm; calls of one kind in order",
			"storm call s goes to gateway s mod N, the others' call k to k mod N",
			"Retry-After is the exact wait rounded up to whole seconds",
		},
		Figures: append(append([]FigureInfo{}, tallyFigures...), onekeyFigures...),
		New: func() Params {
			return &oneKey{Trace: newTrace(), Limiter: newLimiter(), Design: central, WriteBack: true,
				Neighbour: nobody, NeighbourPer: PerSecond(20), Others: PerSecond(695)}
		},
	}
}

var onekeyFigures = []FigureInfo{
	{"backend_busiest_storm_second", "requests", "other partners' calls and what passes of the key, in the storm's busiest aligned second"},
	{"decisions_equal_to_bucket", "requests", "calls that a plain central bucket decides alike"},
	{"decisions_different_from_bucket", "requests", "calls that it decides otherwise"},
	{"bucket_admitted", "requests", "calls of the key that pass a plain central bucket"},
	{"admitted_more_than_bucket", "requests", "what passes beyond that; below zero when less"},
	{"released_in_storm", "requests", "calls that a queue lets go while the storm runs"},
	{"storm_longest_queue_wait_s", "s", "longest wait of an accepted storm call in the queue"},
	{"page_load_last_wait_s", "s", "wait of the page load's last call in the queue"},
	{"tokens_found_after_storm", "tokens", "what the first normal call after the storm finds in the bucket"},
	{"simultaneous_calls_after_storm", "requests", "how many calls at once would pass then"},
	{"bucket_tokens_found_after_storm", "tokens", "what it would find in a plain central bucket"},
	{"bucket_simultaneous_calls_after_storm", "requests", "how many calls at once that would let pass"},
	{"owner_moves", "moves", "how often a new owner began without the state of the one before"},
	{"store_calls", "calls", "checks that go to a central store"},
	{"store_commands", "commands", "commands of those: a fixed window takes two and one more for a refusal, a sliding counter three and one more, a script one"},
	{"neighbour_calls_in_storm", "requests", "calls of k-8 while the storm runs"},
	{"neighbour_admitted_in_storm", "requests", "of these, what passes"},
	{"neighbour_admitted_per_storm_second", "1/s", "the mean of that over the storm's seconds"},
	{"neighbour_storm_second_least_admitted", "requests", "least of k-8 that passes in an aligned second of the storm"},
	{"neighbour_storm_second_most_admitted", "requests", "most of k-8 that passes in an aligned second of the storm"},
	{"neighbour_admitted", "requests", "calls of k-8 that pass over the whole trace"},
	{"neighbour_admitted_in_storm_second_N", "requests", "calls of k-8 that pass in aligned second N of the storm, from 1"},
}

// Unused lists the parameters that mean nothing beside the others, and why.
func (p *oneKey) Unused() map[string]string {
	m := p.Trace.unused()
	maps.Copy(m, p.Limiter.unused())
	if p.Design != sticky {
		m["moves"] = "is of design=sticky"
	}
	if p.Neighbour == nobody {
		m["neighbour_rate"], m["neighbour_phase"] = "means something with neighbour=even or random", "means something with neighbour=even"
	}
	if p.Algorithm != "token-bucket" {
		m["ttl"], m["write_callers_time"] = "is of a token-bucket", "is of a token-bucket"
	}
	if p.Spread != spreadRandom && p.Neighbour != random {
		m["seed"] = "means something with spread=random or neighbour=random"
	}
	return m
}

func (p *oneKey) Validate() error {
	if err := firstError(p.Trace.validate(), p.Limiter.validate(),
		oneOfNames("design", p.Design, central, local, shares, sticky),
		oneOfNames("neighbour", p.Neighbour, nobody, even, random),
		spanWithin("ttl", p.TTL, 0, maxTime),
		countWithin("accounts", p.Accounts, 0, maxGateways),
		rateWithin("neighbour_rate", p.NeighbourPer),
		spanWithin("neighbour_phase", p.Phase, 0, maxTime),
		rateWithin("others", p.Others),
	); err != nil {
		return err
	}
	bucket := p.Algorithm == "token-bucket"
	switch {
	case (p.Design == shares || p.Design == sticky) && !bucket:
		return &ParamError{"design", p.Design + " is of a token-bucket, not of a " + p.Algorithm, "--set design=central"}
	case p.Algorithm == "leaky-queue" && p.Design != central:
		return &ParamError{"design", "a leaky-queue stands in one place", "--set design=central"}
	case p.Design == local && (p.Accounts+1)*p.Gateways > 10_000_000:
		return &ParamError{"accounts", "more than 10,000,000 states", "--set accounts=0"}
	}
	for g, off := range p.Clocks {
		if g < 0 || g >= p.Gateways {
			return &ParamError{"clocks", "there is no gateway of index " + showInt(g), "indexes run from 0 to gateways-1: G7 is 6"}
		}
		if err := spanWithin("clocks", max(off, -off), 0, maxTime); err != nil {
			return err
		}
	}
	for i, at := range p.Moves {
		if at < 0 || i > 0 && at < p.Moves[i-1] {
			return &ParamError{"moves", "times must not fall", "--set moves=2m"}
		}
	}
	if p.Design == shares {
		_, err := limit.ExactShares(p.bucket(), int(p.Gateways))
		return paramOf(err, "")
	}
	return nil
}

// Document is how the run's events are read.
func (p *oneKey) Document() Document {
	d := traceDocument(&p.Trace, p.promise())
	if p.Accounts > 0 || p.Neighbour != nobody {
		d.Names.Key = func(i uint32) string {
			switch {
			case i == 0:
				return "k-7"
			case p.Neighbour != nobody && i == 1:
				return "k-8"
			}
			return "k-7/account-" + showInt(int64(i)-2)
		}
	}
	return d
}

// traceDocument names what the events of a trace speak of.
func traceDocument(t *Trace, promise *report.Promise) Document {
	return Document{
		Length:  t.Length,
		Promise: promise,
		Names: report.Names{
			Key:        func(uint32) string { return "k-7" },
			Target:     gatewayName,
			Population: func(i uint16) string { return callNames[min(int(i), int(callKinds)-1)] },
		},
	}
}

func gatewayName(i uint16) string { return "G" + showInt(int64(i)+1) }

// Run plays the trace.
func (p *oneKey) Run(ctx context.Context, o *Outcome) error {
	take, err := p.taker()
	if err != nil {
		return err
	}
	r := &onekeyRun{p: p, take: take, t: newTally(p.StormFrom, p.stormEnd()), other: newTally(p.StormFrom, p.stormEnd()), rec: o.recorder()}
	if p.Beside {
		spec := p.bucket()
		spec.Follow = true
		if r.plain, err = spec.Rule(); err != nil {
			return err
		}
	}
	r.offsets = make([]int64, p.Gateways)
	for g, off := range p.Clocks {
		r.offsets[g] = int64(off) * 1000
	}
	r.play(ctx, o)
	r.report(o)
	return ctx.Err()
}

// onekeyRun is one run.
type onekeyRun struct {
	p          *oneKey
	take       taker
	t          *tally
	other      *tally // k-8
	neighbours int64  // its calls while the storm runs
	rec        *recorder
	offsets    []int64 // ns, by gateway

	plain         limit.BucketRule
	beside        limit.Bucket
	alike, unlike int64
	plainAdmitted int64

	resumed       bool
	found         float64
	foundAll      int64
	plainFound    float64
	plainFoundAll int64

	longest, lastPage time.Duration
	pageWaited        bool
}

// checkEvery is how many calls go by between two looks at the context.
const checkEvery = 8192

func (r *onekeyRun) play(ctx context.Context, o *Outcome) {
	p := r.p
	f := p.traffic(p.Length)
	neighbour := p.neighbour()
	var c call
	for i := 1; ; i++ {
		if neighbour != nil && neighbour.peek() <= f.peek() {
			if !neighbour.next(&c, p.Gateways) {
				return
			}
		} else if !f.next(&c) {
			return
		}
		r.one(&c)
		if i%checkEvery == 0 {
			if ctx.Err() != nil {
				return
			}
			if o.Progress != nil {
				o.Progress(float64(c.at) / float64(p.Length))
			}
		}
	}
}

// one decides one call.
func (r *onekeyRun) one(c *call) {
	now := int64(c.at)*1000 + r.offsets[c.gateway]
	if c.kind == normalCall && !r.resumed && c.at >= r.p.stormEnd() {
		r.resumed = true
		r.found, r.foundAll = r.take.level(now, r.p.Cost)
		if r.p.Beside {
			units, grain := r.beside.Level(&r.plain, int64(c.at)*1000), int64(r.plain.Grain())
			r.plainFound, r.plainFoundAll = float64(units)/float64(grain), units/grain/r.p.Cost
		}
	}
	d := r.take.take(c, now)
	t := r.t
	if c.kind == otherCall {
		t = r.other
		if c.at >= t.stormFrom && c.at < t.stormTo {
			r.neighbours++
		}
	}
	t.calls[c.kind]++
	at := c.at
	if d.OK {
		if r.take.queue {
			at += Micros(d.Delay / time.Microsecond)
			r.waited(c.kind, d.Delay)
		}
		t.admit(c.kind, at)
	} else {
		t.refuse(c.kind, &d)
	}
	if r.p.Beside && c.kind != otherCall {
		was := r.beside.Take(&r.plain, int64(c.at)*1000, r.p.Cost)
		if was.OK {
			r.plainAdmitted++
		}
		if was.OK == d.OK {
			r.alike++
		} else {
			r.unlike++
		}
	}
	if r.rec != nil {
		r.rec.record(&attempt{sent: c.at, decided: at, done: at, key: r.key(c), client: uint32(c.kind),
			gateway: c.gateway, group: uint16(c.kind), cost: r.p.Cost, d: d})
	}
}

// key is the number of a call's key in events.
func (r *onekeyRun) key(c *call) uint32 {
	switch {
	case c.kind == otherCall:
		return 1
	case r.p.Accounts > 0 && c.kind == stormCall:
		return uint32(2 + c.n%r.p.Accounts)
	}
	return 0
}

func (r *onekeyRun) waited(kind callKind, d time.Duration) {
	switch kind {
	case stormCall:
		r.longest = max(r.longest, d)
	case pageCall:
		r.lastPage, r.pageWaited = d, true
	}
}

func (r *onekeyRun) report(o *Outcome) {
	p := r.p
	r.t.report(o)
	calls := r.t.calls[normalCall] + r.t.calls[pageCall] + r.t.calls[stormCall]
	admitted := r.t.admitted[normalCall] + r.t.admitted[pageCall] + r.t.admitted[stormCall]
	if most := r.t.storm; len(most) > 0 {
		o.Set("backend_busiest_storm_second", p.Others.Float()+float64(maxOf(most)))
	}
	if p.Beside {
		o.Set("decisions_equal_to_bucket", float64(r.alike))
		o.Set("decisions_different_from_bucket", float64(r.unlike))
		o.Set("bucket_admitted", float64(r.plainAdmitted))
		o.Set("admitted_more_than_bucket", float64(admitted-r.plainAdmitted))
	}
	if r.take.queue {
		o.Set("released_in_storm", float64(r.t.inStorm))
		o.Set("storm_longest_queue_wait_s", r.longest.Seconds())
		if r.pageWaited {
			o.Set("page_load_last_wait_s", r.lastPage.Seconds())
		}
	}
	if r.resumed && r.take.knowsLevel {
		o.Set("tokens_found_after_storm", r.found)
		o.Set("simultaneous_calls_after_storm", float64(r.foundAll))
	}
	if r.resumed && p.Beside {
		o.Set("bucket_tokens_found_after_storm", r.plainFound)
		o.Set("bucket_simultaneous_calls_after_storm", float64(r.plainFoundAll))
	}
	if p.Design == sticky {
		o.Set("owner_moves", float64(r.take.moves()))
	}
	if p.Design == central {
		calls += r.other.calls[otherCall]
		o.Set("store_calls", float64(calls))
		passed := admitted + r.other.admitted[otherCall]
		if a, err := limit.ParseAlgorithm(p.Algorithm); err == nil {
			o.Set("store_commands", float64(passed*int64(a.Commands(true))+(calls-passed)*int64(a.Commands(false))))
		}
	}
	if p.Neighbour != nobody {
		r.reportNeighbour(o)
	}
}

func (r *onekeyRun) reportNeighbour(o *Outcome) {
	t := r.other
	storm := t.storm
	for int64(len(storm)) < min(t.seconds(), maxSeries) {
		storm = append(storm, 0)
	}
	o.Set("neighbour_calls_in_storm", float64(r.neighbours))
	o.Set("neighbour_admitted_in_storm", float64(t.inStorm))
	if len(storm) > 0 {
		o.Set("neighbour_admitted_per_storm_second", float64(t.inStorm)/r.p.StormFor.Seconds())
		o.Set("neighbour_storm_second_least_admitted", float64(minOf(storm)))
		o.Set("neighbour_storm_second_most_admitted", float64(maxOf(storm)))
		o.Series = append(o.Series, Series{Name: "neighbour_admitted_per_storm_second", From: (r.p.StormFrom / Second * Second).Seconds(), Step: 1, Values: floats(storm)})
	}
	o.Set("neighbour_admitted", float64(t.admitted[otherCall]))
	o.setEach("neighbour_admitted_in_storm_second_%d", storm)
}

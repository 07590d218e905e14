package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// guided is a tour that is being given: the dashboard's source, which outlives
// each of its runs, and what changes the acts.
type guided struct {
	tour   *tour
	length time.Duration      // of one act
	tell   func(p *playedAct) // is told of every act that is over, in order
	end    context.CancelFunc // of all of it

	mu    sync.Mutex
	stage *stage // of the present run; nil before the first
	acts  []*playedAct
	over  bool
	last  string // the moral, once it is over; "" when an act was skipped
}

// stage is one run of a tour.
type stage struct {
	guide   *guided
	show    *show
	stand   *stand
	run     *loadRun
	clock   load.Clock
	live    *liveRun
	first   int           // index of its first act among all
	skip    chan struct{} // the next act is wanted now
	ended   chan struct{}
	stopped sync.WaitGroup
	err     error // of the stand
}

// begin is called once the run is set up and before its first call is due.
func (s *stage) begin(ctx context.Context, engine *load.Engine, c *report.Collector, clock load.Clock) *liveRun {
	l := &liveRun{app: s.run.app, engine: engine, collector: c, pace: 1, behaviour: asPlanned}
	l.about = tui.About{Kind: "demo", Name: s.show.name, Promise: s.run.promise, Length: int64(s.run.plan.Duration)}
	l.ctx, l.end = context.WithCancel(ctx)
	s.live, s.clock = l, clock
	s.skip, s.ended = make(chan struct{}, 1), make(chan struct{})
	g := s.guide
	g.mu.Lock()
	s.first = len(g.acts)
	s.enter(0)
	g.stage = s
	g.mu.Unlock()
	s.stopped.Go(s.conduct)
	return l
}

// conduct changes the acts until the run has ended.
func (s *stage) conduct() {
	g := s.guide
	tick := time.NewTicker(mergeEvery)
	defer tick.Stop()
	for {
		skip := false
		select {
		case <-tick.C:
		case <-s.skip:
			skip = true
		case <-s.ended:
			return
		}
		now := s.clock()
		g.mu.Lock()
		var told []*playedAct
		for _, p := range g.acts[s.first:] {
			switch {
			case p.done:
			case p.to > 0 && now >= p.to+actSettles:
				p.finish(now, s.before(p))
				told = append(told, p)
			default:
				p.collector.Merge(max(now-p.from, 0))
			}
		}
		n := len(g.acts) - s.first
		if n < len(s.show.scenes) && (skip || now >= g.acts[len(g.acts)-1].begin+int64(g.length)) {
			s.enter(n)
		}
		g.mu.Unlock()
		for _, p := range told {
			g.tell(p)
		}
	}
}

// enter begins a scene, with the guide locked.
func (s *stage) enter(n int) {
	sc := &s.show.scenes[n]
	if n > 0 {
		// What is sent while things change is no act's.
		last := s.guide.acts[len(s.guide.acts)-1]
		last.to = max(s.clock(), last.from+1)
	}
	if err := s.stand.cut(sc.down); err != nil && s.err == nil {
		s.err = err
	}
	if sc.setting != "" {
		s.stand.use(sc.setting)
		s.live.design(sc.setting)
	}
	if sc.behaviour != "" {
		s.live.behave(sc.behaviour)
	}
	begin, from := int64(0), int64(0)
	if n > 0 {
		begin = s.clock()
		from = begin + min(int64(sc.settles), int64(s.guide.length)/2)
		s.live.Mark(begin, sc.mark)
	}
	c := report.NewCollector(report.Setup{Names: s.run.eventNames(), Promise: s.run.promise, Start: s.run.start.Add(time.Duration(from)), Detail: true})
	s.guide.acts = append(s.guide.acts, &playedAct{scene: sc, number: len(s.guide.acts) + 1, begin: begin, from: from, collector: c, shard: c.Shard()})
}

// see counts an event for its act.
func (s *stage) see(e *report.Event) {
	g := s.guide
	at := e.Sent
	if at == 0 {
		at = e.Due
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, p := range g.acts[s.first:] {
		if at >= p.from && (p.to == 0 || at < p.to) {
			p.take(*e)
			return
		}
	}
}

// close ends the acts with the run.
func (s *stage) close() {
	if s.ended == nil {
		return // it never began
	}
	close(s.ended)
	s.stopped.Wait()
	g := s.guide
	end := min(s.clock(), int64(s.run.plan.Duration))
	var told []*playedAct
	g.mu.Lock()
	for _, p := range g.acts[s.first:] {
		if !p.done {
			p.finish(max(end, p.from+1), s.before(p))
			told = append(told, p)
		}
	}
	g.mu.Unlock()
	for _, p := range told {
		g.tell(p)
	}
}

// before are the figures of the acts before one in its run, with the guide
// locked.
func (s *stage) before(p *playedAct) []figures {
	var out []figures
	for _, q := range s.guide.acts[s.first : p.number-1] {
		out = append(out, q.figures())
	}
	return out
}

// all are the figures of every act.
func (g *guided) all() []figures {
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []figures
	for _, p := range g.acts {
		out = append(out, p.figures())
	}
	return out
}

// whole reports whether every act was played to its end.
func (g *guided) whole() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.acts) == g.tour.acts() && !slices.ContainsFunc(g.acts, func(p *playedAct) bool { return p.to == 0 || p.figures().Totals.Offered == 0 })
}

// ended says what all of it came to.
func (g *guided) ended(moral string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.over, g.last = true, moral
}

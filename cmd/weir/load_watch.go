package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// liveRun is a run of load as the dashboard sees and steers it. A nil *liveRun
// is a run that nobody watches.
type liveRun struct {
	app       *app
	engine    *load.Engine
	collector *report.Collector
	ctx       context.Context
	end       context.CancelFunc
	dash      *tui.Dashboard // nil in a tour, whose dashboard outlives the run

	mu        sync.Mutex
	about     tui.About
	marks     []report.Mark
	steered   bool
	pace      float64
	paused    bool
	behaviour string
	gateways  string       // how they work, where that can be changed
	kept      *watchedKeys // or nil
}

// Buckets implements tui.Keeper.
func (l *liveRun) Buckets() *tui.Buckets {
	if l.kept == nil {
		return nil
	}
	return l.kept.Buckets()
}

// asPlanned is the behaviour that every population has by the plan.
const asPlanned = "as planned"

// show puts the run on the dashboard.
func (r *loadRun) show(ctx context.Context, e *load.Engine, c *report.Collector) *liveRun {
	l := &liveRun{app: r.app, engine: e, collector: c, pace: 1, behaviour: asPlanned, kept: r.kept}
	l.about = tui.About{Kind: "load", Name: r.name, At: strings.Join(r.targetNames(), " "), Promise: r.promise,
		Length: int64(r.plan.Duration), Sending: -1}
	l.ctx, l.end = context.WithCancel(ctx)
	// The dashboard outlives the interrupt that ends the sending.
	l.dash = startDashboard(context.WithoutCancel(ctx), r.app, r.console, pacedOrNot(l, r.plan), tui.Traffic)
	go func() {
		<-l.dash.Done()
		l.end() // it was left, or it broke: the run ends and reports
	}()
	return l
}

// pacedOrNot hides the pace of a plan in which nothing comes at a rate and no
// client pauses: there it would change nothing.
func pacedOrNot(l *liveRun, p *load.Plan) tui.Source {
	for i := range p.Populations {
		pop := &p.Populations[i]
		if think := p.Think(i, pop.First, 0); pop.Open || think > 0 && think < int64(p.Duration) {
			return pacedRun{l}
		}
	}
	return l
}

// context is the run's: it ends with ctx or when the dashboard ends the run.
func (l *liveRun) context(ctx context.Context) context.Context {
	if l == nil {
		return ctx
	}
	return l.ctx
}

// said is what was done by hand, for the result.
func (l *liveRun) said() (marks []report.Mark, notes []string) {
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.steered {
		notes = append(notes, "the run was steered by hand at the marked moments, which no seed repeats")
	}
	return l.marks, notes
}

// over shows the end of the run until the dashboard is left.
func (l *liveRun) over(r *report.Result) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.about.Over, l.about.Result = true, r
	l.mu.Unlock()
	if l.dash == nil {
		return nil
	}
	select {
	case <-l.dash.Done():
	case <-l.app.cut.Done():
	case <-l.ctx.Done():
	}
	return dashboardError(l.dash.Leave())
}

// close gives the terminal back, whatever happened.
func (l *liveRun) close() {
	if l != nil {
		l.end()
		if l.dash != nil {
			_ = l.dash.Leave()
		}
	}
}

// About implements tui.Source.
func (l *liveRun) About() tui.About {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.about
	a.Marks = l.marks
	if !a.Over {
		t := l.collector.Latest().Totals
		a.Sending = max(l.engine.Offered()-t.Offered, 0)
	} else {
		a.Sending = 0
	}
	return a
}

// Snapshot implements tui.Source.
func (l *liveRun) Snapshot() *report.Snapshot { return l.collector.Latest() }

// Mark implements tui.Marker.
func (l *liveRun) Mark(at int64, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.marks) < marksMost {
		l.marks = append(l.marks[:len(l.marks):len(l.marks)], report.Mark{AtS: float64(at/1e6) / 1e3, Text: text})
	}
}

// marksMost bounds the marks of a run.
const marksMost = 1000

// Stop implements tui.Stopper.
func (l *liveRun) Stop() {
	if l.ctx.Err() != nil {
		l.engine.Cut()
		return
	}
	l.end()
}

// Behaviours implements tui.Behaver: one of each kind, and what presets do.
func (l *liveRun) Behaviours() []string {
	list := []string{asPlanned, "retry-after,spread", "retry-after", "retry-after,jitter=0.5", "storm", "fixed:1s",
		"exponential:100ms,10s", "equal-jitter:100ms,10s", "full-jitter:100ms,10s", "decorrelated-jitter:100ms,10s", "give-up"}
	for _, name := range presetNames() {
		if _, err := load.ParseBehaviour(name); err == nil && !known(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// known reports that a list has a behaviour of the name already.
func known(list []string, name string) bool {
	for _, b := range list {
		if kind, _, _ := strings.Cut(b, ":"); kind == name || b == name {
			return true
		}
	}
	return false
}

// Behaviour implements tui.Behaver.
func (l *liveRun) Behaviour() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.behaviour
}

// SetBehaviour implements tui.Behaver.
func (l *liveRun) SetBehaviour(name string) {
	if l.behave(name) {
		l.steer(func(*liveRun) {}, "behaviour "+name)
	}
}

// behave has all clients go by a behaviour, and reports false for one that
// does not exist.
func (l *liveRun) behave(name string) bool {
	var b load.Behaviour
	if name != asPlanned {
		var err error
		if b, err = load.ParseBehaviour(name); err != nil {
			return false
		}
	}
	l.engine.SetBehaviour(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.behaviour = name
	return true
}

// Paused implements tui.Pauser.
func (l *liveRun) Paused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.paused
}

// SetPaused implements tui.Pauser.
func (l *liveRun) SetPaused(on bool) {
	l.engine.SetPaused(on)
	mark := "sending goes on"
	if on {
		mark = "sending paused"
	}
	l.steer(func(l *liveRun) { l.paused = on }, mark)
}

// steer takes down a change that was made by hand.
func (l *liveRun) steer(change func(*liveRun), mark string) {
	l.mu.Lock()
	change(l)
	l.steered = true
	l.mu.Unlock()
	l.Mark(l.collector.Latest().At, mark)
}

// design takes down how the gateways work now, and designed tells.
func (l *liveRun) design(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gateways = name
}

func (l *liveRun) designed() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gateways
}

// pacedRun is a liveRun whose rate means something.
type pacedRun struct{ *liveRun }

// Pace implements tui.Pacer.
func (l pacedRun) Pace() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.pace
}

// SetPace implements tui.Pacer.
func (l pacedRun) SetPace(f float64) {
	l.engine.SetPace(f)
	l.steer(func(l *liveRun) { l.pace = f }, fmt.Sprintf("rate × %g", f))
}

// presetNames are the behaviours of known clients.
func presetNames() []string {
	var names []string
	for _, b := range load.Behaviours() {
		if b.Kind == load.KindPreset {
			names = append(names, b.Name)
		}
	}
	return names
}

package main

import (
	"slices"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// present is the run and the act that are on now; nil before the first.
func (g *guided) present() (*stage, *playedAct) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stage == nil {
		return nil, nil
	}
	return g.stage, g.acts[len(g.acts)-1]
}

// About implements tui.Source.
func (g *guided) About() tui.About {
	s, _ := g.present()
	if s == nil {
		return tui.About{Kind: "demo", Name: g.tour.name}
	}
	a := s.live.About()
	g.mu.Lock()
	defer g.mu.Unlock()
	a.Over = g.over
	return a
}

// Snapshot implements tui.Source: the charts are of the whole run, and the
// verdict and the sums of the act.
func (g *guided) Snapshot() *report.Snapshot {
	s, p := g.present()
	if s == nil {
		return &report.Snapshot{Verdict: report.NotJudged}
	}
	run, act := s.live.collector.Latest(), p.collector.Latest()
	if run.Detail == nil || act.Detail == nil {
		return run
	}
	out, detail := *act, *act.Detail
	out.At = run.At
	out.Herd.AtS += float64(p.from) / 1e9
	out.Herd.AroundFromS += float64(p.from) / 1e9
	detail.Fine, detail.Whole, detail.Returns, detail.Ahead, detail.Waiting = run.Detail.Fine, run.Detail.Whole, run.Detail.Returns, run.Detail.Ahead, run.Detail.Waiting
	detail.Keys = append([]report.KeyLine(nil), detail.Keys...)
	for i := range detail.Keys {
		t := &detail.Keys[i].Told
		for _, at := range []*int64{&t.At, &t.RefusedAt} {
			if *at > 0 {
				*at += p.from
			}
		}
	}
	detail.Findings = append([]report.Found(nil), detail.Findings...)
	for i := range detail.Findings {
		detail.Findings[i].Since += p.from
	}
	out.Detail = &detail
	out.Targets = s.everyTarget(act.Targets)
	return &out
}

// everyTarget adds the gateways that nobody has called to those that somebody
// has: what they could have admitted is part of the story.
func (s *stage) everyTarget(called []report.Row) []report.Row {
	out := make([]report.Row, 0, len(s.run.names))
	for _, name := range s.run.names {
		row := report.Row{Name: name}
		if i := slices.IndexFunc(called, func(r report.Row) bool { return r.Name == name }); i >= 0 {
			row = called[i]
		}
		out = append(out, row)
	}
	return out
}

// Scene implements tui.Guide.
func (g *guided) Scene() tui.Scene {
	s, p := g.present()
	if s == nil {
		return tui.Scene{Acts: g.tour.acts(), Title: "Getting ready"}
	}
	sc := tui.Scene{Act: p.number, Acts: g.tour.acts(), Title: p.scene.title, Look: p.scene.look, View: p.scene.view}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.over {
		sc.Title, sc.Look = "What was measured", "An act was skipped, so there is nothing to sum up."
		if g.last != "" {
			sc.Look = "So: " + g.last
		}
		for _, q := range g.acts {
			sc.Measured = append(sc.Measured, q.said)
		}
		return sc
	}
	if p.number < sc.Acts {
		sc.Next = max(p.begin+int64(g.length)-s.live.collector.Latest().At, 1)
	}
	if p.number > 1 {
		if q := g.acts[p.number-2]; q.done {
			sc.Measured = []string{q.said}
		}
	}
	return sc
}

// NextAct implements tui.Guide.
func (g *guided) NextAct() {
	if s, _ := g.present(); s != nil {
		select {
		case s.skip <- struct{}{}:
		default: // it is on its way
		}
	}
}

// Mark implements tui.Marker.
func (g *guided) Mark(at int64, text string) {
	if s, _ := g.present(); s != nil {
		s.live.Mark(at, text)
	}
}

// Designs implements tui.Designer.
func (g *guided) Designs() []string {
	if s, _ := g.present(); s != nil {
		return s.stand.names()
	}
	return nil
}

// Design implements tui.Designer.
func (g *guided) Design() string {
	if s, _ := g.present(); s != nil {
		return s.live.designed()
	}
	return ""
}

// SetDesign implements tui.Designer.
func (g *guided) SetDesign(name string) {
	s, p := g.present()
	if s == nil || !s.stand.use(name) {
		return
	}
	s.live.steer(func(l *liveRun) { l.gateways = name }, "gateways "+name)
	g.touch(p, "gateways "+name)
}

// Behaviours implements tui.Behaver.
func (g *guided) Behaviours() []string {
	if s, _ := g.present(); s != nil {
		return s.live.Behaviours()
	}
	return []string{asPlanned}
}

// Behaviour implements tui.Behaver.
func (g *guided) Behaviour() string {
	if s, _ := g.present(); s != nil {
		return s.live.Behaviour()
	}
	return asPlanned
}

// SetBehaviour implements tui.Behaver.
func (g *guided) SetBehaviour(name string) {
	if s, p := g.present(); s != nil {
		s.live.SetBehaviour(name)
		g.touch(p, "clients "+name)
	}
}

// pacedTour is one whose rate means something.
type pacedTour struct{ *guided }

// Pace implements tui.Pacer.
func (g pacedTour) Pace() float64 {
	if s, _ := g.present(); s != nil {
		return pacedRun{s.live}.Pace()
	}
	return 1
}

// SetPace implements tui.Pacer.
func (g pacedTour) SetPace(f float64) {
	if s, p := g.present(); s != nil {
		pacedRun{s.live}.SetPace(f)
		g.touch(p, "the rate")
	}
}

// touchedMost bounds what an act remembers of what was changed by hand.
const touchedMost = 4

// touch takes down that an act is no longer what was written.
func (g *guided) touch(p *playedAct, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(p.touched) < touchedMost {
		p.touched = append(p.touched, what)
	}
}

// Stop implements tui.Stopper: a tour that is left is left at once, also one that
// is getting its next run ready.
func (g *guided) Stop() {
	g.end()
	if s, _ := g.present(); s != nil {
		s.live.engine.Cut()
	}
}

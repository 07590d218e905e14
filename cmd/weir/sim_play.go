package main

import (
	"context"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
	"github.com/weir-cli/weir/tui"
)

// film is where a scenario's events go when it is to be played; nil when it is
// not.
func (o *simOptions) film(s *sim.Scenario) (*report.Film, error) {
	d, ok := s.Params.(sim.Documented)
	switch {
	case !o.tui:
		return nil, nil
	case !ok:
		return nil, usagef("weir sim "+s.Name, "--tui: %s decides no single requests, so there is nothing to play", s.Name)
	case !o.console.dashboard(o.app):
		return nil, nil
	}
	doc := d.Document()
	return report.NewFilm(report.Setup{Names: doc.Names, Promise: doc.Promise}), nil
}

// play shows a run that has been simulated.
func (o *simOptions) play(ctx context.Context, s *sim.Scenario, film *report.Film, r *report.Result) error {
	_, frames := film.End(report.Meta{Duration: int64(r.DurationS * 1e9)})
	about := tui.About{Kind: "sim", Name: s.Name, Sending: -1, Length: int64(r.DurationS * 1e9), Result: r}
	if d, ok := s.Params.(sim.Documented); ok {
		about.Promise = d.Document().Promise
	}
	err := startDashboard(ctx, o.app, o.console, tui.NewTape(about, frames, true), tui.Traffic).Wait()
	if err == nil {
		o.console.afterwards(o.app, r, o.out)
	}
	return dashboardError(err)
}

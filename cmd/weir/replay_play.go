package main

import (
	"context"

	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// watch films the replay for --tui; nil when there is nothing to show it on.
func (o *replayOptions) watch() replay.Watch {
	if !o.tui || !o.console.dashboard(o.app) {
		return nil
	}
	return func(s report.Setup) func(*report.Event) {
		o.film = report.NewFilm(s)
		return o.film.Add
	}
}

// play shows what was filmed, from the beginning, until the dashboard is left.
func (o *replayOptions) play(r *report.Result) error {
	if o.film == nil || r.Interrupted {
		return nil
	}
	length := int64(r.DurationS * 1e9)
	_, frames := o.film.End(report.Meta{Duration: length})
	about := tui.About{Kind: "replay", Name: r.Name, Sending: -1, Length: length, Result: r, Missing: map[tui.View]string{
		tui.Latency: "A trace is decided in its own time, in which answers take none."}}
	if r.Bound != nil {
		if _, p, err := parseLimit(r.Bound.Promise); err == nil {
			about.Promise = p
		}
	}
	err := startDashboard(context.Background(), o.app, o.console, tui.NewTape(about, frames, true), tui.Traffic).Wait()
	if err == nil {
		o.console.afterwards(o.app, r, o.out)
	}
	return dashboardError(err)
}

package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/load/httpdo"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// give plays a tour, on the dashboard or in text.
func (o *demoOptions) give(ctx context.Context, t *tour, length time.Duration, seed int64, dashboard bool) error {
	a := o.app
	style := newStyle(o.console.color(a))
	w := &errWriter{w: a.stdout}
	told := func(p *playedAct) { p.tellIn(w, style, a.width()) }
	whole := context.WithoutCancel(ctx)
	ctx, end := context.WithCancel(ctx)
	defer end()
	g := &guided{tour: t, length: length / time.Duration(t.acts()), tell: func(*playedAct) {}, end: end}
	var dash *tui.Dashboard
	if dashboard {
		dash = startDashboard(whole, a, o.console, g.source(), tui.Traffic)
		defer dash.Leave() //nolint:errcheck // what broke was reported by Wait
	} else if o.out.format == "text" {
		g.tell = told
	}
	left := func() bool { return false }
	if dash != nil {
		go func() {
			<-dash.Done()
			end()
		}()
		left = func() bool {
			select {
			case <-dash.Done():
				return true
			default:
				return false
			}
		}
	}
	var result *report.Result
	var err error
	for i := range t.shows {
		if result, err = o.play(ctx, g, &t.shows[i], seed, dash == nil); err != nil || result.Interrupted {
			break
		}
	}
	if err != nil && dash != nil && ctx.Err() != nil {
		result, err = nil, nil // it was left while its next run was being set up
	}
	moral := ""
	if err == nil && g.whole() {
		moral = t.moral(g.all())
	}
	if dash != nil {
		interrupted := (result == nil || result.Interrupted) && !left()
		if err == nil && !interrupted && !left() {
			g.ended(moral)
			select {
			case <-dash.Done():
			case <-ctx.Done():
			}
		}
		if derr := dashboardError(dash.Leave()); derr != nil && err == nil {
			err = derr
		}
		if o.out.format == "text" {
			for _, p := range g.acts {
				told(p)
			}
		}
	}
	if result != nil {
		for _, p := range g.acts {
			result.Acts = append(result.Acts, p.result())
		}
	}
	return o.conclude(w, style, moral, result, left(), err)
}

// conclude ends a tour with what all of it came to, or with the result of its
// run, nil where it had none yet. A tour that was left by a key is no failure.
func (o *demoOptions) conclude(w *errWriter, style style, moral string, r *report.Result, left bool, err error) error {
	switch {
	case err != nil:
		return err
	case r == nil:
	case o.out.format == "json":
		if err = o.out.write(o.app, func(w io.Writer) error { return report.WriteJSON(w, r) }); err == nil && !o.plain {
			o.console.afterwards(o.app, r, o.out)
		}
	case moral != "":
		fmt.Fprintln(w, fold(style.bold("So:")+" "+moral, "", o.app.width()))
		err = stdoutError(w.err)
	}
	if err == nil && (r == nil || r.Interrupted) && !left {
		return errInterrupted
	}
	return err
}

// source is the tour as the dashboard takes it: its rate can be changed where
// something comes at one, or clients pause.
func (g *guided) source() tui.Source {
	for i := range g.tour.shows {
		a := g.tour.shows[i].profile(g.length).Arrivals
		if a.Kind == profiles.Closed && a.Think == 0 {
			return g
		}
	}
	return pacedTour{g}
}

// play sends one show's traffic at its gateways.
func (o *demoOptions) play(ctx context.Context, g *guided, s *show, seed int64, bars bool) (*report.Result, error) {
	spec, err := limit.ParseSpec(s.limit(g.length))
	if err != nil {
		return nil, internalError(err)
	}
	population := s.profile(g.length)
	connections := min(population.Clients*s.gateways, 1000)
	// Both ends of each are in this process.
	if err := enoughHandles(connections, 2*connections+s.gateways+spareHandles); err != nil {
		return nil, err
	}
	st, err := openStand(s.base(spec, seed), s.settings, s.redis)
	if err != nil {
		return nil, err
	}
	defer st.close()
	promise := promiseOf(spec)
	profile := profiles.Profile{Name: s.name, Duration: g.length * time.Duration(len(s.scenes)), Populations: []profiles.Population{population}}
	r := &loadRun{app: o.app, name: s.name, profile: &profile, promise: &promise, spec: spec, seed: seed, threads: 1, repeat: o.repeat,
		limits: load.Limits{MaxWait: time.Minute}, attempts: 10_000_000, dropAfter: time.Second, spread: s.spread}
	if err := r.compile(o.app.now()); err != nil {
		return nil, err
	}
	r.http = httpdo.Config{Method: "GET", KeyHeader: "X-API-Key", Connections: connections, Timeout: 5 * time.Second, Targets: st.urls}
	r.http.Refused.Status, _ = httpdo.ParseStatusSet("429")
	for i := range st.urls {
		r.names = append(r.names, fmt.Sprintf("g%d", i+1))
	}
	if bars && o.console.progress(o.app) {
		r.progress = newProgress(o.app)
	}
	stage := &stage{guide: g, show: s, stand: st, run: r}
	r.stage = stage
	runtime.GC() // what was before is not this run's
	result, err := r.do(ctx)
	if err == nil && stage.err != nil {
		err = reachError(stage.err, "weir demo outage needs its port on 127.0.0.1 back")
	}
	return result, err
}

// tellIn tells an act in text: what it is, and what it came to.
func (p *playedAct) tellIn(w io.Writer, style style, width int) {
	fmt.Fprintf(w, "%s\n%s\n", style.bold(fmt.Sprintf("%d. %s", p.number, p.scene.title)), fold(p.scene.look, "", width))
	f := p.figures()
	t := f.Totals
	line := fmt.Sprintf("offered %s (%s a second), admitted %s (%s), refused %s (%s)", report.Count(t.Offered), f.perSecond(t.Offered),
		report.Count(t.Admitted), f.perSecond(t.Admitted), report.Count(t.Refused), f.perSecond(t.Refused))
	if t.Failed > 0 {
		line += ", failed " + report.Count(t.Failed)
	}
	fmt.Fprintln(w, fold(line, "   ", width))
	if p.scene.view == tui.Clients {
		h := f.Herd
		peak := int((h.AtS-h.AroundFromS)*100 + 0.5) // bins of 10 ms
		if shown := around(h.Around, peak, width-4); len(shown) > 0 {
			fmt.Fprintf(w, "   returns due around the peak, 10 ms a column, %.2f s in all:\n   %s\n", float64(len(shown))/100, sparkline(shown))
		}
	}
	fmt.Fprintf(w, "%s\n\n", fold(p.said, "   ", width))
}

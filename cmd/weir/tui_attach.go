package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

const (
	// attachEvery is how often a server is asked, and the step of what is drawn.
	attachEvery = 500 * time.Millisecond
	// attachTicks bounds what is remembered: an hour.
	attachTicks = 7200
	// attachKeys is how many keys are asked for, and attachMost how long an
	// answer may be.
	attachKeys = 200
	attachMost = 16 << 20
)

// servedRun is a weir serve as the dashboard sees it.
type servedRun struct {
	url    string // of the counts
	client *http.Client
	latest atomic.Pointer[servedView]

	// Of the goroutine that asks.
	last  gateway.Snapshot
	trail report.Trail
}

// noCountsError is the answer of something else than a gateway.
type noCountsError struct {
	status int
	admin  bool // it is the listener for operators of a weir serve
}

func (e *noCountsError) Error() string {
	if e.admin {
		return "this is the --admin listener of a weir serve, which shows no counts"
	}
	return fmt.Sprintf("status %d, so this is no weir serve that shows its counts", e.status)
}

// servedView is what the server said last.
type servedView struct {
	snap  *report.Snapshot
	about tui.About
}

// newServedRun checks the URL and asks once.
func newServedRun(ctx context.Context, text string) (*servedRun, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usagef("weir tui --attach http://127.0.0.1:8080", "--attach is not an http or https URL with a host")
	}
	s := &servedRun{trail: report.Trail{Step: int64(attachEvery)}}
	s.client = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConns: 1},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	shown := *u
	shown.Path, shown.RawQuery, shown.Fragment = "", "", ""
	s.url = shown.JoinPath("/-/counts").String() + fmt.Sprintf("?top=%d", attachKeys)
	shown.User = nil
	first := tui.About{Kind: "serve", At: shown.String(), Sending: -1, Missing: map[tui.View]string{
		tui.Clients:  "A server's own counts do not tell clients apart. weir load --tui sees them.",
		tui.Latency:  "A server's own counts have no times. weir load --tui has them.",
		tui.Bucket:   "A server's own counts do not say what its answers told. weir load --tui shows that.",
		tui.Findings: "Findings need events: weir load --tui, or weir serve's own report at its end.",
	}}
	s.latest.Store(&servedView{&report.Snapshot{}, first})
	if err := s.ask(ctx); err != nil {
		hint := "weir serve --listen 127.0.0.1:8080, on this machine"
		if none := (*noCountsError)(nil); errors.As(err, &none) {
			hint = "--attach takes the URL that weir serve prints first, that of its --listen"
		}
		return nil, reachError(fmt.Errorf("%s: %w", shown.String(), err), hint)
	}
	return s, nil
}

// About implements tui.Source.
func (s *servedRun) About() tui.About { return s.latest.Load().about }

// Snapshot implements tui.Source.
func (s *servedRun) Snapshot() *report.Snapshot { return s.latest.Load().snap }

// follow asks until ctx ends; failed sees each error, nil after an answer.
func (s *servedRun) follow(ctx context.Context, asked func(error)) {
	ticker := time.NewTicker(attachEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			err := s.ask(ctx)
			if err != nil && ctx.Err() == nil {
				v := *s.latest.Load()
				v.about.Trouble = "no answer: " + oneLine(err.Error())
				s.latest.Store(&v)
			}
			asked(err)
		}
	}
}

// ask reads the counts once.
func (s *servedRun) ask(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return err
	}
	res, err := s.client.Do(req)
	if err != nil {
		return s.plainly(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return &noCountsError{res.StatusCode, strings.Contains(res.Header.Get("WWW-Authenticate"), `realm="weir"`)}
	}
	var sn gateway.Snapshot
	if err := json.NewDecoder(io.LimitReader(res.Body, attachMost)).Decode(&sn); err != nil {
		return fmt.Errorf("the counts cannot be read: %w", s.plainly(err))
	}
	if sn.Schema != gateway.CountsSchema {
		return &report.SchemaError{Got: sn.Schema, Want: gateway.CountsSchema}
	}
	s.take(&sn)
	return nil
}

// plainly is an error of a request without its URL, which may have a password.
func (s *servedRun) plainly(err error) error {
	var ue *url.Error
	var ne net.Error
	switch {
	case errors.As(err, &ne) && ne.Timeout():
		return fmt.Errorf("nothing within %v", s.client.Timeout)
	case errors.As(err, &ue):
		return ue.Err
	}
	return err
}

// take turns counts into what the dashboard draws.
func (s *servedRun) take(sn *gateway.Snapshot) {
	about := s.latest.Load().about
	about.Name, about.Trouble = fmt.Sprintf("%d gateways, %s", sn.Gateways, sn.Design), ""
	if sn.Gateways == 1 {
		about.Name = "1 gateway"
	}
	if _, p, err := parseLimit(sn.Limit); err == nil {
		about.Promise = p
	}
	at := instant(sn)
	if was := s.last; sn.ElapsedS < was.ElapsedS || sn.Totals.Offered < was.Totals.Offered {
		s.last, s.trail.From, s.trail.Ticks = gateway.Snapshot{}, 0, nil
	}
	if s.last.Schema == "" && len(s.trail.Ticks) == 0 {
		// What came before we looked has no time of its own.
		s.trail.From = at / s.trail.Step * s.trail.Step
	} else {
		s.count(at, sn)
	}
	s.last = *sn
	s.latest.Store(&servedView{s.view(at, sn, about.Promise), about})
}

// instant is when counts were taken, in nanoseconds of the server's life.
func instant(sn *gateway.Snapshot) int64 { return int64(min(max(sn.ElapsedS, 0), 1e9) * 1e9) }

// count books what was new since the last answer, shared out over the steps in
// which it came: an answer is seldom due exactly at the end of one.
func (s *servedRun) count(at int64, sn *gateway.Snapshot) {
	t := &s.trail
	since := max(instant(&s.last), t.From)
	if at-t.From >= int64(len(t.Ticks)+attachTicks)*t.Step { // nothing was seen for long
		since = at / t.Step * t.Step
		t.From, t.Ticks = since, nil
	}
	at = max(at, since+1)
	ticks := append([]report.Tick(nil), t.Ticks...) // the dashboard has the old ones
	for int64(len(ticks)) <= (at-1-t.From)/t.Step {
		ticks = append(ticks, report.Tick{})
	}
	now, was := sn.Totals, s.last.Totals
	share := func(to func(*report.Tick) *uint32, n int64) {
		n = min(max(n, 0), 1<<31)
		for i, given := (since-t.From)/t.Step, int64(0); i < int64(len(ticks)); i++ {
			part := float64(min(t.From+(i+1)*t.Step, at)-since) / float64(at-since)
			upTo := int64(part*float64(n) + 0.5)
			*to(&ticks[i]) += uint32(upTo - given)
			given = upTo
		}
	}
	share(func(k *report.Tick) *uint32 { return &k.Offered }, now.Offered-was.Offered)
	share(func(k *report.Tick) *uint32 { return &k.Admitted }, now.Admitted-was.Admitted)
	share(func(k *report.Tick) *uint32 { return &k.Refused }, now.Refused-was.Refused)
	if over := len(ticks) - attachTicks; over > 0 {
		ticks = ticks[over:]
		t.From += int64(over) * t.Step
	}
	t.Ticks = ticks
}

// view is one answer as a snapshot. Counts over a whole run can break a promise
// for certain, and never prove that it held.
func (s *servedRun) view(at int64, sn *gateway.Snapshot, p *report.Promise) *report.Snapshot {
	v := &report.Snapshot{At: at, NKeys: sn.Keys, Verdict: report.NotJudged, Detail: &report.Detail{Fine: s.trail, Whole: s.trail},
		Totals: report.Totals{Planned: sn.Totals.Offered, Offered: sn.Totals.Offered, Admitted: sn.Totals.Admitted, Refused: sn.Totals.Refused}}
	for _, g := range sn.PerGateway {
		v.Targets = append(v.Targets, report.Row{Name: fmt.Sprintf("g%d %s", g.Gateway, g.URL), Offered: g.Offered, Admitted: g.Admitted, Refused: g.Refused})
	}
	allows, judged := p.Allows(at)
	second, _ := p.Allows(1e9)
	for _, k := range sn.PerKey {
		l := report.KeyLine{Key: k.Key, Offered: k.Offered, Admitted: k.Admitted, Refused: k.Refused, Most: -1}
		if judged {
			l.Bound, l.Share, l.Excess = second, float64(k.AdmittedUnits)/allows, float64(k.AdmittedUnits)-allows
			if v.Bound == nil || l.Excess > v.Bound.WorstExcess {
				v.Bound = &report.Bound{Promise: p.Text, Key: k.Key, OverS: sn.ElapsedS, Admitted: k.AdmittedUnits, Allows: allows,
					Ratio: l.Share, WorstExcess: l.Excess}
			}
			if l.Excess > 0 {
				v.Verdict = report.Broken
			}
		}
		v.Detail.Keys = append(v.Detail.Keys, l)
	}
	return v
}

// line is the newest answer in one.
func (s *servedRun) line() string {
	snap := s.Snapshot()
	t := snap.Totals
	return fmt.Sprintf("%6.0f s  offered %d  admitted %d  refused %d\n", float64(snap.At)/1e9, t.Offered, t.Admitted, t.Refused)
}

// watchServer shows a server until the dashboard is left, or in lines until an
// interrupt.
func (o *tuiOptions) watchServer(ctx context.Context, view tui.View) error {
	s, err := newServedRun(ctx, o.attach)
	if err != nil {
		return err
	}
	if o.console.dashboard(o.app) {
		ctx, end := context.WithCancel(ctx)
		defer end()
		go s.follow(ctx, func(error) {})
		if err := startDashboard(ctx, o.app, o.console, s, view).Wait(); err != nil {
			return dashboardError(err)
		}
		return o.print(s.line())
	}
	w := &errWriter{w: o.app.stdout}
	ctx, end := context.WithCancel(ctx)
	defer end()
	lines := 0
	s.follow(ctx, func(err error) {
		if lines++; lines%2 == 1 {
			return // a line a second
		}
		io.WriteString(w, s.line())
		if err != nil || w.err != nil {
			end()
		}
	})
	if trouble := s.About().Trouble; trouble != "" {
		return reachError(errors.New(trouble), "weir serve ended, or does not answer in time")
	}
	return stdoutError(w.err)
}

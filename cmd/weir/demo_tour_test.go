package main

import (
	"context"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// An act counts what was sent in it, by its own clock, and judges that alone.
func TestActsAreMeasuredApart(t *testing.T) {
	promise := report.Promise{Text: "10/s,burst=2", Units: 10, Per: 1e9, Burst: 2}
	g := &guided{tour: &tour{}, length: time.Second, tell: func(*playedAct) {}}
	s := &stage{guide: g}
	tell := func(f *figures, _ []figures) string { return f.promise() }
	for _, from := range []int64{0, 5e9} {
		c := report.NewCollector(report.Setup{Promise: &promise, Detail: true})
		g.acts = append(g.acts, &playedAct{scene: &scene{tell: tell}, number: len(g.acts) + 1, begin: from, from: from, collector: c, shard: c.Shard()})
	}
	g.acts[0].to = 4e9
	send := func(at int64) {
		s.see(&report.Event{Due: at - 3e9, Sent: at, First: at + 1e6, Done: at + 2e6, Wait: -1, Attempt: 2, Cost: 1,
			Has: report.HasFirst, Verdict: report.Admitted, Status: 200})
	}
	for i := range int64(30) {
		send(1e9 + i*1e6) // thirty at once: too many
	}
	send(4e9)    // while things changed: no act's
	send(4.9e9)  //
	send(5e9)    // the second act's first instant
	send(5.2e9)  //
	send(5.45e9) //
	for _, p := range g.acts {
		p.finish(6e9, nil)
	}
	first, second := g.acts[0].figures(), g.acts[1].figures()
	if first.Totals.Admitted != 30 || first.Verdict != report.Broken || first.seconds != 4 {
		t.Errorf("the first: %+v %s in %v s", first.Totals, first.Verdict, first.seconds)
	}
	if second.Totals.Admitted != 3 || second.Verdict != report.Held || second.seconds != 1 {
		t.Errorf("the second: %+v %s in %v s", second.Totals, second.Verdict, second.seconds)
	}
	if !strings.Contains(g.acts[0].said, "30 passed where 42 may: the promise is broken") || !strings.Contains(g.acts[1].said, "3 passed where 12 may: the promise held") {
		t.Errorf("said %q and %q", g.acts[0].said, g.acts[1].said)
	}
	send(5.5e9) // too late to count
	if n := g.acts[1].figures().Totals.Admitted; n != 3 {
		t.Errorf("an act that is over has %d", n)
	}
	skipped := &playedAct{scene: &scene{tell: tell}, number: 3, from: 6e9, collector: report.NewCollector(report.Setup{})}
	if skipped.finish(6e9+1, nil); !strings.Contains(skipped.said, "skipped") {
		t.Errorf("an act without calls says %q", skipped.said)
	}
}

// What tours switch to exists, and each act but a run's first has its mark.
func TestToursAreWhole(t *testing.T) {
	for _, tour := range append(tours(), storyTour()) {
		for i := range tour.shows {
			s := &tour.shows[i]
			names := map[string]bool{}
			for _, set := range s.settings {
				names[set.name] = true
			}
			for j, sc := range s.scenes {
				if sc.title == "" || sc.look == "" || sc.tell == nil || (sc.mark == "") != (j == 0) {
					t.Errorf("%s, act %d lacks something: %+v", tour.name, j+1, sc)
				}
				if sc.setting != "" && !names[sc.setting] {
					t.Errorf("%s: there is no %s", tour.name, sc.setting)
				}
				if len(sc.look) > 240 {
					t.Errorf("%s, act %d: a caption of %d bytes leaves no room on 80×24", tour.name, j+1, len(sc.look))
				}
				if sc.view >= tui.Bucket {
					t.Errorf("%s, act %d has no view", tour.name, j+1)
				}
			}
			if s.scenes[0].setting != "" && s.scenes[0].setting != s.settings[0].name {
				t.Errorf("%s: the first setting is not the first act's", tour.name)
			}
		}
	}
}

// A tour in plain text is told within 40 lines of a terminal of 80 columns.
func TestToursAreShort(t *testing.T) {
	promise := report.Promise{Text: "50/s,burst=50", Units: 50, Per: 1e9, Burst: 50}
	for _, tour := range tours() {
		var out strings.Builder
		var all []figures
		number := 0
		for _, s := range tour.shows {
			for i := range s.scenes {
				number++
				c := report.NewCollector(report.Setup{Promise: &promise, Detail: true})
				p := &playedAct{scene: &s.scenes[i], number: number, to: 20e9, collector: c, shard: c.Shard()}
				for n := range int64(1500) {
					p.take(report.Event{Due: 1e9 + n*5e6, Sent: 1e9 + n*5e6, First: 1e9 + n*5e6 + 1e6, Done: 1e9 + n*5e6 + 2e6, Wait: -1, Attempt: 2, Cost: 1,
						Has: report.HasFirst, Verdict: report.Admitted + report.Verdict(n%2), Status: 200})
				}
				p.finish(20e9, all)
				p.tellIn(&out, style{}, 80)
				all = append(all, p.figures())
			}
		}
		out.WriteString(fold("So: "+tour.moral(all), "", 80) + "\n")
		if n := strings.Count(out.String(), "\n"); n >= 40 {
			t.Errorf("%s: %d lines\n%s", tour.name, n, &out)
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", tour.name, n, line)
			}
		}
	}
}

// A tour that is left while it gets ready is left: no run is there to end yet.
func TestStopBeforeTheFirstRun(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	g := &guided{tour: &tour{}, end: end}
	if g.Stop(); ctx.Err() == nil {
		t.Error("the tour goes on")
	}
}

package main

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/weir-cli/weir/report"
)

// progress is a bar on stderr that follows a run. A nil *progress shows
// nothing.
type progress struct {
	app  *app
	bars *mpb.Progress
	bar  *mpb.Bar
	line atomic.Pointer[string] // read by the bar's own goroutine
	last report.Totals
	at   int64
}

// progressName is how much of a run's name fits beside its figures.
const progressName = 16

func newProgress(a *app) *progress { return &progress{app: a} }

func (p *progress) begin(name string, length time.Duration) {
	if p == nil {
		return
	}
	p.line.Store(new(string))
	p.last, p.at = report.Totals{}, 0
	if short := []rune(name); len(short) > progressName {
		name = string(short[:progressName-1]) + "…"
	}
	out := p.app.stderr
	if a, ok := out.(*asciiWriter); ok {
		// The bars look whether it is a terminal, and are ASCII but for the name.
		out, name = a.w, asciiText(name)
	}
	p.bars = mpb.New(mpb.WithOutput(out), mpb.WithWidth(24), mpb.WithRefreshRate(mergeEvery), mpb.WithAutoRefresh())
	p.bar = p.bars.New(int64(length), mpb.BarStyle(),
		mpb.PrependDecorators(decor.Name(name+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return *p.line.Load() })),
		mpb.BarRemoveOnComplete())
}

// show takes the newest snapshot; now is on the run's clock.
func (p *progress) show(s *report.Snapshot, now int64) {
	if p == nil || now <= 0 {
		return
	}
	if passed := float64(now-p.at) / float64(time.Second); passed >= 0.5 {
		t := s.Totals
		line := fmt.Sprintf(" %4.0fs  %6.0f/s sent  %6.0f/s admitted  %6.0f/s refused", float64(now)/1e9,
			float64(t.Offered-p.last.Offered)/passed, float64(t.Admitted-p.last.Admitted)/passed, float64(t.Refused-p.last.Refused)/passed)
		p.last, p.at = t, now
		p.line.Store(&line)
	}
	p.bar.SetCurrent(now)
}

// wholeShare is the length of a bar that follows a share of the work.
const wholeShare = 10_000

// beginShare starts a bar for work that tells how much of it is done.
func (p *progress) beginShare(name string) { p.begin(name, wholeShare) }

// share takes how much is done, from 0 to 1.
func (p *progress) share(done float64) {
	line := fmt.Sprintf(" %3.0f%%", done*100)
	p.line.Store(&line)
	p.bar.SetCurrent(int64(done * wholeShare))
}

// interrupted puts the cursor back to the left edge, from where the bar is
// redrawn: the ^C that the terminal itself shows has moved it.
func (p *progress) interrupted() {
	if p != nil {
		fmt.Fprint(p.app.stderr, "\r")
	}
}

func (p *progress) end() {
	if p == nil {
		return
	}
	p.bar.Abort(true)
	p.bars.Wait()
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/tui"
)

// How gently a Redis is looked at: what is known at a pace, and names that have
// to be guessed, since something is missing or names hold times, more seldom.
const (
	watchEvery   = 500 * time.Millisecond
	watchLeast   = 200 * time.Millisecond
	watchMissing = 5 * time.Second
	watchAll     = 10 * time.Second
	watchTimeout = 5 * time.Second
	watchedMost  = 1000 // keys
)

// watchedKeys are keys in a Redis that are read again and again. Its methods but
// follow and look may be called from any goroutine.
type watchedKeys struct {
	reader *inspect.Reader
	query  inspect.Query
	every  time.Duration
	narrow bool // once something was found, others are looked for in its layout alone
	began  time.Time
	latest atomic.Pointer[watchedLook]

	found   []string // names that were there at the last full look
	missing []string
	fullAt  time.Time
}

// watchedLook is one look, and when it was.
type watchedLook struct {
	tui.Buckets
	at    time.Time
	looks int
	cmds  int
}

func newWatchedKeys(r *inspect.Reader, q inspect.Query, every time.Duration) *watchedKeys {
	w := &watchedKeys{reader: r, query: q, every: every, began: time.Now()}
	w.latest.Store(&watchedLook{Buckets: tui.Buckets{Every: every}, at: w.began})
	return w
}

// look reads once. An error is kept as trouble, and what was read before stays.
func (w *watchedKeys) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, watchTimeout)
	defer cancel()
	now := time.Now()
	since := now.Sub(w.fullAt)
	full := w.fullAt.IsZero() || since >= watchAll || len(w.missing) > 0 && since >= watchMissing
	q := w.query
	if !full {
		q.Keys, q.IDs = w.found, nil
	}
	last := w.latest.Load()
	next := &watchedLook{at: time.Now(), looks: last.looks + 1, cmds: last.cmds}
	sight, err := inspect.Look(ctx, w.reader, q)
	next.cmds += sight.Commands
	if err != nil {
		next.Buckets, next.at = last.Buckets, last.at
		text := inspectError(err).Error()
		next.Trouble = "Redis was not read: " + text
		w.latest.Store(next)
		return err
	}
	if full {
		w.fullAt, w.found, w.missing = now, nil, sight.Missing
		for i := range sight.Readings {
			w.found = append(w.found, sight.Readings[i].Entries[0].Key)
			if w.narrow {
				w.query.Layouts, w.narrow = []*inspect.Layout{sight.Readings[i].Layout}, false
			}
		}
	} else if len(sight.Missing) > 0 {
		w.missing = append(w.missing, sight.Missing...)
		w.found = slices.DeleteFunc(w.found, func(key string) bool { return slices.Contains(sight.Missing, key) })
	}
	next.Buckets = tui.Buckets{Now: sight.Now, Readings: sight.Readings, Missing: w.missing, Every: w.every}
	for i := range sight.Strangers {
		next.Strange = append(next.Strange, sight.Strangers[i].Key)
	}
	next.at = time.Now()
	w.latest.Store(next)
	return nil
}

// follow reads until ctx ends, and calls looked after each look.
func (w *watchedKeys) follow(ctx context.Context, looked func(error)) {
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			looked(w.look(ctx))
		case <-ctx.Done():
			return
		}
	}
}

// Buckets implements tui.Keeper.
func (w *watchedKeys) Buckets() *tui.Buckets {
	l := w.latest.Load()
	b := l.Buckets
	b.Now += int64(time.Since(l.at))
	return &b
}

// Snapshot implements tui.Source: what is kept is no traffic.
func (w *watchedKeys) Snapshot() *report.Snapshot {
	return &report.Snapshot{At: int64(time.Since(w.began)), Verdict: report.NotJudged}
}

// About implements tui.Source.
func (w *watchedKeys) About() tui.About {
	l := w.latest.Load()
	a := tui.About{Kind: "redis", Name: strings.Join(append(slices.Clone(w.query.Keys), w.query.IDs...), " "), Sending: -1, Trouble: l.Trouble,
		Instead: fmt.Sprintf("%s kept   %s, %s commands, all of them reads",
			countOf(len(l.Readings), "state is", "states are"), countOf(l.looks, "look", "looks"), report.Count(int64(l.cmds))), Missing: map[tui.View]string{}}
	for v := tui.Traffic; v < tui.Bucket; v++ {
		a.Missing[v] = "A Redis has what limiters keep, in the view 7, and not what was sent. weir load --tui --redis shows both."
	}
	return a
}

func countOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// watchRedis shows what limiters keep, until the dashboard is left, or in lines
// until an interrupt.
func (o *tuiOptions) watchRedis(ctx context.Context, keys []string) error {
	var w, h int
	if o.screen != "" {
		var err error
		if w, h, err = parseScreen(o.screen); err != nil {
			return err
		}
	}
	if o.every < watchLeast {
		return usagef("--every 500ms", "--every %v is below %v, which is as often as a server should be asked for a picture", o.every, watchLeast)
	}
	if len(keys)+len(o.ids) > watchedMost {
		return usagef("--id k-7", "%d keys are more than the %d that are read again and again", len(keys)+len(o.ids), watchedMost)
	}
	parts, err := parseParts(o.parts, o.rules)
	if err != nil {
		return err
	}
	t, err := o.inspectFlags().open(ctx, o.app)
	if err != nil {
		return err
	}
	defer t.client.Close()
	r := inspect.NewReader(t.client, inspect.ReaderOptions{})
	watched := newWatchedKeys(r, inspect.Query{Keys: keys, IDs: o.ids, Layouts: t.layouts, Only: t.only, Parts: parts, Told: t.told}, o.every)
	if err := watched.look(ctx); err != nil {
		return inspectError(err)
	}
	if o.screen != "" {
		return o.print(tui.Screen(watched, tui.Options{View: tui.Bucket}, w, h))
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	if o.console.dashboard(o.app) {
		go watched.follow(ctx, func(error) {})
		if err := startDashboard(ctx, o.app, o.console, watched, tui.Bucket).Wait(); err != nil {
			return dashboardError(err)
		}
		return toStdout(o.app, func(w io.Writer) error {
			out := &errWriter{w: w}
			watched.lines(out)
			return out.err
		})
	}
	out := &errWriter{w: o.app.stdout}
	watched.lines(out)
	last := time.Now()
	var failed error
	watched.follow(ctx, func(err error) {
		if err != nil && ctx.Err() == nil {
			failed = inspectError(err)
			end()
			return
		}
		if time.Since(last) >= time.Second-o.every/2 {
			last = time.Now()
			watched.lines(out)
		}
		if out.err != nil {
			end()
		}
	})
	if failed != nil {
		return failed
	}
	return stdoutError(out.err)
}

// lines writes a line for each state.
func (w *watchedKeys) lines(out io.Writer) {
	b := w.Buckets()
	at := time.Unix(0, b.Now).UTC().Format("15:04:05.000")
	for i := range b.Readings {
		fmt.Fprintf(out, "%s  %s\n", at, strings.Join(b.Readings[i].Sentences(1)[:1], " "))
	}
	for _, name := range b.Missing {
		fmt.Fprintf(out, "%s  %s is not there\n", at, report.Clean(name))
	}
}

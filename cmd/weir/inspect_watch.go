package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
)

const (
	leastEvery    = 100 * time.Millisecond // so that watching is no load
	watchPatience = 30 * time.Second       // for a Redis that does not answer
)

type watchOptions struct {
	flags  *inspectFlags
	id     string
	names  *nameFlags
	every  time.Duration
	runFor time.Duration
	format string
}

func newInspectWatchCmd(a *app) *cobra.Command {
	o := watchOptions{}
	cmd := &cobra.Command{
		Use:   "watch [KEY]",
		Short: "Follow a customer's state live: what is left, admitted and refilled",
		Long: `Looks at one state again and again, with reads alone, and says after each look
what is left and what happened since the one before: the calls that were let
through where the state shows it, what was refilled, new windows, resets. A KEY
that is not there yet is waited for. Windows that stand in a key's name are
followed from one to the next.

On a terminal this is a view that stays in place, elsewhere a line a look.
Ctrl-C ends it with a summary.

Exit codes: 0 --for is over, or without --for it was ended, 1 nothing or several
states are there, 2 usage, 3 Redis is out of reach, 130 ended before --for was
over.`,
		Example: `  weir inspect watch k-7 --redis redis://localhost:6379
  weir inspect watch rate:user:42 --limit 10/s,burst=20 --every 500ms --redis redis://localhost:6379
  weir inspect watch --id k-7 --rule requests --for 1m --json --redis redis://localhost:6379`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && o.id == "":
				return usagef(usageLine(cmd), "missing KEY, or --id ID")
			case len(args) > 1, len(args) == 1 && o.id != "":
				return usagef(usageLine(cmd), "only one KEY or ID can be watched")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runInspectWatch(cmd.Context(), a, &o, args) },
	}
	fs := cmd.Flags()
	o.flags = newInspectFlags(cmd)
	fs.StringVar(&o.id, "id", "", "look for the key of this customer, by `ID`")
	o.names = newNameFlags(fs)
	fs.DurationVar(&o.every, "every", time.Second, "how long from one look to the next, at least 100ms")
	fs.DurationVar(&o.runFor, "for", 0, "how long to watch; 0 is until Ctrl-C")
	fs.Var(newChoice(&o.format, "text", "json"), "format", "form of the looks; json is a document a line")
	fs.Var(&shorthand{into: &o.format, value: "json", reset: "text"}, "json", "short for --format json")
	j := fs.Lookup("json")
	j.NoOptDefVal = "true"
	j.Annotations = map[string][]string{sameSetting: {"format"}}
	return cmd
}

func runInspectWatch(ctx context.Context, a *app, o *watchOptions, keys []string) error {
	switch {
	case o.every < leastEvery:
		return usagef("--every 100ms", "--every %s is below %s", o.every, leastEvery)
	case o.runFor < 0:
		return usagef("--for 30s", "--for %s is negative", o.runFor)
	case len(keys) == 1 && keys[0] == "":
		return usagef("weir inspect watch k-7", "the KEY is empty")
	}
	parts, err := parseParts(o.names.parts, o.names.rules)
	if err != nil {
		return err
	}
	t, err := o.flags.open(ctx, a)
	if err != nil {
		return err
	}
	defer t.client.Close()
	q := inspect.Query{Keys: keys, Layouts: t.layouts, Only: t.only, Parts: parts, Told: t.told}
	if o.id != "" {
		q.IDs = []string{o.id}
	}
	first, cancel := context.WithTimeout(ctx, inspectPatience)
	f, _, err := inspect.Follow(first, inspect.NewReader(t.client, inspect.ReaderOptions{Clock: a.now}), q)
	cancel()
	if err != nil {
		return followError(err)
	}
	w := &watch{app: a, o: o, f: f, began: a.now()}
	var out watchOutput = &watchLines{w: a.stdout}
	switch {
	case o.format == "json":
		out = &watchJSON{json.NewEncoder(a.stdout)}
	case a.stdoutTTY && a.env("TERM") != "dumb":
		out = &watchView{app: a, every: o.every}
	}
	return w.run(ctx, out)
}

// followError types why there is nothing to follow.
func followError(err error) error {
	var several *inspect.Several
	var none *inspect.NotFound
	switch {
	case errors.As(err, &several):
		return &failure{code: exitCheck, err: err, hint: "name the key of one of them: " + strings.Join(cleaned(several.Keys), ", ")}
	case errors.As(err, &none):
		return &failure{code: exitCheck, err: err, hint: "weir inspect get --id ID says what was looked for; a KEY is waited for"}
	}
	return orderError(err)
}

// look is one look at a state, and what happened since the one before.
type look struct {
	r    *inspect.Reading // nil while nothing has been there
	move inspect.Move
	now  int64 // unix ns, of the server's clock
}

// watchTotals are what a summary has.
type watchTotals struct {
	looks    int
	length   time.Duration
	admitted int64
	known    bool // that anything was told of admissions
	atLeast  bool
	counted  bool
	events   int
}

// watchOutput shows looks, in order, and at the end what came of them.
type watchOutput interface {
	look(l *look, t *watchTotals) error
	end(t *watchTotals) error
}

// watch is a watch under way.
type watch struct {
	app    *app
	o      *watchOptions
	f      *inspect.Follower
	began  time.Time
	totals watchTotals
	last   *inspect.Reading
}

func (w *watch) run(ctx context.Context, out watchOutput) (err error) {
	var over <-chan time.Time
	if w.o.runFor > 0 {
		t := time.NewTimer(w.o.runFor)
		defer t.Stop()
		over = t.C
	}
	tick := time.NewTicker(w.o.every)
	defer tick.Stop()
	defer func() {
		// The view lets go of the terminal whatever happened.
		w.totals.length = w.app.now().Sub(w.began)
		if failed := stdoutError(out.end(&w.totals)); failed != nil && (err == nil || errors.Is(err, errInterrupted)) {
			err = failed
		}
	}()
	answered := w.app.now()
	for {
		err := w.look(ctx, out)
		switch {
		case err == nil:
			answered = w.app.now()
		case ctx.Err() != nil:
		case isOutput(err):
			return err
		case w.app.now().Sub(answered) > watchPatience || !passing(err):
			return inspectError(err)
		default:
			fmt.Fprintf(w.app.stderr, "weir: %s; trying on\n", oneLine(inspectError(err).Error()))
		}
		select {
		case <-ctx.Done():
			if w.o.runFor > 0 {
				return errInterrupted
			}
			return nil
		case <-over:
			return nil
		case <-tick.C:
		}
	}
}

// outputError is an error of showing, as opposed to looking.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

func isOutput(err error) bool {
	var out outputError
	return errors.As(err, &out)
}

// passing reports whether an error may go away by itself.
func passing(err error) bool {
	var denied *inspect.DeniedError
	return !errors.As(err, &denied)
}

func (w *watch) look(ctx context.Context, out watchOutput) error {
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	r, sight, err := w.f.Look(ctx)
	if err != nil {
		return err
	}
	l := look{r: r, now: sight.Now}
	if r != nil {
		l.now = r.Now
		l.move = inspect.Compare(w.last, r)
		w.last = r
	}
	t := &w.totals
	t.looks++
	t.events += len(l.move.Events)
	if m := &l.move; m.Admitted != nil {
		t.known = true
		t.admitted += *m.Admitted
		t.counted = t.counted || m.Counted
	}
	t.atLeast = t.atLeast || l.move.AtLeast || l.move.Admitted == nil && len(l.move.Events) > 0
	t.length = w.app.now().Sub(w.began)
	if err := out.look(&l, t); err != nil {
		return outputError{stdoutOr(err)}
	}
	return nil
}

// stdoutOr is stdoutError that keeps the end of the reader, so that a watch
// ends with it.
func stdoutOr(err error) error {
	if errors.Is(err, errStdoutClosed) {
		return err
	}
	return stdoutError(err)
}

// text is what a summary says.
func (t *watchTotals) text() string {
	s := fmt.Sprintf("%s in %s", plural(t.looks, "look"), t.length.Round(100*time.Millisecond))
	if t.known {
		s += ", " + admittedText(t.admitted, t.atLeast, t.counted)
	}
	if t.events > 0 {
		s += ", " + plural(t.events, "event")
	}
	return s + "."
}

// admittedText is a number of units that were let through.
func admittedText(n int64, atLeast, counted bool) string {
	s := fmt.Sprintf("%d admitted", n)
	if counted {
		s = fmt.Sprintf("%d called", n)
	}
	if atLeast && n > 0 {
		return "at least " + s
	}
	return s
}

// watchLines writes a line a look.
type watchLines struct{ w io.Writer }

func (x *watchLines) look(l *look, _ *watchTotals) error {
	_, err := io.WriteString(x.w, time.Unix(0, l.now).UTC().Format("15:04:05.000")+"  "+strings.Join(l.facts(), "  ")+"\n")
	return err
}

func (x *watchLines) end(t *watchTotals) error {
	_, err := io.WriteString(x.w, t.text()+"\n")
	return err
}

// facts are what a look has to say, in few words each.
func (l *look) facts() []string {
	if l.r == nil {
		return []string{"nothing is there"}
	}
	out := append([]string{l.r.Level()}, l.since()...)
	out = append(out, l.ahead()...)
	for _, e := range l.move.Events {
		out = append(out, "["+report.Clean(e.Text)+"]")
	}
	return out
}

// since is what happened after the look before.
func (l *look) since() []string {
	var out []string
	if n := l.move.Admitted; n != nil {
		out = append(out, admittedText(*n, l.move.AtLeast, l.move.Counted))
	}
	if back := l.move.Refilled; back != nil {
		out = append(out, fmt.Sprintf("%.4g refilled", *back))
	}
	return out
}

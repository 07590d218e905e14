package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

// traceFlags say which trace to read and how.
type traceFlags struct {
	options  replay.Options
	refused  string
	profile  string
	duration time.Duration
	answer   time.Duration
	keyNames string
	seed     *seed
}

// newTraceFlags registers how a trace is read.
func newTraceFlags(fs *pflag.FlagSet) *traceFlags {
	t := &traceFlags{}
	fs.Var(newChoice(&t.options.Format, replay.Formats()...), "trace-format", "form of the trace; auto looks at its first line")
	fs.StringVar(&t.options.KeyField, "key-field", "", "the `NAME` of the field that is the key (default: the usual ones)")
	fs.StringVar(&t.options.TimeField, "time-field", "", "the `NAME` of the field with the time (default: the usual ones)")
	fs.StringVar(&t.options.CostField, "cost-field", "", "the `NAME` of the field with the cost (default: cost)")
	fs.StringVar(&t.options.VerdictField, "verdict-field", "", "the `NAME` of the field that says what became of the call (default: verdict or status)")
	fs.StringVar(&t.refused, "refused", "429", "`STATUSES` that are refusals where the trace has statuses, such as 429,503")
	fs.BoolVar(&t.options.Strict, "strict", false, "stop at the first line that cannot be read")
	return t
}

// newProfileFlags registers how a trace is made.
func (t *traceFlags) newProfileFlags(fs *pflag.FlagSet) {
	fs.StringVar(&t.profile, "profile", "", "make the trace of a `PROFILE` in virtual time instead of reading one (weir profiles list)")
	fs.DurationVar(&t.duration, "duration", 0, "how long a profile runs (default: its own)")
	fs.DurationVar(&t.answer, "answer-time", 100*time.Millisecond, "how long a profile's clients wait for an answer")
	t.seed = newSeed(fs)
}

// newKeyNames registers how keys are shown.
func (t *traceFlags) newKeyNames(fs *pflag.FlagSet) {
	fs.Var(newChoice(&t.keyNames, "auto", "plain", "hash"), "key-names", "how keys are shown; auto hides those of a field that is named like a credential")
}

// hidden reports whether keys are shown as a hash.
func (t *traceFlags) hidden() bool {
	switch t.keyNames {
	case "plain":
		return false
	case "hash":
		return true
	}
	name := strings.ToLower(t.options.KeyField)
	for _, secret := range []string{"auth", "token", "secret", "passw", "cookie", "session", "api_key", "api-key", "apikey"} {
		if strings.Contains(name, secret) {
			return true
		}
	}
	return false
}

// readOptions are the options as the reader wants them.
func (t *traceFlags) readOptions() (replay.Options, error) {
	o := t.options
	o.Hidden, o.HideCredential = t.hidden(), t.keyNames == "auto"
	for s := range strings.SplitSeq(t.refused, ",") {
		n, err := limit.ParseCount(strings.TrimSpace(s))
		if err != nil || n < 100 || n > 599 {
			return o, usagef("--refused 429,503", "--refused %q is not a list of statuses", t.refused)
		}
		o.Refused = append(o.Refused, n)
	}
	return o, nil
}

// trace is an open trace.
type trace struct {
	*replay.Source
	name   string
	hidden bool  // its keys must not be shown
	size   int64 // of the file in bytes; 0 where nobody knows
	pos    func() int64
	done   func()
}

// open starts to read the trace at path, which is stdin for "-", or makes the
// one that --profile names. limitSpec is what its clients run against.
func (t *traceFlags) open(ctx context.Context, a *app, path string, limitSpec *limit.Spec) (*trace, error) {
	if t.profile != "" {
		return t.generate(ctx, a, limitSpec)
	}
	o, err := t.readOptions()
	if err != nil {
		return nil, err
	}
	// An interrupt ends the reading, and what was read is reported.
	ctx, end := context.WithCancel(ctx)
	var in io.Reader
	tr := &trace{name: "stdin", done: end}
	if path == "-" {
		in = newStream(ctx, a.stdin)
	} else {
		f, err := os.Open(path)
		if err != nil {
			end()
			return nil, traceError(path, err)
		}
		if info, err := f.Stat(); err == nil && info.IsDir() {
			end()
			f.Close()
			return nil, usagef("weir replay stats access.log", "%s is a directory, not a trace", path)
		} else if err == nil && info.Mode().IsRegular() {
			tr.size = info.Size()
			in = untilReader{ctx, f}
		} else {
			in = newStream(ctx, f)
		}
		count := &countingReader{r: in}
		in, tr.name, tr.done = count, path, func() { end(); f.Close() }
		tr.pos = func() int64 { return count.n }
	}
	tr.Source, err = replay.Open(in, o)
	if err != nil {
		tr.done()
		return nil, traceError(path, err)
	}
	tr.hidden = tr.Hidden()
	return tr, nil
}

func (t *trace) close() {
	t.Source.Close()
	t.done()
}

// countingReader counts what was read of a file.
type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// generate makes a trace of a profile.
func (t *traceFlags) generate(ctx context.Context, a *app, limitSpec *limit.Spec) (*trace, error) {
	if t.duration < 0 || t.answer <= 0 {
		return nil, usagef("--duration 30s --answer-time 100ms", "--duration must not be below 0 and --answer-time must be above it")
	}
	p, err := profiles.Open(t.profile)
	if err != nil {
		return nil, inputError(err)
	}
	plan, err := load.Compile(p, load.Options{Seed: t.seed.resolve(a), Duration: t.duration, ReadFile: readInput})
	if err != nil {
		return nil, inputError(err)
	}
	g := replay.Generated{Plan: plan, Answer: t.answer}
	if limitSpec == nil {
		return nil, usagef("weir replay --profile "+t.profile+" --limit 10/s,burst=20", "a profile's clients need a --limit that answers them")
	}
	g.Limit = *limitSpec
	return &trace{Source: replay.Generate(ctx, g), name: plan.Name, hidden: t.hidden(), done: func() {}}, nil
}

// traceError types an error about a trace.
func traceError(path string, err error) error {
	var line *replay.LineError
	var field *replay.FieldError
	var saved *report.SavedError
	var file *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return errInterrupted
	case errors.As(err, &file):
		return unopened(err, "correct the path, or let --profile retry-storm make a trace")
	case errors.As(err, &field):
		return usageError(fmt.Errorf("%s: %w", path, err), "it has "+field.Known)
	case errors.As(err, &saved):
		return usageError(fmt.Errorf("%s: %w", path, err), "weir load --events writes such a file")
	case errors.As(err, &line):
		return usageError(fmt.Errorf("%s: %w", path, err), "without --strict such lines are counted and passed over")
	}
	return reachError(fmt.Errorf("%s: %w", path, err), "weir replay stats "+path)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// surveyFlags are those of every verb that looks at all keys.
type surveyFlags struct {
	match    string
	pace     string
	maxKeys  string
	replicas bool
}

// gentlePace is the pace at which other callers of a server hardly notice: see
// docs/inspect.md for what was measured.
const gentlePace = "2500/s"

func newSurveyFlags(cmd *cobra.Command) *surveyFlags {
	f := &surveyFlags{}
	fs := cmd.Flags()
	fs.StringVar(&f.match, "match", "", "only keys whose name fits this `PATTERN` of SCAN, such as 'rate:*'")
	fs.StringVar(&f.pace, "pace", gentlePace, "how many keys are read in a time, as `RATE`; max for as many as the server gives")
	fs.StringVar(&f.maxKeys, "max-keys", "10M", "stop after this `COUNT` of keys, with k and M; 0 for none")
	fs.BoolVar(&f.replicas, "replicas", false, "read a replica of each primary in place of it")
	return f
}

// scanGC lets the heap grow to this many times what is kept, in percent, before
// garbage is collected: some tens of MB.
const scanGC = 400

// options are what the flags ask for, but for what to look at.
func (f *surveyFlags) options(a *app) (survey.Options, error) {
	// A scan makes much garbage and keeps next to nothing.
	debug.SetGCPercent(scanGC)
	o := survey.Options{Match: f.match, Replicas: f.replicas, Clock: a.now}
	if f.pace != "max" {
		r, err := limit.ParseRate(f.pace)
		if err != nil {
			return o, usagef("--pace "+gentlePace, "--pace %s: %w; or max", report.Clean(f.pace), err)
		}
		o.Pace = float64(r.Units) / r.Per.Seconds()
	}
	if f.maxKeys != "0" {
		n, err := limit.ParseCount(f.maxKeys)
		if err != nil {
			return o, usagef("--max-keys 10M", "--max-keys: %w", err)
		}
		o.MaxKeys = int64(n)
	}
	return o, nil
}

// survey makes a survey look at the target.
func (t *inspectTarget) survey(o *survey.Options) {
	o.Layouts, o.Only, o.Told = t.layouts, t.only, t.told
}

type inspectScanOptions struct {
	flags   *inspectFlags
	survey  *surveyFlags
	top     int
	resume  string
	console *console
	out     *output
}

func newInspectScanCmd(a *app) *cobra.Command {
	o := inspectScanOptions{}
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Look at all keys: who is out, hottest, biggest, oldest, and what is wrong",
		Long: `Goes over all keys with SCAN at a set pace, reads them with plain reads and says
who has nothing left, which are the hottest, biggest and oldest, what each
limiter takes of memory, and which keys have no time to live. In a cluster one
primary after the other is looked at. Keys that are one state count as one.

What is left can be told where the state holds its limit, and else with --limit.
The result ends with what the scan cost the server. With --resume FILE a scan
that was stopped, by Ctrl-C or an error, goes on where it was; a finished one
removes the file. It holds names of keys.

Exit codes: 0 done, 2 usage, 3 Redis is out of reach or does not allow a read,
130 interrupted, with the result so far.`,
		Example: `  weir inspect scan --redis redis://localhost:6379
  weir inspect scan --match 'rate:*' --limit 10/s,burst=20 --redis redis://localhost:6379
  weir inspect scan --pace 500/s --resume scan.json --json --redis redis+cluster://localhost:7000`,
		Args: argNames(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runInspectScan(cmd.Context(), a, &o) },
	}
	fs := cmd.Flags()
	o.flags = newInspectFlags(cmd)
	o.survey = newSurveyFlags(cmd)
	fs.IntVar(&o.top, "top", survey.DefaultTop, "how many keys of each kind are listed")
	fs.StringVar(&o.resume, "resume", "", "go on with the scan in this `FILE`, or begin one that can be gone on with")
	o.console = newConsole(fs)
	o.out = newOutput(fs, "text", "json", "csv")
	return cmd
}

func runInspectScan(ctx context.Context, a *app, o *inspectScanOptions) error {
	if o.top < 1 || o.top > survey.MaxTop {
		return usagef("--top 20", "--top %d is not from 1 to %d", o.top, survey.MaxTop)
	}
	if err := o.out.check(); err != nil {
		return err
	}
	from, err := readScanState(o.resume)
	if err != nil {
		return err
	}
	so, err := o.survey.options(a)
	if err != nil {
		return err
	}
	t, err := o.flags.open(ctx, a)
	if err != nil {
		return err
	}
	defer t.client.Close()
	t.survey(&so)
	so.Top, so.From = o.top, from
	keep := &scanKeeper{file: o.resume, now: a.now}
	bar := beginScanBar(a, o.console)
	so.Progress = func(s *survey.Survey, p survey.Progress) {
		bar.scanned(p)
		keep.sometimes(s)
	}
	s, err := survey.Scan(ctx, t.client, so)
	bar.end()
	if errors.Is(err, survey.ErrOtherSurvey) {
		return usagef("the same --match, --layout, --limit, --top and --replicas, or another FILE", "%s: %w", report.Clean(o.resume), err)
	}
	kept := keep.last(s)
	if s == nil || err != nil && s.Tally().All.Keys == 0 {
		return inspectError(err)
	}
	if werr := o.out.write(a, func(w io.Writer) error { return o.write(a, w, s) }); werr != nil {
		return werr
	}
	switch {
	case err != nil:
		return inspectError(err)
	case kept != nil:
		return kept
	case s.Stopped == "interrupted":
		return errInterrupted
	}
	return nil
}

func (o *inspectScanOptions) write(a *app, w io.Writer, s *survey.Survey) error {
	switch o.out.format {
	case "json":
		return writeJSON(w, scanOf(s, a.now()))
	case "csv":
		return writeScanCSV(w, s)
	}
	_, err := io.WriteString(w, scanText(s, a.now(), a.width(), o.resume))
	return err
}

// maxScanState bounds the file that a scan goes on from.
const maxScanState = 64 << 20

// readScanState is the scan in a file, or nil when there is none yet.
func readScanState(file string) (*survey.Survey, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readBounded(file, maxScanState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, checkOutFile(file)
	}
	if err != nil {
		return nil, reachError(fmt.Errorf("resume: %w", err), "--resume with a FILE that can be read and written")
	}
	s, err := survey.Unmarshal(text)
	if err != nil {
		return nil, usagef("another FILE, or remove it", "%s: %w", report.Clean(file), err)
	}
	return s, nil
}

// scanKeeper writes a scan down now and then, so that little is lost.
type scanKeeper struct {
	file string // "" for none
	now  func() time.Time
	at   time.Time
}

// keepEvery is how often.
const keepEvery = 5 * time.Second

// sometimes writes it when it is time.
func (k *scanKeeper) sometimes(s *survey.Survey) {
	if k.file != "" && k.now().Sub(k.at) >= keepEvery {
		_ = k.write(s) // the last time counts, and says what is wrong
		k.at = k.now()
	}
}

func (k *scanKeeper) write(s *survey.Survey) error {
	text, err := survey.Marshal(s)
	if err != nil {
		return err
	}
	err = writeOutFile(k.file, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	_ = os.Chmod(k.file, 0o600) // names of keys are not for everybody; where that cannot be set, so be it
	return nil
}

// last writes a scan that is to be gone on with, and removes the file of one
// that is complete.
func (k *scanKeeper) last(s *survey.Survey) error {
	switch {
	case k.file == "" || s == nil:
		return nil
	case !s.Complete():
		return k.write(s)
	}
	if err := os.Remove(k.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return reachError(fmt.Errorf("resume: %w", err), "remove it: its scan is complete")
	}
	return nil
}

// beginScanBar is a bar on a terminal, and nothing elsewhere.
func beginScanBar(a *app, c *console) *progress {
	if !c.progress(a) {
		return nil
	}
	p := newProgress(a)
	p.beginShare("scan")
	return p
}

// scanned shows how far a scan is.
func (p *progress) scanned(s survey.Progress) {
	if p == nil {
		return
	}
	line := fmt.Sprintf(" %d keys", s.Keys)
	if s.Total > 0 {
		line = fmt.Sprintf(" %d of about %d keys", s.Keys, s.Total)
	}
	p.line.Store(&line)
	p.bar.SetCurrent(min(int64(s.Done*wholeShare), wholeShare-1))
}

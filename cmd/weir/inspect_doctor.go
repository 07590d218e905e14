package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/inspect/doctor"
	"github.com/weir-cli/weir/inspect/survey"
	"github.com/weir-cli/weir/report"
)

type inspectDoctorOptions struct {
	flags   *inspectFlags
	survey  *surveyFlags
	ids     []string
	names   *nameFlags
	console *console
	out     *output
}

func newInspectDoctorCmd(a *app) *cobra.Command {
	o := inspectDoctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor [KEY]...",
		Short: "Find what is wrong with limits in Redis: TTLs, clocks, counts, servers",
		Long: `Looks at keys, at a customer's, or at all that --match, and at the servers, and
says what is wrong: each finding with its evidence, why it matters and how it is
put right (docs/doctor.md). Only plain reads are sent; without a KEY or --id all
keys are gone over as weir inspect scan does, at the same pace.

States of which nothing but the value's shape tells the writer are passed over,
unless they were named, or --layout says whose they are.

Exit codes: 0 nothing grave, 1 a finding of high severity, 2 usage, 3 Redis is
out of reach or does not allow a read, 130 interrupted.`,
		Example: `  weir inspect doctor --match 'rl:*' --redis redis://localhost:6379
  weir inspect doctor --id k-7 --limit 10/s,burst=20 --redis redis://localhost:6379
  weir inspect doctor --format junit --out doctor.xml --redis redis://localhost:6379`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return runInspectDoctor(cmd.Context(), a, &o, args) },
	}
	fs := cmd.Flags()
	o.flags = newInspectFlags(cmd)
	o.survey = newSurveyFlags(cmd)
	fs.StringArrayVar(&o.ids, "id", nil, "look at the keys of this customer, by `ID` (repeatable)")
	o.names = newNameFlags(fs)
	o.console = newConsole(fs)
	o.out = newOutput(fs, "text", "json", "junit")
	return cmd
}

// checkup is what the doctor looked at and found.
type checkup struct {
	at       time.Time
	examiner *doctor.Examiner
	findings []doctor.Finding
	keys     int64
	unknown  int64
	own      int64  // what weir keeps beside limits
	stopped  string // why not all was seen; "" when it was
	missing  []string
	blind    []inspect.Blind
	notes    []string
}

func runInspectDoctor(ctx context.Context, a *app, o *inspectDoctorOptions, keys []string) error {
	named := len(keys)+len(o.ids) > 0
	switch {
	case named && o.survey.match != "":
		return usagef("leave --match out", "KEY or --id says what to look at, and --match says it too")
	case !named && len(o.names.rules)+len(o.names.parts) > 0:
		return usagef("weir inspect doctor --id k-7 --rule requests", "--rule and --part say nothing without a KEY or --id")
	}
	if slices.Contains(append(append([]string{}, keys...), o.ids...), "") {
		return usagef("weir inspect doctor k-7", "a KEY or an ID is empty")
	}
	parts, err := parseParts(o.names.parts, o.names.rules)
	if err != nil {
		return err
	}
	if err := o.out.check(); err != nil {
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
	c := &checkup{at: a.now(), examiner: doctor.NewExaminer(t.layouts, named || t.only != nil)}
	if named {
		err = c.look(ctx, a, &t, inspect.Query{Keys: keys, IDs: o.ids, Layouts: t.layouts, Only: t.only, Parts: parts, Told: t.told})
	} else {
		err = c.scan(ctx, a, o.console, &t, so)
	}
	if err != nil {
		return err
	}
	if err := c.servers(ctx, a, &t); err != nil {
		return err
	}
	c.findings = c.examiner.Findings()
	if err := o.out.write(a, func(w io.Writer) error { return o.write(a, w, c) }); err != nil {
		return err
	}
	switch {
	case c.stopped == "interrupted":
		return errInterrupted
	case doctor.Grave(c.findings):
		return errCheckFailed
	}
	return nil
}

func (o *inspectDoctorOptions) write(a *app, w io.Writer, c *checkup) error {
	switch o.out.format {
	case "json":
		return writeJSON(w, checkupOf(c))
	case "junit":
		return writeDoctorJUnit(w, c)
	}
	_, err := io.WriteString(w, doctorText(c, a.width()))
	return err
}

// look shows the examiner the states that were named.
func (c *checkup) look(ctx context.Context, a *app, t *inspectTarget, q inspect.Query) error {
	ctx, cancel := context.WithTimeout(ctx, inspectPatience)
	defer cancel()
	s, err := inspect.Look(ctx, inspect.NewReader(t.client, inspect.ReaderOptions{Clock: a.now}), q)
	if err != nil {
		return inspectError(err)
	}
	for i := range s.Readings {
		c.examiner.State(&s.Readings[i])
		c.keys += int64(s.Readings[i].Existing())
	}
	for i := range s.Strangers {
		c.examiner.Stranger(&s.Strangers[i])
	}
	c.own = int64(len(s.Own))
	c.keys += int64(len(s.Strangers)) + c.own
	c.unknown, c.missing, c.blind = int64(len(s.Strangers)), s.Missing, s.Blind
	return nil
}

// scan shows it all states.
func (c *checkup) scan(ctx context.Context, a *app, console *console, t *inspectTarget, so survey.Options) error {
	t.survey(&so)
	so.Each = func(s *survey.Sighting) {
		switch {
		case s.Reading != nil:
			c.examiner.State(s.Reading)
		case s.Own != nil:
			c.own++
		case !s.Part:
			c.examiner.Stranger(&s.Key.Entry)
		}
	}
	bar := beginScanBar(a, console)
	so.Progress = func(_ *survey.Survey, p survey.Progress) { bar.scanned(p) }
	s, err := survey.Scan(ctx, t.client, so)
	bar.end()
	if err != nil {
		return inspectError(err)
	}
	tally := s.Tally()
	c.keys, c.unknown, c.stopped, c.blind, c.notes = tally.All.Keys, tally.Unknown.Keys, s.Stopped, s.Blind, s.Notes
	return nil
}

// servers shows it what the servers say of themselves, also when the scan was
// interrupted.
func (c *checkup) servers(ctx context.Context, a *app, t *inspectTarget) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), greeting)
	defer cancel()
	servers, blind, err := doctor.Gather(ctx, t.client, a.now)
	if err != nil {
		return inspectError(err)
	}
	for _, s := range servers {
		c.examiner.Server(s)
	}
	for _, b := range blind {
		known := false
		for _, old := range c.blind {
			known = known || old.Command == b.Command
		}
		if !known {
			c.blind = append(c.blind, b)
		}
	}
	return nil
}

// doctorText is what doctor says to people.
func doctorText(c *checkup, width int) string {
	var b strings.Builder
	para := func(indent, format string, args ...any) {
		b.WriteString(fold(fmt.Sprintf(format, args...), indent, width) + "\n")
	}
	para("", "%s", c.looked())
	for _, f := range c.findings {
		b.WriteByte('\n')
		para("", "%s  %s: %s (%s).", strings.ToUpper(string(f.Severity)), f.ID, f.What, report.Count(f.Count))
		for _, e := range f.Examples {
			para("    ", "%s: %s", report.Clean(e.Subject), e.Text)
		}
		para("  ", "Why it matters: %s", f.Why)
		para("  ", "What to do: %s", f.Fix)
	}
	b.WriteByte('\n')
	if len(c.findings) == 0 {
		para("", "Nothing is wrong, of %d things that were looked for.", len(doctor.Checks()))
	} else {
		para("", "%d of %d checks found something. docs/doctor.md has a part on each.", len(c.findings), len(doctor.Checks()))
	}
	for _, n := range c.notes {
		para("", "%s", n)
	}
	for _, x := range c.blind {
		para("", "Not allowed: %s, so it is not known %s. redis-cli ACL SETUSER NAME %s", x.Command, x.Lost, x.Rule)
	}
	return b.String()
}

// looked says at what.
func (c *checkup) looked() string {
	n := func(count int64, one, many string) string {
		if count == 1 {
			return "1 " + one
		}
		return report.Count(count) + " " + many
	}
	text := fmt.Sprintf("Looked at %s with %s on %s.", n(c.keys, "key", "keys"), n(c.examiner.States(), "limit", "limits"), n(int64(c.examiner.Servers()), "server", "servers"))
	if c.own > 0 {
		text += fmt.Sprintf(" %s no limits but weir's own rules, their history or what was metered.", n(c.own, "key is", "keys are"))
	}
	if c.unknown > 0 {
		text += fmt.Sprintf(" %s no layout fits.", n(c.unknown, "key", "keys"))
	}
	if g := c.examiner.Guesses(); g > 0 {
		text += fmt.Sprintf(" %s only the value's shape speaks for: passed over, unless --layout says whose they are.", n(g, "limit", "limits"))
	}
	switch c.stopped {
	case "interrupted":
		text += " Interrupted, so these are not all."
	case "max-keys":
		text += " Stopped at --max-keys, so these are not all."
	}
	for _, name := range c.missing {
		text += fmt.Sprintf(" There is nothing under %s.", report.Clean(name))
	}
	return text
}

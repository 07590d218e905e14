package replay

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"github.com/weir-cli/weir/report"
)

// The findings about a script.
const (
	FindUndeclared = "script-undeclared-keys"
	FindSlots      = "script-cross-slot"
	FindNoTTL      = "script-no-ttl"
	FindShortTTL   = "script-short-ttl"
	FindClock      = "script-caller-clock"
	FindWork       = "script-work-grows"
	FindDigits     = "script-lost-digits"
	FindHalves     = "script-not-atomic"
	FindWait       = "script-wait-lies"
)

// checkers are the checks in the order in which they are told.
var checkers = []struct {
	id    string
	check func(*lab) outcome
}{
	{FindHalves, checkHalves},
	{FindClock, checkClock},
	{FindUndeclared, checkUndeclared},
	{FindSlots, checkSlots},
	{FindNoTTL, checkNoTTL},
	{FindShortTTL, checkShortTTL},
	{FindWait, checkWait},
	{FindDigits, checkDigits},
	{FindWork, checkWork},
}

// FindingIDs lists the findings about scripts, sorted.
func FindingIDs() []string {
	var ids []string
	for _, c := range checkers {
		ids = append(ids, c.id)
	}
	sort.Strings(ids)
	return ids
}

// outcome is what a check came to: a finding, or in words why it held or could
// not be made.
type outcome struct {
	finding *report.Finding
	held    string
	unmade  string
}

func held(format string, args ...any) outcome   { return outcome{held: fmt.Sprintf(format, args...)} }
func unmade(format string, args ...any) outcome { return outcome{unmade: fmt.Sprintf(format, args...)} }

func found(severity report.Severity, evidence map[string]any, format string, args ...any) outcome {
	return outcome{finding: &report.Finding{Severity: severity, Text: fmt.Sprintf(format, args...), Evidence: evidence}}
}

// check tries the script out and adds what it finds to the result.
func (s *session) check(ctx context.Context, r *report.Result) error {
	if s.Blind {
		r.Notes = append(r.Notes, "the script was not checked: its text is not known, only its digest")
		return nil
	}
	if len(s.sample) == 0 {
		return nil
	}
	l, err := newLab(ctx, s)
	if err != nil {
		r.Notes = append(r.Notes, "the script was not checked, since it does not run on the embedded store: "+report.Clean(err.Error()))
		return nil
	}
	defer l.store.Close()
	if t := l.fresh(s.sample[0].call, 0).try(0); t.err != nil {
		if errors.Is(t.err, context.DeadlineExceeded) {
			return &StuckError{After: labTime, Own: true}
		}
		r.Notes = append(r.Notes, "the script was not checked, since it fails on the embedded store: "+report.Clean(t.err.Error()))
		return nil
	}
	for _, c := range checkers {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o := c.check(l)
		done := report.ReplayCheck{ID: c.id, Result: "held", Detail: report.Clean(o.held)}
		switch {
		case o.finding != nil:
			o.finding.ID = c.id
			r.Findings = append(r.Findings, *o.finding)
			done.Result, done.Detail = "finding", o.finding.Text
		case o.unmade != "":
			done.Result, done.Detail = "not made", report.Clean(o.unmade)
		}
		s.script.Checked = append(s.script.Checked, done)
	}
	rank := map[report.Severity]int{report.High: 0, report.Medium: 1, report.Low: 2}
	sort.SliceStable(r.Findings, func(i, j int) bool { return rank[r.Findings[i].Severity] < rank[r.Findings[j].Severity] })
	return nil
}

// samples are the observations of the run itself.
func (l *lab) samples() []sampled {
	all := l.run.sample
	for i := range all {
		if len(all[i].obs) > 0 {
			return all
		}
	}
	// The run did not look, as on a server's own clock: look here.
	for i := range all {
		if i == 32 {
			break
		}
		u := &subject{l: l, call: all[i].call, prefix: "lab-samples:"}
		all[i].obs = u.try(0).obs
	}
	return all
}

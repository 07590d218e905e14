package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/replay"
	"github.com/weir-cli/weir/report"
)

// readRuleSet reads --rules for a replay.
func readRuleSet(path string) (*rules.Set, error) {
	text, err := readBounded(path, rules.MaxBytes)
	if err != nil {
		return nil, reachError(err, "weir replay access.log --rules rules.yaml")
	}
	if len(text) > rules.MaxBytes {
		return nil, usagef("weir serve rules check rules.yaml", "%s is longer than a rule file may be: %s bytes", report.Clean(path), report.Count(rules.MaxBytes))
	}
	set, err := rules.Parse(text, path)
	if err != nil {
		return nil, usageError(err, "weir serve rules check "+path)
	}
	for _, l := range set.Limits() {
		if l.Spec.Algorithm == limit.Concurrency {
			return nil, usagef("weir replay access.log --limit 10/s,burst=20", "%s has a limit on concurrent calls, %s, and a trace does not say when its calls ended", path, l.Spec)
		}
	}
	return set, nil
}

// ruled runs a rule file over the trace.
func (o *replayOptions) ruled(cmd *cobra.Command, args []string, path string, checks []report.CheckExpr) error {
	for _, other := range []struct{ flag, text string }{{"limit", o.limit}, {"against", o.against}} {
		if other.text != "" {
			return usagef("weir replay "+orTrace(path)+" --rules "+o.rules, "--%s and --rules are two things to decide by; give one", other.flag)
		}
	}
	if o.trace.profile != "" {
		return usagef("weir replay access.log --rules "+o.rules, "a profile's clients need a --limit that answers them; convert it to a trace first")
	}
	set, err := readRuleSet(o.rules)
	if err != nil {
		return err
	}
	o.trace.options.Fields = slices.Clone(replay.RuleFields)
	if o.plan != "" {
		o.trace.options.Fields = append(o.trace.options.Fields, o.plan)
	}
	t, err := o.trace.open(cmd.Context(), o.app, path, nil)
	if err != nil {
		return err
	}
	defer t.close()
	u := replay.Ruled{Set: set, Plan: o.plan != "", Hidden: t.hidden, Watch: o.watch(), Name: t.name, Repeat: o.repeat(cmd, args),
		Keyless: t.Seen().Format == "combined" && o.trace.options.KeyField == ""}
	var p *progress
	if o.console.progress(o.app) {
		p = newProgress(o.app)
		p.beginShare(t.name)
		u.Progress = func(int64) { p.share(t.share()) }
	}
	result, err := u.Run(cmd.Context(), t.Source)
	p.end()
	if result != nil {
		result.Notes = append(result.Notes, fmt.Sprintf("decided by %s, version %d", report.Clean(o.rules), set.Version))
	}
	return o.conclude(path, result, err, checks)
}

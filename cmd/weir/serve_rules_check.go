package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/report"
)

type rulesCheckOptions struct {
	from     string
	rules    *ruleFlags
	gateways int
	out      *output
}

func newRulesCheckCmd(a *app) *cobra.Command {
	o := rulesCheckOptions{}
	cmd := &cobra.Command{
		Use:   "check FILE|redis",
		Short: "Say what is wrong with a set of rules, why it matters and what to write",
		Long: `Reads a file of rules, or with the word redis those that are in Redis, and looks
for what cannot be right: a route that costs more than a bucket can hold, a
security rule that fails open, one bucket where two are meant, an exception
without an end. Errors are what gateways refuse; the exit code is then 1.
Warnings and notes do not change it.`,
		Example: `  weir serve rules check rules.yaml
  weir serve rules check rules.yaml --gateways 20 --json`,
		Args: argNames("FILE"),
	}
	fs := cmd.Flags()
	fs.IntVar(&o.gateways, "gateways", 0, "how many gateways there will be; 0 leaves out what hangs on that")
	o.rules = newRuleFlags(fs)
	o.out = newOutput(fs, "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.from = args[0]
		return runRulesCheck(cmd.Context(), a, o)
	}
	return cmd
}

// rulesChecked is what `rules check --json` prints; the names are a contract.
type rulesChecked struct {
	Source    string          `json:"source"`
	OK        bool            `json:"ok"` // no errors
	Version   int64           `json:"version,omitempty"`
	Rules     int             `json:"rules"`
	Limits    int             `json:"limits"` // those of overrides included
	Overrides int             `json:"overrides"`
	Problems  []rules.Problem `json:"problems"`
}

func runRulesCheck(ctx context.Context, a *app, o rulesCheckOptions) error {
	if o.gateways < 0 {
		return usagef("weir serve rules check "+shellWord(o.from)+" --gateways 20", "--gateways %d is negative", o.gateways)
	}
	from, done, err := o.rules.source(ctx, a, o.from, "weir serve rules check redis")
	if err != nil {
		return err
	}
	defer done()
	against := rules.Against{Now: a.now().UnixNano(), Gateways: o.gateways, Exact: exactInRedis}
	s, problems, err := gateway.ReadRules(ctx, from, against)
	var refused *gateway.RefusedRulesError
	if err != nil && !errors.As(err, &refused) {
		return ruleError(err)
	}
	c := rulesChecked{Source: from.String(), OK: err == nil, Problems: problems}
	if c.Problems == nil {
		c.Problems = []rules.Problem{}
	}
	if s != nil {
		c.Version, c.Rules, c.Limits, c.Overrides = s.Version, len(s.Rules), len(s.Limits()), len(s.Overrides)
	}
	if err := o.out.write(a, func(w io.Writer) error {
		if o.out.format == "json" {
			return writeJSON(w, c)
		}
		_, err := io.WriteString(w, c.String())
		return err
	}); err != nil {
		return err
	}
	if !c.OK {
		return errCheckFailed
	}
	return nil
}

// source is the key for "redis", the file of that name otherwise.
func (f *ruleFlags) source(ctx context.Context, a *app, name, example string) (gateway.RuleSource, func(), error) {
	if name != inRedis {
		return &gateway.RuleFile{Path: name}, func() {}, nil
	}
	k, done, err := f.open(ctx, a, example)
	if err != nil {
		return nil, nil, err
	}
	return k, done, nil
}

func (c rulesChecked) String() string {
	var b strings.Builder
	for _, p := range c.Problems {
		writeProblemText(&b, c.Source, p)
	}
	errors, warnings := rules.Faults(c.Problems), 0
	for _, p := range c.Problems {
		if p.Severity == rules.Warning {
			warnings++
		}
	}
	verdict := "good"
	if !c.OK {
		verdict = "refused"
	}
	fmt.Fprintf(&b, "%s: %s", report.Clean(c.Source), verdict)
	if c.Version > 0 {
		fmt.Fprintf(&b, ", version %d: %s, %s, %s", c.Version, plural(c.Rules, "rule"), plural(c.Limits, "limit"), plural(c.Overrides, "override"))
	}
	if len(c.Problems) > 0 {
		fmt.Fprintf(&b, "; %s, %s, %s", plural(errors, "error"), plural(warnings, "warning"), plural(len(c.Problems)-errors-warnings, "note"))
	}
	b.WriteByte('\n')
	return b.String()
}

// writeProblemText is one problem on a line, with its why and its fix below.
func writeProblemText(b *strings.Builder, source string, p rules.Problem) {
	b.WriteString(report.Clean(source))
	if p.Line > 0 {
		fmt.Fprintf(b, ":%d", p.Line)
	}
	fmt.Fprintf(b, ": %v: ", p.Severity)
	if p.Rule != "" {
		fmt.Fprintf(b, "rule %s: ", p.Rule)
	}
	fmt.Fprintf(b, "%s [%s]\n", printable(p.What), p.ID)
	if p.Why != "" {
		fmt.Fprintf(b, "    why: %s\n", printable(p.Why))
	}
	if p.Fix != "" {
		fmt.Fprintf(b, "    fix: %s\n", printable(p.Fix))
	}
}

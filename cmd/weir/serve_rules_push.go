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
)

type rulesPushOptions struct {
	file        string
	rules       *ruleFlags
	gateways    int
	reason, who string
	dryRun, yes bool
	out         *output
}

func newRulesPushCmd(a *app) *cobra.Command {
	o := rulesPushOptions{}
	cmd := &cobra.Command{
		Use:   "push FILE",
		Short: "Put a file of rules into Redis, where all gateways follow them",
		Long: `Checks the file as "weir serve rules check" does, shows what it changes, and puts
it in place of the rules that are in Redis, whose version must be below its
own. Nothing is written without --yes and a reason, and nothing if somebody
else has changed the rules since they were read.

Gateways that follow the key hear of it at once. The last 100 changes are
remembered: weir serve rules history.`,
		Example: `  weir serve rules push rules.yaml --redis redis://127.0.0.1:6379 --dry-run
  weir serve rules push rules.yaml --redis redis://127.0.0.1:6379 --reason "more for gold" --yes`,
		Args: argNames("FILE"),
	}
	fs := cmd.Flags()
	o.rules = newRuleFlags(fs)
	fs.IntVar(&o.gateways, "gateways", 0, "check for this many gateways; 0 leaves out what hangs on that")
	fs.StringVar(&o.reason, "reason", "", "why, for the history")
	fs.StringVar(&o.who, "who", "", "who changes them, for the history (default: you, on this machine)")
	fs.BoolVar(&o.dryRun, "dry-run", false, "check and show what would change, and write nothing")
	fs.BoolVar(&o.yes, "yes", false, "do write")
	o.out = newOutput(fs, "text", "json")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "yes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.file = args[0]
		return runRulesPush(cmd.Context(), a, o)
	}
	return cmd
}

// rulesPushed is what `rules push --json` prints; the names are a contract.
type rulesPushed struct {
	Source      string          `json:"source"`
	Key         string          `json:"key"`
	FromVersion int64           `json:"from_version"` // 0 when there were none
	ToVersion   int64           `json:"to_version"`
	Written     bool            `json:"written"`
	Changes     []rules.Change  `json:"changes"`
	Problems    []rules.Problem `json:"problems"` // warnings and notes
}

func runRulesPush(ctx context.Context, a *app, o rulesPushOptions) error {
	again := "weir serve rules push " + shellWord(o.file)
	o.reason = strings.TrimSpace(o.reason)
	switch {
	case o.yes && o.reason == "":
		return usagef(again+` --yes --reason "what it is for"`, "--reason is missing: whoever reads the history will ask why")
	case len(o.reason) > rules.MaxReason || len(o.who) > 100:
		return usagef(again, "--reason may have %d bytes, and --who 100", rules.MaxReason)
	case o.gateways < 0:
		return usagef(again+" --gateways 20", "--gateways %d is negative", o.gateways)
	}
	if o.who == "" {
		o.who = signedBy(a)
	}
	now := a.now()
	file := &gateway.RuleFile{Path: o.file}
	next, problems, err := gateway.ReadRules(ctx, file, rules.Against{Now: now.UnixNano(), Gateways: o.gateways, Exact: exactInRedis})
	if err != nil {
		return ruleError(err)
	}
	key, done, err := o.rules.open(ctx, a, again)
	if err != nil {
		return err
	}
	defer done()
	before, old, err := pushedBefore(ctx, key)
	if err != nil {
		return err
	}
	if next.Version <= old.Version {
		return usagef(fmt.Sprintf("write version: %d in %s", old.Version+1, shellWord(o.file)),
			"%s has version %d, and version %d is in Redis: versions only go up", o.file, next.Version, old.Version)
	}
	p := rulesPushed{o.file, key.Key, old.Version, next.Version, false, rules.Diff(old, next, now.UnixNano()), problems}
	if p.Problems == nil {
		p.Problems = []rules.Problem{}
	}
	// People see what changes before it does, whatever comes of it.
	if o.out.format == "text" && o.out.toStdout() {
		if err := toStdout(a, func(w io.Writer) error { _, err := io.WriteString(w, p.before()); return err }); err != nil {
			return err
		}
	}
	if o.yes {
		if err := key.Save(ctx, before, gateway.RuleChange{Set: next, Who: o.who, Reason: o.reason, At: now}); err != nil {
			return ruleError(err)
		}
		p.Written = true
	}
	err = o.out.write(a, func(w io.Writer) error {
		switch {
		case o.out.format == "json":
			return writeJSON(w, p)
		case !o.out.toStdout():
			_, err := io.WriteString(w, p.before()+p.after())
			return err
		}
		_, err := io.WriteString(w, p.after())
		return err
	})
	switch {
	case err != nil:
		return err
	case !o.yes && !o.dryRun:
		return usagef(again+` --yes --reason "what it is for"`, "nothing is written without --yes")
	}
	return nil
}

// pushedBefore reads what a push replaces; a set without rules when there is
// nothing. A text that is no set has no version to be above of.
func pushedBefore(ctx context.Context, k *gateway.RuleKey) (text []byte, s *rules.Set, err error) {
	text, err = k.Load(ctx)
	if errors.Is(err, gateway.ErrNoRules) {
		return nil, &rules.Set{}, nil
	}
	if err != nil {
		return nil, nil, ruleError(err)
	}
	if s, err = rules.Parse(text, k.String()); err != nil {
		err = &gateway.RefusedRulesError{Source: k.String(), Problems: rules.Problems(err)}
		return nil, nil, usageError(err, "redis-cli DEL "+shellWord(k.Key)+", if nobody needs what is there")
	}
	return text, s, nil
}

func (p rulesPushed) before() string {
	var b strings.Builder
	for _, one := range p.Problems {
		writeProblemText(&b, p.Source, one)
	}
	b.WriteString(changesText(p.Changes))
	return b.String()
}

func (p rulesPushed) after() string {
	if !p.Written {
		return "nothing was written\n"
	}
	return fmt.Sprintf("version %d is in Redis under %s\n", p.ToVersion, p.Key)
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway/rules"
)

type rulesDiffOptions struct {
	a, b  string
	rules *ruleFlags
	out   *output
}

func newRulesDiffCmd(a *app) *cobra.Command {
	o := rulesDiffOptions{}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Say what changes from one set of rules to another, and for the buckets",
		Long: `Reads two sets of rules, each a file or, with the word redis, those that are in
Redis, and says what B changes: in words and factors, and what it means for the
buckets that are there. Keys are shown as short hashes.`,
		Example: `  weir serve rules diff old.yaml rules.yaml
  weir serve rules diff redis rules.yaml --redis redis://127.0.0.1:6379`,
		Args: argNames("A", "B"),
	}
	o.rules = newRuleFlags(cmd.Flags())
	o.out = newOutput(cmd.Flags(), "text", "json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.a, o.b = args[0], args[1]
		return runRulesDiff(cmd.Context(), a, o)
	}
	return cmd
}

// rulesDiffed is what `rules diff --json` prints; the names are a contract.
type rulesDiffed struct {
	From        string         `json:"from"`
	To          string         `json:"to"`
	FromVersion int64          `json:"from_version"`
	ToVersion   int64          `json:"to_version"`
	Changes     []rules.Change `json:"changes"`
}

func runRulesDiff(ctx context.Context, a *app, o rulesDiffOptions) error {
	read := func(name string) (*rules.Set, string, error) {
		from, done, err := o.rules.source(ctx, a, name, "weir serve rules diff "+shellWord(o.a)+" "+shellWord(o.b))
		if err != nil {
			return nil, "", err
		}
		defer done()
		s, err := readRuleText(ctx, from)
		return s, from.String(), err
	}
	was, from, err := read(o.a)
	if err != nil {
		return err
	}
	now, to, err := read(o.b)
	if err != nil {
		return err
	}
	d := rulesDiffed{from, to, was.Version, now.Version, rules.Diff(was, now, a.now().UnixNano())}
	if d.Changes == nil {
		d.Changes = []rules.Change{}
	}
	return o.out.write(a, func(w io.Writer) error {
		if o.out.format == "json" {
			return writeJSON(w, d)
		}
		_, err := io.WriteString(w, changesText(d.Changes))
		return err
	})
}

// maxChangeLines is how many changes of overrides are listed for people.
const maxChangeLines = 40

// changesText lists changes, and what those of one kind mean for buckets once.
func changesText(changes []rules.Change) string {
	if len(changes) == 0 {
		return "no difference\n"
	}
	var b strings.Builder
	granted, hidden := 0, 0
	for i, c := range changes {
		if strings.HasPrefix(c.Kind, "override") {
			if granted++; granted > maxChangeLines {
				hidden++
				continue
			}
		}
		fmt.Fprintln(&b, printable(c.String()))
		last := i+1 == len(changes) || changes[i+1].Buckets != c.Buckets || granted == maxChangeLines
		if c.Buckets != "" && last {
			fmt.Fprintf(&b, "    buckets: %s\n", c.Buckets)
		}
	}
	if hidden > 0 {
		fmt.Fprintf(&b, "and %s of overrides more; --json has them all\n", plural(hidden, "change"))
	}
	return b.String()
}

// printable is a text that cannot move a terminal's cursor, at any length.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '·'
	}, s)
}

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/gateway"
)

type rulesHistoryOptions struct {
	rules *ruleFlags
	out   *output
}

func newRulesHistoryCmd(a *app) *cobra.Command {
	o := rulesHistoryOptions{}
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List who changed the rules in Redis, when and why",
		Long: `Lists the last 100 changes of the rules in Redis, the newest first. A change that
somebody wrote without weir is not among them.`,
		Example: `  weir serve rules history --redis redis://127.0.0.1:6379
  weir serve rules history --redis redis://127.0.0.1:6379 --json`,
		Args: argNames(),
	}
	o.rules = newRuleFlags(cmd.Flags())
	o.out = newOutput(cmd.Flags(), "text", "json")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runRulesHistory(cmd.Context(), a, o) }
	return cmd
}

// rulesHistory is what `rules history --json` prints; the names are a contract.
type rulesHistory struct {
	Key     string           `json:"key"`
	Changes []gateway.Pushed `json:"changes"` // the newest first
}

func runRulesHistory(ctx context.Context, a *app, o rulesHistoryOptions) error {
	key, done, err := o.rules.open(ctx, a, "weir serve rules history")
	if err != nil {
		return err
	}
	defer done()
	h := rulesHistory{Key: key.Key}
	if h.Changes, err = key.History(ctx); err != nil {
		return ruleError(err)
	}
	return o.out.write(a, func(w io.Writer) error {
		if o.out.format == "json" {
			return writeJSON(w, h)
		}
		if len(h.Changes) == 0 {
			_, err := fmt.Fprintf(w, "no change of %s is remembered\n", h.Key)
			return err
		}
		for _, c := range h.Changes {
			sum := c.SHA256
			if len(sum) > 12 {
				sum = sum[:12]
			}
			if _, err := fmt.Fprintf(w, "version %d  %s  %s  %s  sha256 %s\n", c.Version, c.At.UTC().Format(time.DateTime), printable(c.Who), printable(c.Reason), printable(sum)); err != nil {
				return err
			}
		}
		return nil
	})
}

package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/inspect"
)

type inspectGetOptions struct {
	flags *inspectFlags
	ids   []string
	names *nameFlags
	cost  int64
	out   *output
}

func newInspectGetCmd(a *app) *cobra.Command {
	o := inspectGetOptions{}
	cmd := &cobra.Command{
		Use:   "get [KEY]...",
		Short: "Say what a key, or a customer, has left and when the next call passes",
		Long: `Reads keys and says what they mean, in sentences for a ticket and a table. A
KEY that is not there is taken for a customer's id and looked for under the
names that the layouts give it, as --id does from the start; nothing is scanned.
Names that need more than the id take it from --rule and --part.

Where the state does not hold the limit itself, --limit says it: only then can
be told what is left. Times are those of the server's clock.

Exit codes: 0 something was found, 1 nothing was, 2 usage, 3 Redis is out of
reach or does not allow a read.`,
		Example: `  weir inspect get k-7 --redis redis://localhost:6379
  weir inspect get rate:user:42 --limit 10/s,burst=20 --cost 5 --redis redis://localhost:6379
  weir inspect get --id k-7 --rule requests --json --redis redis://localhost:6379`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args)+len(o.ids) == 0 {
				return usagef(usageLine(cmd), "missing KEY, or --id ID")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runInspectGet(cmd.Context(), a, &o, args) },
	}
	fs := cmd.Flags()
	o.flags = newInspectFlags(cmd)
	fs.StringArrayVar(&o.ids, "id", nil, "look for the keys of this customer, by `ID` (repeatable)")
	o.names = newNameFlags(fs)
	fs.Int64Var(&o.cost, "cost", 1, "what the next call costs")
	o.out = newOutput(fs, "text", "json")
	return cmd
}

func runInspectGet(ctx context.Context, a *app, o *inspectGetOptions, keys []string) error {
	if o.cost < 1 {
		return usagef("--cost 1", "--cost %d is not above zero", o.cost)
	}
	if slices.Contains(append(append([]string{}, keys...), o.ids...), "") {
		return usagef("weir inspect get k-7", "a KEY or an ID is empty")
	}
	q := inspect.Query{Keys: keys, IDs: o.ids}
	return o.flags.look(ctx, a, o.names, o.out, q, func(_ context.Context, _ *inspectTarget, _ *inspect.Reader, sight *inspect.Sight) error {
		err := o.out.write(a, func(w io.Writer) error {
			if o.out.format == "json" {
				return writeJSON(w, sightOf(sight, o.cost))
			}
			_, err := io.WriteString(w, sightText(sight, o.cost, a.width()))
			return err
		})
		if err == nil && len(sight.Readings)+len(sight.Strangers)+len(sight.Own) == 0 {
			return errCheckFailed
		}
		return err
	})
}

package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/sim"
)

func newSimListCmd(a *app) *cobra.Command {
	var out *output
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the scenarios of the library",
		Long:  `Lists the scenarios of the library with a line about each.`,
		Example: `  weir sim list
  weir sim list --json`,
		Args: argNames(),
		RunE: func(*cobra.Command, []string) error {
			return out.write(a, func(w io.Writer) error {
				list := sim.List()
				if out.format == "json" {
					return writeJSON(w, list)
				}
				wide := 0
				for _, s := range list {
					wide = max(wide, len(s.Name))
				}
				for _, s := range list {
					if _, err := fmt.Fprintf(w, "%-*s  %s\n", wide, s.Name, s.About); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
	out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/profiles"
)

type profilesListOptions struct {
	out *output
}

func newProfilesListCmd(a *app) *cobra.Command {
	opts := profilesListOptions{}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the built-in profiles",
		Long:  `Lists the built-in profiles with a line about each.`,
		Example: `  weir profiles list
  weir profiles list --json`,
		Args: argNames(),
		RunE: func(*cobra.Command, []string) error { return runProfilesList(a, opts) },
	}
	opts.out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

// profileLine is one profile in the JSON list; the names are a contract.
type profileLine struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// builtinNames are the profiles' names for completion, each with its line.
func builtinNames() []string {
	var names []string
	for _, p := range profiles.Builtins() {
		names = append(names, p.Name+"\t"+p.About)
	}
	return names
}

func runProfilesList(a *app, opts profilesListOptions) error {
	var lines []profileLine
	wide := 0
	for _, p := range profiles.Builtins() {
		lines = append(lines, profileLine{p.Name, p.About})
		wide = max(wide, len(p.Name))
	}
	return opts.out.write(a, func(w io.Writer) error {
		if opts.out.format == "json" {
			return json.NewEncoder(w).Encode(lines)
		}
		for _, l := range lines {
			if _, err := fmt.Fprintf(w, "%-*s  %s\n", wide, l.Name, l.About); err != nil {
				return err
			}
		}
		return nil
	})
}

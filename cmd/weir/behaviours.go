package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/load"
)

func newBehavioursCmd(a *app) *cobra.Command {
	var out *output
	cmd := &cobra.Command{
		Use:     "behaviours",
		Aliases: []string{"behaviors"},
		Short:   "List what clients can do after a refusal",
		Long: `Lists what --behaviour and a profile's behaviour: can say, as it is typed with
its defaults: behaviours of weir's own, wrappers that are put around one with a
plus sign, and presets, which imitate a known client library.`,
		Example: `  weir behaviours
  weir behaviours --json`,
		Args: argNames(),
		RunE: func(*cobra.Command, []string) error { return runBehaviours(a, out) },
	}
	out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

// behaviourLine is one behaviour in the JSON list; the names are a contract.
type behaviourLine struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`
	Syntax string `json:"syntax"`
	About  string `json:"about"`
}

// behaviourKinds are the headings of the list.
var behaviourKinds = []struct{ kind, title string }{
	{load.KindBase, "behaviours"},
	{load.KindWrapper, "wrappers, such as full-jitter+budget:0.1"},
	{load.KindPreset, "presets"},
}

func runBehaviours(a *app, out *output) error {
	all := load.Behaviours()
	return out.write(a, func(w io.Writer) error {
		if out.format == "json" {
			lines := make([]behaviourLine, len(all))
			for i, b := range all {
				lines[i] = behaviourLine{b.Name, b.Kind, b.Syntax, b.About}
			}
			return json.NewEncoder(w).Encode(lines)
		}
		for i, k := range behaviourKinds {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintln(w, k.title)
			for _, b := range all {
				if b.Kind == k.kind {
					fmt.Fprintf(w, "  %s\n%s\n", b.Syntax, fold(b.About, "      ", a.width()))
				}
			}
		}
		return nil
	})
}

// complete offers names for a flag that takes one out of a list or a file.
func complete(cmd *cobra.Command, flag string, list func() []string, files cobra.ShellCompDirective) {
	// The only error is a second registration of the same flag.
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list(), files
	})
}

// behaviourNames are the names for completion, each with its line.
func behaviourNames() []string {
	var names []string
	for _, b := range load.Behaviours() {
		if b.Kind != load.KindWrapper {
			names = append(names, b.Name+"\t"+b.About)
		}
	}
	return names
}

package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/profiles"
)

type profilesShowOptions struct {
	name string
	out  *output
}

func newProfilesShowCmd(a *app) *cobra.Command {
	opts := profilesShowOptions{}
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a built-in profile as YAML",
		Long: `Prints the YAML of a built-in profile, comments included, as a start for one of
your own. A profile in a file is printed in full, with every default spelled out.`,
		Example: `  weir profiles show retry-storm
  weir profiles show window-edge --out mine.yaml`,
		Args:              argNames("NAME"),
		ValidArgsFunction: completeProfiles,
		RunE: func(_ *cobra.Command, args []string) error {
			opts.name = args[0]
			return runProfilesShow(a, opts)
		},
	}
	opts.out = newOutput(cmd.Flags(), "yaml")
	return cmd
}

func runProfilesShow(a *app, opts profilesShowOptions) error {
	text := profiles.Source(opts.name)
	if text == nil {
		p, err := profiles.Open(opts.name)
		if err != nil {
			return inputError(err)
		}
		text = p.Marshal()
	}
	return opts.out.write(a, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// completeProfiles offers the built-in names; files are the shell's to offer.
func completeProfiles(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, p := range profiles.Builtins() {
		names = append(names, p.Name+"\t"+p.About)
	}
	return names, cobra.ShellCompDirectiveDefault
}

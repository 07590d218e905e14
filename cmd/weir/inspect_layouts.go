package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/inspect"
)

func newInspectLayoutsCmd(a *app) *cobra.Command {
	var files []string
	var out *output
	cmd := &cobra.Command{
		Use:   "layouts [NAME]",
		Short: "List whose state can be read, or show one description",
		Long: `Lists the writers whose state can be read, with the names of their keys: what
is in <angle brackets> differs, <id> is the customer. With a name, prints that
layout's description, which is also how a file for --layouts is begun.

"run" says that a description was compared with what the real writer left,
"source" that it was read in the writer's source.`,
		Example: `  weir inspect layouts
  weir inspect layouts redis-rate
  weir inspect layouts --json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return layoutNames(), cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return argNames("NAME")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			list, err := readLayouts(files)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				one, err := inspect.Named(list, args[0])
				if err != nil {
					return layoutError(err)
				}
				list = []*inspect.Layout{one}
			}
			return out.write(a, func(w io.Writer) error {
				if out.format == "json" {
					return writeJSON(w, layoutLines(list))
				}
				text := layoutTable(list, a.width())
				if len(args) == 1 {
					text = list[0].Text
				}
				_, err := io.WriteString(w, text)
				return err
			})
		},
	}
	newLayoutFiles(cmd.Flags(), &files)
	out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

// layoutLine is one layout in the JSON list; the names are a contract.
type layoutLine struct {
	Name     string       `json:"name"`
	Writer   string       `json:"writer"`
	Language string       `json:"language"`
	Checked  string       `json:"checked"`
	About    string       `json:"about"`
	Sure     inspect.Sure `json:"sure"`
	Keys     []string     `json:"keys"`
	Types    []string     `json:"types"`
	Needs    string       `json:"needs"`
	Example  string       `json:"example"`
	Unseen   string       `json:"unseen,omitempty"`
	Pitfalls []string     `json:"pitfalls"`
	File     string       `json:"file,omitempty"`
}

func layoutLines(list []*inspect.Layout) []layoutLine {
	lines := []layoutLine{}
	for _, l := range list {
		line := layoutLine{l.Name, l.Writer, l.Language, l.Checked, l.About, l.Sure, nil, nil, l.Needs, l.Example, l.Unseen, l.Pitfalls, l.File}
		if line.Pitfalls == nil {
			line.Pitfalls = []string{}
		}
		for _, k := range l.Keys {
			line.Keys, line.Types = append(line.Keys, k.Name.String()), append(line.Types, k.Type)
		}
		lines = append(lines, line)
	}
	return lines
}

// layoutTable is the list for people.
func layoutTable(list []*inspect.Layout, width int) string {
	var b strings.Builder
	for i, l := range list {
		if i > 0 {
			b.WriteByte('\n')
		}
		from := l.Checked
		if l.File != "" {
			from += ", " + l.File
		}
		fmt.Fprintf(&b, "%s  (%s)\n%s\n", l.Name, from, fold(l.Writer+": "+l.About, "    ", width))
		for _, k := range l.Keys {
			fmt.Fprintf(&b, "    %-7s%s\n", k.Type, k.Name)
		}
	}
	b.WriteString("\nweir inspect layouts NAME shows one whole. --layouts FILE reads more.\n")
	return b.String()
}

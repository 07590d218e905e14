package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-cli/weir/sim"
)

func newSimListCmd(a *app) *cobra.Command {
	var out *output
	cmd := &cobra.Command{
		Use:   "list [GROUP]",
		Short: "List the scenarios of the library",
		Long: `Lists the scenarios of the library, or those of one group, with a line about
each.`,
		Example: `  weir sim list
  weir sim list storms
  weir sim list --json`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return scenarioGroups(), cobra.ShellCompDirectiveNoFileComp
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return argNames("GROUP")(cmd, args)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			list, one := sim.List(), ""
			if len(args) == 1 {
				one = strings.TrimSuffix(args[0], "/")
				if !slices.Contains(scenarioGroups(), one) {
					return usagef("weir sim list "+scenarioGroups()[0], "no group of scenarios is called %q; there are %s",
						args[0], strings.Join(scenarioGroups(), ", "))
				}
				list = slices.DeleteFunc(list, func(s sim.Info) bool { return groupOf(s.Name) != one })
			}
			return out.write(a, func(w io.Writer) error {
				if out.format == "json" {
					return writeJSON(w, list)
				}
				_, err := io.WriteString(w, scenarioList(list, a.width()))
				return err
			})
		},
	}
	out = newOutput(cmd.Flags(), "text", "json")
	return cmd
}

// scenarioGroup is a heading of the list.
type scenarioGroup struct{ name, about string }

// groupHeadings are the groups in the order of the list.
var groupHeadings = []scenarioGroup{
	{"freshbox", "One key of 10 a second, its storm, and 20 gateways"},
	{"leases", "Gateways that do not ask the store about every request"},
	{"fleet", "Many keys, gateways and shards at full size"},
	{"regions", "One limit that Regions divide among themselves"},
	{"storms", "What retries, herds and attacks do to a service and to a limiter"},
}

// groupOf is the part of a scenario's name before the slash.
func groupOf(name string) string {
	group, _, _ := strings.Cut(name, "/")
	return group
}

func scenarioGroups() []string {
	var names []string
	for _, g := range groupHeadings {
		names = append(names, g.name)
	}
	return names
}

// scenarioList is the list under its headings, folded at the width.
func scenarioList(list []sim.Info, width int) string {
	var b strings.Builder
	wide := 0
	for _, s := range list {
		wide = max(wide, len(s.Name)+2)
	}
	for _, g := range groupHeadings {
		var rows [][]string
		for _, s := range list {
			if groupOf(s.Name) == g.name {
				rows = append(rows, []string{fmt.Sprintf("%-*s", wide, "  "+s.Name), s.About})
			}
		}
		if len(rows) == 0 {
			continue
		}
		// A design comes before its variants, which begin with its name.
		slices.SortFunc(rows, func(a, b []string) int {
			return strings.Compare(strings.TrimSpace(a[0]), strings.TrimSpace(b[0]))
		})
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		writeColumns(&b, [][]string{{g.name + ":", g.about}}, width)
		writeColumns(&b, rows, width)
	}
	b.WriteString("\nweir sim show NAME explains one, weir sim NAME runs it.\n")
	return b.String()
}

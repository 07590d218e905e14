package main

import (
	"bytes"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// heading is what some of a verb's flags have in common. They are
// listed in this order; flags that stand under none end the last.
type heading struct {
	title string
	flags []string
}

// underHeadings has a verb's help list its flags by heading: so many that one
// list would be no help.
func underHeadings(a *app, cmd *cobra.Command, headings ...heading) {
	plain := new(cobra.Command).UsageFunc()
	cmd.SetUsageFunc(func(c *cobra.Command) error {
		if c != cmd { // a verb below asks its parent
			return plain(c)
		}
		out := c.OutOrStderr()
		var text bytes.Buffer
		c.SetOut(&text)
		err := plain(c)
		c.SetOut(out)
		if err != nil {
			return err
		}
		flags := c.LocalFlags()
		one := "Flags:\n" + strings.TrimRight(flags.FlagUsages(), "\n")
		_, err = out.Write([]byte(strings.Replace(text.String(), one, headed(flags, headings, a.helpWidth()), 1)))
		return err
	})
}

// headed lists flags by heading, each list aligned by itself.
func headed(flags *pflag.FlagSet, headings []heading, width int) string {
	sets := make([]pflag.FlagSet, len(headings))
	for i, h := range headings {
		sets[i].SortFlags = false
		for _, name := range h.flags {
			sets[i].AddFlag(flags.Lookup(name))
		}
	}
	last := &sets[len(sets)-1]
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(headings, func(h heading) bool { return slices.Contains(h.flags, f.Name) }) {
			last.AddFlag(f)
		}
	})
	var b strings.Builder
	for i, h := range headings {
		b.WriteString(h.title + ":\n" + sets[i].FlagUsagesWrapped(width) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// helpWidth is how wide help may be: a terminal's, and any width for a program
// that looks for a line.
func (a *app) helpWidth() int {
	if a.stdoutTTY {
		return a.width()
	}
	return 0
}

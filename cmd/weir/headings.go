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

// headingsOf are the verbs with so many flags that one list would be no help.
var headingsOf = map[string][]heading{
	"weir load":   loadHeadings,
	"weir replay": replayHeadings,
	"weir serve":  serveHeadings,
}

// usageFunc is cobra's, with flags under headings and folded at the terminal's
// width.
func usageFunc(a *app) func(*cobra.Command) error {
	plain := new(cobra.Command).UsageFunc()
	return func(c *cobra.Command) error {
		out := c.OutOrStderr()
		var text bytes.Buffer
		c.SetOut(&text)
		err := plain(c)
		c.SetOut(out)
		if err != nil {
			return err
		}
		usage := text.String()
		width := a.helpWidth()
		for _, list := range []struct {
			title string
			flags *pflag.FlagSet
			under []heading
		}{
			{"Global Flags", c.InheritedFlags(), nil},
			{"Flags", c.LocalFlags(), headingsOf[c.CommandPath()]},
		} {
			under := list.under
			if under == nil {
				under = []heading{{title: list.title}}
			}
			one := "\n" + list.title + ":\n" + strings.TrimRight(list.flags.FlagUsages(), " \n")
			usage = strings.Replace(usage, one, "\n"+headed(list.flags, under, width), 1)
		}
		_, err = out.Write([]byte(usage))
		return err
	}
}

// headed lists flags by heading, each list aligned by itself.
func headed(flags *pflag.FlagSet, headings []heading, width int) string {
	sets := make([]pflag.FlagSet, len(headings))
	for i, h := range headings {
		sets[i].SortFlags = false
		for _, name := range h.flags {
			sets[i].AddFlag(shown(flags.Lookup(name)))
		}
	}
	last := &sets[len(sets)-1]
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.ContainsFunc(headings, func(h heading) bool { return slices.Contains(h.flags, f.Name) }) {
			last.AddFlag(shown(f))
		}
	})
	var b strings.Builder
	for i, h := range headings {
		b.WriteString(h.title + ":\n" + listed(&sets[i], width) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// flagColumn is where what a flag means begins at the latest; a longer flag has
// a line of its own.
const flagColumn = 30

// listed is one list of flags, folded at width; at 0 each is one line.
func listed(flags *pflag.FlagSet, width int) string {
	if width == 0 {
		return flags.FlagUsages()
	}
	var rows [][2]string
	column := 0
	flags.VisitAll(func(f *pflag.Flag) {
		var one pflag.FlagSet
		one.AddFlag(f)
		line := strings.TrimRight(one.FlagUsages(), "\n")
		name := strings.TrimLeft(line, " ")
		lead := line[:len(line)-len(name)]
		name, about, _ := strings.Cut(name, "   ")
		rows = append(rows, [2]string{lead + name, strings.TrimSpace(about)})
		if n := columns(lead + name); n+2 <= flagColumn {
			column = max(column, n+2)
		}
	})
	if column == 0 {
		column = flagColumn
	}
	var b strings.Builder
	indent := strings.Repeat(" ", column)
	for _, r := range rows {
		about := fold(r[1], indent, width)
		switch n := columns(r[0]); {
		case r[1] == "":
			b.WriteString(r[0] + "\n")
		case n+2 > column:
			b.WriteString(r[0] + "\n" + about + "\n")
		default:
			b.WriteString(r[0] + about[n:] + "\n")
		}
	}
	return b.String()
}

// placeholders are what stands for a flag's value where its usage names none.
var placeholders = map[string]string{"duration": "DURATION", "int": "NUMBER", "int64": "NUMBER", "string": "TEXT"}

// named is a flag's value with a placeholder for its type.
type named struct {
	pflag.Value
	placeholder string
}

func (n named) Type() string { return n.placeholder }

// shown is a flag as help lists it.
func shown(f *pflag.Flag) *pflag.Flag {
	word, ok := placeholders[f.Value.Type()]
	if !ok || strings.Contains(f.Usage, "`") {
		return f
	}
	s := *f
	s.Value = named{f.Value, word}
	if s.DefValue == "0s" {
		s.DefValue = ""
	}
	return &s
}

// helpWidth is how wide help may be: a terminal's, and any width for a program
// that looks for a line.
func (a *app) helpWidth() int {
	if a.stdoutTTY {
		return a.width()
	}
	return 0
}

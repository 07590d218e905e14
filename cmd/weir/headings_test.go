package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Each flag of a verb with headings stands under one of them, once, and the
// help says so.
func TestHelpHasHeadings(t *testing.T) {
	for path, headings := range headingsOf {
		t.Run(path, func(t *testing.T) {
			help, root := helpOf(t, 0, strings.Fields(path)[1:]...)
			var all []string
			for _, h := range headings {
				if !strings.Contains(help, "\n"+h.title+":\n") {
					t.Errorf("the help has no heading %q", h.title)
				}
				all = append(all, h.flags...)
			}
			cmd, _, err := root.Find(strings.Fields(path)[1:])
			if err != nil {
				t.Fatal(err)
			}
			flags := 0
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				flags++
				if !slices.Contains(all, f.Name) {
					t.Errorf("--%s is under no heading", f.Name)
				}
				if n := strings.Count(help, " --"+f.Name+" ") - strings.Count(cmd.Long, " --"+f.Name+" ") - strings.Count(cmd.Example, " --"+f.Name+" "); n < 1 {
					t.Errorf("the help does not list --%s", f.Name)
				}
			})
			if slices.Sort(all); len(slices.Compact(all)) != flags {
				t.Errorf("%d names under headings, %d flags", len(all), flags)
			}
			if strings.Contains(help, "\nFlags:") {
				t.Error("the plain list is there as well")
			}
		})
	}
	if help, _ := helpOf(t, 0, "serve", "rules", "check"); !strings.Contains(help, "\nFlags:\n") || strings.Contains(help, "\nRedis:\n") {
		t.Errorf("a verb below:\n%s", help)
	}
}

// On a terminal no flag's line is wider than it, values have placeholders in
// capitals, and no word of what is said is lost. For a program each flag is one line.
func TestHelpFitsTheTerminal(t *testing.T) {
	for _, verb := range []string{"load", "replay", "serve", "tui", "demo", "inspect get"} {
		args := strings.Fields(verb)
		wide, root := helpOf(t, 0, args...)
		cmd, _, err := root.Find(args)
		if err != nil {
			t.Fatal(err)
		}
		narrow, _ := helpOf(t, 80, args...)
		_, lists, _ := strings.Cut(narrow, cmd.Example)
		for _, line := range strings.Split(lists, "\n") {
			if columns(line) > 80 && strings.Contains(strings.TrimSpace(line), " ") && !strings.HasPrefix(strings.TrimSpace(line), "-") {
				t.Errorf("weir %s: %d columns: %s", verb, columns(line), line)
			}
		}
		if a, b := strings.Fields(wide), strings.Fields(narrow); !slices.Equal(a, b) {
			t.Errorf("weir %s: the narrow help has other words", verb)
		}
		for _, word := range []string{" duration ", " int ", " string "} {
			if strings.Contains(lists, word+" ") {
				t.Errorf("weir %s: a value is called%s", verb, word)
			}
		}
	}
}

// helpOf is a verb's help on a terminal so wide, or at 0 in a pipe.
func helpOf(t *testing.T, width int, args ...string) (string, *cobra.Command) {
	t.Helper()
	var out bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, stdoutTTY: width > 0}
	if width > 0 {
		a.width = func() int { return width }
	}
	root := newRoot(a, verbs(a)...)
	root.SetArgs(append(args, "--help"))
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	return out.String(), root
}

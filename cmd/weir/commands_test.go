package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-cli/weir/sim"
)

// everyCommand calls fn for each command of a fresh tree, by its path.
func everyCommand(t *testing.T, fn func(t *testing.T, cmd *cobra.Command)) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		t.Run(cmd.CommandPath(), func(t *testing.T) { fn(t, cmd) })
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(freshRoot())
}

func freshRoot() *cobra.Command {
	a, _, _ := testApp()
	return newRoot(a, verbs(a)...)
}

func TestEveryCommandExplainsItself(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Long == "" {
			t.Error("no Short or no Long")
		}
		if strings.HasSuffix(cmd.Short, ".") {
			t.Errorf("Short %q ends in a full stop", cmd.Short)
		}
		if n := len(examples(cmd)); n < 2 {
			t.Errorf("%d examples, want at least 2", n)
		}
		if cmd.Args == nil {
			t.Error("no Args: stray arguments would pass unnoticed")
		}
		if cmd.RunE == nil {
			t.Error("no RunE: errors need a way out")
		}
		if cmd.PersistentPreRunE != nil && cmd.HasParent() {
			t.Error("PersistentPreRunE hides the root's, which binds settings")
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("--%s has no description", f.Name)
			}
			if c := childOf(cmd, f.Name); c != nil {
				t.Errorf("--%s has the name of a verb at its level, so a config file cannot tell them apart", f.Name)
			}
		})
	})
}

// Every example must get as far as the verb's own run: its verb, flags, flag
// values and arguments are all accepted.
func TestEveryExampleParses(t *testing.T) {
	everyCommand(t, func(t *testing.T, cmd *cobra.Command) {
		for _, line := range examples(cmd) {
			if err := parseExample(line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	})
}

// The same holds for the command lines of the pages, which are those that
// stand in code blocks.
func TestEveryDocumentedCommandParses(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(string(text), "\n```") {
			if i%2 == 0 {
				continue // between the code blocks
			}
			for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
				line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
				line = strings.TrimPrefix(line, "ExecStart=/usr/local/bin/") // of a systemd unit
				if !strings.HasPrefix(line, "weir ") {
					continue
				}
				n++
				if err := parseExample(line); err != nil {
					t.Errorf("%s: %s: %v", page, line, err)
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("found only %d command lines", n)
	}
}

func TestWrongExamplesAreSeen(t *testing.T) {
	for _, line := range []string{
		"weir vresion", "weir version --jsn", "weir version --format=xml", "weir version extra",
		"curl localhost", "weir completion 'bash", "FOO=1 weir version --what | jq .",
	} {
		if parseExample(line) == nil {
			t.Errorf("%q passed", line)
		}
	}
	for _, line := range []string{"weir version", "WEIR_FORMAT=json weir version -o x | jq '.go'", "weir completion fish > a; true"} {
		if err := parseExample(line); err != nil {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// examples returns the command lines of a command's Example, with lines that
// end in a backslash joined and comments left out.
func examples(cmd *cobra.Command) []string {
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(cmd.Example, "\\\n", " ")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines
}

func parseExample(line string) error {
	words, err := shellWords(line)
	if err != nil {
		return err
	}
	for len(words) > 0 && strings.Contains(words[0], "=") {
		words = words[1:] // variables set for the command
	}
	if len(words) == 0 || words[0] != "weir" {
		return fmt.Errorf("not a weir command line")
	}
	root := freshRoot()
	root.SetOut(io.Discard)
	ran := false
	var stub func(cmd *cobra.Command)
	stub = func(cmd *cobra.Command) {
		cmd.RunE = func(*cobra.Command, []string) error { ran = true; return nil }
		for _, sub := range cmd.Commands() {
			stub(sub)
		}
	}
	stub(root)
	root.SetArgs(words[1:])
	if err := root.Execute(); err != nil {
		return err
	}
	if !ran {
		return fmt.Errorf("does not reach a verb")
	}
	return nil
}

// shellWords splits a line as a shell does, as far as examples go: quotes
// count, and the words end at the first unquoted | ; & > or <.
func shellWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case strings.ContainsRune("|;&<>", r):
			end()
			return words, nil
		case r == ' ' || r == '\t':
			end()
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("quote %c is not closed", quote)
	}
	end()
	return words, nil
}

// No scenario is left out of the list for want of a heading.
func TestScenarioListIsWhole(t *testing.T) {
	text := scenarioList(sim.List(), 80)
	for _, s := range sim.List() {
		if !strings.Contains(text, "  "+s.Name+" ") {
			t.Errorf("the list lacks %s", s.Name)
		}
	}
}

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// sample is a verb with a flag of every shape.
type sample struct {
	out    *output
	rate   string
	n      int
	checks *[]string
}

func newSample() (*cobra.Command, *sample) {
	s := &sample{}
	cmd := &cobra.Command{Use: "go", RunE: func(*cobra.Command, []string) error { return nil }}
	s.out = newOutput(cmd.Flags(), "text", "json", "csv")
	s.checks = newChecks(cmd.Flags())
	cmd.Flags().StringVar(&s.rate, "max-rate", "1/s", "")
	cmd.Flags().IntVar(&s.n, "n", 7, "")
	return cmd, s
}

func TestSettingsPrecedence(t *testing.T) {
	const file = "go:\n  max-rate: 3/s\n  format: csv\n  n: 30\n  check: [a<1, 'b>2, really']\n"
	tests := []struct {
		name   string
		args   string
		env    []string
		file   string
		rate   string
		format string
		n      int
		checks []string
	}{
		{name: "defaults", rate: "1/s", format: "text", n: 7},
		{name: "file over defaults", file: file, rate: "3/s", format: "csv", n: 30, checks: []string{"a<1", "b>2, really"}},
		{name: "environment over file", file: file, env: []string{"WEIR_MAX_RATE=2/s", "WEIR_FORMAT=json"}, rate: "2/s", format: "json", n: 30, checks: []string{"a<1", "b>2, really"}},
		{name: "flags over both", file: file, env: []string{"WEIR_MAX_RATE=2/s"}, args: "--max-rate=4/s --n=0 --check=c=3", rate: "4/s", format: "csv", n: 0, checks: []string{"c=3"}},
		{name: "a shorthand on the command line outranks the file's format", file: file, args: "--json", rate: "3/s", format: "json", n: 30, checks: []string{"a<1", "b>2, really"}},
		{name: "and the environment's", env: []string{"WEIR_FORMAT=csv"}, args: "--json", rate: "1/s", format: "json", n: 7},
		{name: "a format outranks the environment's shorthand", env: []string{"WEIR_JSON=true"}, args: "--format=csv", rate: "1/s", format: "csv", n: 7},
		{name: "an empty variable is not set", env: []string{"WEIR_N="}, rate: "1/s", format: "text", n: 7},
		{name: "another verb's settings do not leak", file: "version:\n  format: json\n", rate: "1/s", format: "text", n: 7},
		{name: "an empty file", file: "# nothing yet\n", rate: "1/s", format: "text", n: 7},
		{name: "the last of two on the command line wins", args: "--json --format=text", rate: "1/s", format: "text", n: 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.file != "" {
				writeConfig(t, filepath.Join(dir, "weir", "config.yaml"), tt.file)
			}
			a, _, stderr := testApp(append(tt.env, "XDG_CONFIG_HOME="+dir)...)
			cmd, s := newSample()
			root := newRoot(a, cmd, newVersionCmd(a))
			if code := a.execute(t.Context(), root, append([]string{"go"}, strings.Fields(tt.args)...)); code != 0 {
				t.Fatalf("exit %d: %s", code, stderr)
			}
			if s.rate != tt.rate || s.out.format != tt.format || s.n != tt.n {
				t.Errorf("rate %s, format %s, n %d; want %s, %s, %d", s.rate, s.out.format, s.n, tt.rate, tt.format, tt.n)
			}
			if !slices.Equal(*s.checks, tt.checks) {
				t.Errorf("checks %q, want %q", *s.checks, tt.checks)
			}
		})
	}
}

func TestSettingsErrors(t *testing.T) {
	tests := []struct {
		name string
		env  []string
		file string
		want string // in stderr, with FILE for the path
	}{
		{"bad variable", []string{"WEIR_N=many"}, "", `weir: WEIR_N="many": `},
		{"variable outside a list", []string{"WEIR_FORMAT=xml"}, "", `WEIR_FORMAT="xml": not one of text, json, csv`},
		{"unknown flag", nil, "go:\n  n: 1\n  max-rte: 2/s\n", `FILE:3: "max-rte" is neither a verb nor a flag of "weir go"; did you mean "max-rate"?`},
		{"unknown verb", nil, "go:\n  n: 1\nversoin:\n  format: json\n", `FILE:3: "versoin" is neither a verb nor a flag of "weir"; did you mean "version"?`},
		{"a mistake about another verb", nil, "version:\n  n: 1\n", `FILE:2: "n" is neither a verb nor a flag of "weir version"`},
		{"a verb is not a value", nil, "go: fast\n", `FILE:1: expected flags of "weir go", found String`},
		{"bad value", nil, "go:\n  n: many\n", `FILE:2: n: "many": `},
		{"no value", nil, "go:\n  n:\n", `FILE:2: n: no value`},
		{"a list where one value goes", nil, "go:\n  n: [1, 2]\n", `FILE:2: n takes one value, found 2`},
		{"a map where a value goes", nil, "go:\n  n: {a: 1}\n", `FILE:2: n: expected a value or a list of values`},
		{"twice", nil, "go:\n  n: 1\n  n: 2\n", `FILE:3: `},
		{"not YAML", nil, "go: [\n", `FILE:1: `},
		{"help is not a setting", nil, "go:\n  help: true\n", `FILE:2: "help" is neither`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "c.yaml")
			writeConfig(t, path, tt.file)
			a, _, stderr := testApp(tt.env...)
			cmd, _ := newSample()
			root := newRoot(a, cmd, newVersionCmd(a))
			if code := a.execute(t.Context(), root, []string{"go", "--config", path}); code != exitUsage {
				t.Errorf("exit %d, want %d", code, exitUsage)
			}
			want := strings.ReplaceAll(tt.want, "FILE", path)
			if !strings.Contains(stderr.String(), want) {
				t.Errorf("stderr %q, want %q in it", stderr, want)
			}
			if strings.Count(stderr.String(), "\n") != 2 || !strings.Contains(stderr.String(), "\nhint: ") {
				t.Errorf("stderr %q, want a line and a hint", stderr)
			}
		})
	}
}

func TestConfigFileThatIsNamedMustExist(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.yaml")
	for _, env := range [][]string{nil, {"WEIR_CONFIG=" + path}} {
		a, _, stderr := testApp(env...)
		cmd, _ := newSample()
		args := []string{"go"}
		if env == nil {
			args = append(args, "--config", path)
		}
		if code := runWith(a, cmd, args...); code != exitReach {
			t.Errorf("%v: exit %d, want %d; stderr %q", args, code, exitReach, stderr)
		}
	}
}

func writeConfig(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

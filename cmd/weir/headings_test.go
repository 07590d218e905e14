package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// Each flag of weir serve stands under one heading, once, and the help says so.
func TestServeHelpHasHeadings(t *testing.T) {
	var out bytes.Buffer
	a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out}
	root := newRoot(a, verbs(a)...)
	root.SetArgs([]string{"serve", "--help"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	help := out.String()
	var all []string
	for _, h := range serveHeadings {
		if !strings.Contains(help, "\n"+h.title+":\n") {
			t.Errorf("the help has no heading %q", h.title)
		}
		all = append(all, h.flags...)
	}
	serve, _, err := root.Find([]string{"serve"})
	if err != nil {
		t.Fatal(err)
	}
	flags := 0
	serve.LocalFlags().VisitAll(func(f *pflag.Flag) {
		flags++
		if !slices.Contains(all, f.Name) {
			t.Errorf("--%s is under no heading", f.Name)
		}
		if n := strings.Count(help, " --"+f.Name+" ") - strings.Count(serve.Long, " --"+f.Name+" ") - strings.Count(serve.Example, " --"+f.Name+" "); n < 1 {
			t.Errorf("the help does not list --%s", f.Name)
		}
	})
	if slices.Sort(all); len(slices.Compact(all)) != flags {
		t.Errorf("%d names under headings, %d flags", len(all), flags)
	}
	if strings.Contains(help, "\nFlags:") {
		t.Error("the plain list is there as well")
	}

	out.Reset()
	root.SetArgs([]string{"serve", "rules", "check", "--help"})
	if err := root.Execute(); err != nil || !strings.Contains(out.String(), "\nFlags:\n") || strings.Contains(out.String(), "\nRedis:\n") {
		t.Errorf("a verb below: %v\n%s", err, out.String())
	}
}

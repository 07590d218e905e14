package main

import (
	"errors"
	"strings"
	"testing"
)

// Whatever a config file holds, it is applied or refused as the user's
// mistake, with its line.
func FuzzConfigFile(f *testing.F) {
	for _, seed := range []string{
		"go:\n  max-rate: 3/s\n  check: [a<1, b>2]\n",
		"go: {n: 1, json: true}\n---\nversion:\n  out: |\n    a\n    b\n",
		"go: &a\n  n: 0x10\nversion: *a\n",
		"go:\n  n: [[1]]\n", "go: [\n", "? {a: b}\n: c\n", "<<: {go: 1}\n", "go: !!int 3\n", "- go\n", "\t", ": :",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, _, _ := testApp()
		cmd, _ := newSample()
		newRoot(a, cmd, newVersionCmd(a))
		err := bindText("c.yaml", []byte(text), cmd, map[string]bool{})
		if err == nil {
			return
		}
		var f *failure
		if !errors.As(err, &f) || f.code != exitUsage {
			t.Errorf("%v is not a usage error", err)
		}
		if !strings.HasPrefix(err.Error(), "c.yaml:") || f.hint == "" {
			t.Errorf("%q lacks a place or a hint", err)
		}
	})
}

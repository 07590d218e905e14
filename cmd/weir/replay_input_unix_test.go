//go:build unix

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-cli/weir/gateway/rules"
)

// A file whose size says nothing, as /dev/zero, is read no further than a file
// of its kind may be long.
func TestRulesAndScriptsAreReadUpToTheirBound(t *testing.T) {
	for _, tt := range []struct {
		what string
		most int
		read func(path string) error
	}{
		{"a rule file", rules.MaxBytes, func(path string) error { _, err := readRuleSet(path); return err }},
		{"a script", maxScript, func(path string) error { _, err := readScript(path, false); return err }},
	} {
		path := filepath.Join(t.TempDir(), "endless")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		most := 2 * tt.most // enough to tell, where there is no bound
		sent := make(chan int)
		go func() {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
			}
			defer f.Close()
			n, _ := f.WriteString(strings.Repeat("#\n", most/2)) // it fails once nobody reads
			sent <- n
		}()
		err := tt.read(path)
		if n := <-sent; n >= most {
			t.Errorf("all %d bytes were read as %s", n, tt.what)
		}
		var f *failure
		if !errors.As(err, &f) || f.code != exitUsage || !strings.Contains(err.Error(), "is longer than "+tt.what+" may be") {
			t.Errorf("%s: %v", tt.what, err)
		}
	}
}

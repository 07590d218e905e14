//go:build unix

package main

import (
	"errors"
	"fmt"
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

// What a shell makes of <(zcat access.log.gz) can be opened, and read but once.
func TestAScriptsTraceMayBeAPipe(t *testing.T) {
	script := filepath.Join(t.TempDir(), "limiter.lua")
	if err := os.WriteFile(script, []byte("return redis.call('INCR', KEYS[1]) <= 1 and 1 or 0"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("t,key\n1,a\n2,a\n3,b\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	a, stdout, stderr := testApp()
	code := runWith(a, newReplayCmd(a), "replay", script, "--trace", fmt.Sprintf("/dev/fd/%d", r.Fd()), "--map", "KEYS[1]={key}")
	if code != 0 || !strings.Contains(stdout.String(), "admitted 2 of 3") {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

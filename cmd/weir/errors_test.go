package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func TestExitCodeAndMessage(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code int
		want string // stderr
	}{
		{"no error", nil, 0, ""},
		{"a failed check says nothing more", errCheckFailed, 1, ""},
		{"nor when wrapped", fmt.Errorf("load: %w", errCheckFailed), 1, ""},
		{"usage", usagef("weir x --rate 10/s", "rate %q", "ten"), 2, "weir: rate \"ten\"\nhint: weir x --rate 10/s\n"},
		{"usage without a hint gets the help", usagef("", "odd"), 2, "weir: odd\nhint: weir do --help\n"},
		{"reach", reachError(fs.ErrNotExist, "ls"), 3, "weir: file does not exist\nhint: ls\n"},
		{"untrusted sender", untrustedError("the sender ran 40 ms late", "lower --rate"), 4, "weir: the sender ran 40 ms late\nhint: lower --rate\n"},
		{"context added on the way", fmt.Errorf("profile: %w", reachError(fs.ErrPermission, "ls")), 3, "weir: profile: permission denied\nhint: ls\n"},
		{"interrupted", errInterrupted, 130, ""},
		{"a cancelled context is an interrupt", fmt.Errorf("dial: %w", context.Canceled), 130, ""},
		{"whoever read stdout has gone", errStdoutClosed, 0, ""},
		{"a check outranks a closed stdout", errors.Join(errStdoutClosed, errCheckFailed), 1, ""},
		{"untyped is our fault", errors.New("oops"), 5, "weir: internal error: oops\nhint: this is a bug"},
		{"one line, whatever the text", reachError(errors.New("bad\r\n  answer\x1b[31m"), ""), 3, "weir: bad; answer [31m\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _, stderr := testApp()
			cmd := &cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return tt.err }}
			if code := runWith(a, cmd, "do"); code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			got := stderr.String()
			if strings.HasSuffix(tt.want, "\n") || tt.want == "" {
				if got != tt.want {
					t.Errorf("stderr %q, want %q", got, tt.want)
				}
			} else if !strings.HasPrefix(got, tt.want) {
				t.Errorf("stderr %q, want it to begin %q", got, tt.want)
			}
		})
	}
}

func TestPanicBecomesOneLine(t *testing.T) {
	a, stdout, stderr := testApp()
	var table []int
	cmd := &cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error {
		table[3] = 1
		return nil
	}}
	if code := runWith(a, cmd, "do"); code != exitInternal {
		t.Errorf("exit %d, want %d", code, exitInternal)
	}
	first, rest, _ := strings.Cut(stderr.String(), "\n")
	if !strings.Contains(first, "index out of range") || !strings.Contains(first, "weir/errors_test.go:") {
		t.Errorf("first line %q should name the panic and its line", first)
	}
	if strings.Count(rest, "\n") != 1 || !strings.HasPrefix(rest, "hint: ") {
		t.Errorf("after the first line: %q, want one hint", rest)
	}
	if stdout.Len() > 0 {
		t.Errorf("stdout %q, want nothing", stdout)
	}
}

func TestCobraErrorsAreUsage(t *testing.T) {
	a, _, stderr := testApp()
	cmd := &cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return nil }}
	cmd.Flags().String("to", "", "")
	if err := cmd.MarkFlagRequired("to"); err != nil {
		t.Fatal(err)
	}
	if code := runWith(a, cmd, "do"); code != exitUsage {
		t.Errorf("exit %d, want %d; stderr %q", code, exitUsage, stderr)
	}
	if !strings.Contains(stderr.String(), "\nhint: weir do --help\n") {
		t.Errorf("stderr %q has no hint", stderr)
	}
}

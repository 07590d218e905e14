package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestOutFileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "result.json")
	o := &output{file: path}
	a, stdout, _ := testApp()

	mine := errors.New("cannot format that")
	err := o.write(a, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("half a result ", 10_000))
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("error %v, want the formatter's own", err)
	}
	wantFiles(t, dir)

	if err := o.write(a, text("first")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "first")
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := o.write(a, text("second")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, path, "second")
	if info, _ := os.Stat(path); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, want the old file's 0640", info.Mode().Perm())
	}
	wantFiles(t, dir, "result.json")
	if stdout.Len() > 0 {
		t.Errorf("stdout %q, want nothing", stdout)
	}
}

func TestOutFileThroughALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if err := writeOutFile(link, text("new")); err != nil {
		t.Fatal(err)
	}
	wantFile(t, target, "new")
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link was replaced: %v %v", info.Mode(), err)
	}
}

func TestTwoRunsNeverMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.json")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if err := writeOutFile(path, text(strings.Repeat(fmt.Sprint(i), 200_000))); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 200_000 || len(bytes.Trim(got, string(got[:1]))) != 0 {
		t.Errorf("%d bytes beginning %q are not one whole result", len(got), got[:20])
	}
	wantFiles(t, filepath.Dir(path), "result.json")
}

func TestOutFileRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, path string
		code       int
		hint       string
	}{
		{"a directory", dir, exitUsage, filepath.Join(dir, "result.json")},
		{"no such folder", filepath.Join(dir, "none", "r.json"), exitReach, "mkdir -p " + filepath.Join(dir, "none")},
		{"a file for a folder", filepath.Join(file, "r.json"), exitReach, "--out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := &output{file: tt.path}
			a, stdout, _ := testApp()
			for what, err := range map[string]error{"check": o.check(), "write": o.write(a, text("precious"))} {
				var f *failure
				if !errors.As(err, &f) || f.code != tt.code || !strings.Contains(f.hint, tt.hint) {
					t.Errorf("%s: %#v, want exit %d and a hint with %q", what, err, tt.code, tt.hint)
				}
			}
			if tt.code == exitReach && stdout.String() != "precious" {
				t.Errorf("stdout %q: the result was lost", stdout)
			}
		})
	}
	wantFiles(t, dir, "file")
}

// full takes some bytes and then behaves as a full disk.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	n := min(f.room, len(p))
	f.room -= n
	if n < len(p) {
		return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
	}
	return n, nil
}

func TestFullDisk(t *testing.T) {
	a, _, stderr := testApp()
	a.stdout = &full{room: 10}
	o := &output{}
	err := o.write(a, text("longer than ten bytes"))
	if code := a.conclude(nil, err); code != exitReach {
		t.Errorf("exit %d, want %d", code, exitReach)
	}
	if want := "weir: what stands on stdout is cut short: no space left on device\n"; !strings.HasPrefix(stderr.String(), want) {
		t.Errorf("stderr %q, want %q first", stderr, want)
	}
}

func TestFullDiskLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "r")
	f, err := createBeside(path)
	if err != nil {
		t.Fatal(err)
	}
	f.Close() // every write fails from here on
	err = fill(f, path, text("x"))
	var failed *failure
	if !errors.As(err, &failed) || failed.code != exitReach || !strings.Contains(err.Error(), path+":") {
		t.Errorf("error %v, want exit 3 and the user's own path", err)
	}
}

// gone is a pipe whose reader has left.
type gone struct{ writes int }

func (g *gone) Write([]byte) (int, error) { g.writes++; return 0, syscall.EPIPE }

func TestClosedStdoutIsQuiet(t *testing.T) {
	a, _, _ := testApp()
	pipe := &gone{}
	a.stdout = &pipeWriter{w: pipe}
	o := &output{}
	for range 3 {
		if err := o.write(a, text("result")); err != nil {
			t.Errorf("error %v, want none: the run itself was fine", err)
		}
	}
	if pipe.writes != 1 {
		t.Errorf("%d writes to a closed pipe, want 1", pipe.writes)
	}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func wantFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v; want %q", path, got, err, want)
	}
}

// wantFiles checks that a folder holds these and no left-overs.
func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s holds %v, want %v", dir, got, want)
	}
}

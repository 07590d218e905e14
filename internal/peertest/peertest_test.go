package peertest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// recorder is a testing.TB that notes how it was ended.
type recorder struct {
	testing.TB
	ended string
}

func (r *recorder) Helper()               {}
func (r *recorder) Fatalf(string, ...any) { r.ended = "failed"; runtime.Goexit() }
func (r *recorder) Skipf(string, ...any)  { r.ended = "skipped"; runtime.Goexit() }

func need(program string) (path, ended string) {
	r := &recorder{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		path = Need(r, program)
	}()
	<-done
	return path, r.ended
}

func TestNeed(t *testing.T) {
	dir := t.TempDir()
	name := "peer"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	for _, tt := range []struct{ program, require, ended string }{
		{name, "", ""},
		{name, "1", ""},
		{"no-such-program", "", "skipped"},
		{"no-such-program", "0", "skipped"},
		{"no-such-program", "1", "failed"},
	} {
		t.Setenv(RequireEnv, tt.require)
		path, ended := need(tt.program)
		if ended != tt.ended || (ended == "") != (path != "") {
			t.Errorf("%s with %q: path %q, %q; want %q", tt.program, tt.require, path, ended, tt.ended)
		}
	}
}

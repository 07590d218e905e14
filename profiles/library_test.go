package profiles

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryBuiltin(t *testing.T) {
	files, err := filepath.Glob("builtin/*.yaml")
	if err != nil || len(files) != len(order) {
		t.Fatalf("%d files (%v), %d listed", len(files), err, len(order))
	}
	for _, info := range Builtins() {
		p, err := Builtin(info.Name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != info.Name || info.About == "" || strings.Contains(info.About, "\n") || len(info.About) > 80 {
			t.Errorf("%s: name %q, about %q", info.Name, p.Name, info.About)
		}
		comments := 0
		for line := range strings.Lines(string(Source(info.Name))) {
			if strings.Contains(line, "#") {
				comments++
			}
		}
		if comments < 4 {
			t.Errorf("%s: %d lines of comment teach nothing", info.Name, comments)
		}
	}
}

func TestBuiltinIsAFreshCopy(t *testing.T) {
	a, _ := Builtin("steady")
	a.Populations[0].Clients = 99
	b, _ := Builtin("steady")
	if b.Populations[0].Clients == 99 {
		t.Error("a change of one copy shows in the next")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "mine.yaml")
	text := "populations:\n  - {name: a, keys: {kind: file, file: keys.txt}, arrivals: {kind: constant, rate: 1/s}}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "mine" || p.Populations[0].Keys.File != filepath.Join(dir, "keys.txt") {
		t.Errorf("name %q, key file %q", p.Name, p.Populations[0].Keys.File)
	}
	if p, err := Open("retry-storm"); err != nil || p.Populations[0].Clients != 40 {
		t.Errorf("built-in: %v, %v", p, err)
	}
	var e *Error
	if _, err := Open("retry-strom"); !errors.As(err, &e) || e.Hint != `did you mean "retry-storm"?` {
		t.Errorf("mistyped: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	big := filepath.Join(dir, "big.yaml")
	if err := os.WriteFile(big, make([]byte, MaxBytes+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(big); !errors.As(err, &e) || !strings.Contains(e.Msg, "the most is") {
		t.Errorf("too big: %v", err)
	}
}

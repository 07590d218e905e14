package sim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-cli/weir/profiles"
)

func TestMistakesInFiles(t *testing.T) {
	tests := []struct {
		text, want, hint string
		line             int
	}{
		{"kind: trace\nparams:\n  rat: 10/s\n", `unknown field "rat" in params`, `did you mean "rate"?`, 3},
		{"kind: trace\nparms: {}\n", `unknown field "parms" in the scenario`, `did you mean "params"?`, 2},
		{"kind: trac\n", `kind "trac" is not known`, `did you mean "trace"?`, 1},
		{"params: {}\n", "no kind and extends nothing", "extends:", 1},
		{"", "is empty", "extends:", 0},
		{"kind: trace\nparams:\n  rate: -3/s\n", `rate "-3/s" must not be negative`, "10/s", 3},
		{"kind: trace\nparams:\n  rate: 0/s\n", "must be above zero", "", 3},
		{"kind: trace\nparams:\n  gateways: 0\n", "gateways: 0 is below 1", "--set gateways=1", 3},
		{"kind: trace\nparams:\n  cost: 21\n", "a call of cost 21 can never pass: the burst is 20", "mistake in the configuration", 3},
		{"kind: trace\nparams:\n  storm_for: 300000h\n", "is longer than", "", 3},
		{"kind: trace\nparams:\n  storm_for: 30000000000h\n", "storm_for", "", 3},
		{"kind: trace\nparams:\n  storm_for: 10m\n", "ends before the storm does", "--set length=12m", 0},
		{"kind: trace\nparams:\n  length: 4\n", "has no unit of time", "4s", 3},
		{"kind: trace\nparams:\n  ttl: 5ns\n", "not a whole number of microseconds", "1us", 3},
		{"kind: trace\nparams:\n  moves: {a: 1}\n", "moves is not a list", "", 3},
		{"kind: trace\nparams:\n  clocks: {20: 1s}\n", "no gateway of index 20", "G7 is 6", 3},
		{"kind: trace\nparams:\n  rate: 10/s\n  rate: 20/s\n", "already defined", "", 4},
		{"kind: [trace\n", "", "brackets", 0},
		{"kind: trace\nparams:\n\trate: 1/s\n", "cannot start any token", "indent with spaces", 3},
		{"extends: freshbox/nothing\n", `no scenario is called "freshbox/nothing"`, "weir sim", 1},
		{"extends: freshbox/gcra\nkind: race\n", "is not that of what it extends", "leave kind out", 2},
		{"kind: trace\n---\nkind: trace\n", "a second document", "", 3},
		{"kind: edge-firewall\nparams:\n  check_every: 0s\n", "check_every", "", 3},
		{"kind: store-outage\nparams:\n  timeout: 1us\n", "shorter than the way to the store", "--set timeout=2ms", 3},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, err := Decode("mine.yaml", []byte(tt.text))
			var e *profiles.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(e.Error(), tt.want) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("says %q with hint %q, want %q and %q", e.Error(), e.Hint, tt.want, tt.hint)
			}
			if tt.line > 0 && e.Line != tt.line {
				t.Errorf("at line %d, want %d", e.Line, tt.line)
			}
			if strings.ContainsRune(e.Error(), '\n') {
				t.Errorf("more than one line: %q", e.Error())
			}
		})
	}
}

func TestMistakesInSets(t *testing.T) {
	tests := []struct{ set, want, hint string }{
		{"rat=10/s", `unknown parameter "rat"`, `did you mean "rate"?`},
		{"storm_rat=10/s", `unknown parameter "storm_rat"`, `did you mean "storm_rate"?`},
		{"xyzzy=1", `unknown parameter "xyzzy"`, "one of length, normal_rate"},
		{"rate", "not path=value", "--set rate=20/s"},
		{"=1", "not path=value", ""},
		{"rate.x=1", "rate is a single value", "--set rate="},
		{"rate=fast", "rate", "10/s"},
		{"gateways=many", "gateways", "--set gateways=20"},
		{"gateways=0", "gateways: 0 is below 1", "--set gateways=1"},
		{"burst=99999999999999999999", "64 bits", ""},
		{"moves=5m", "is of design=sticky", "weir sim show"},
		{"capacity=3", "is of a leaky-queue", ""},
		{"moves[3]=5m", "moves has no entry", ""},
		{"clocks=[1]", "clocks", ""},
		{"clocks={x: 1s}", `clocks "x"`, ""},
		{"design=lokal", `"lokal" is not one of`, `did you mean "local"?`},
		{"write_callers_time=maybe", "neither true nor false", "--set write_callers_time=true"},
	}
	for _, tt := range tests {
		t.Run(tt.set, func(t *testing.T) {
			_, err := Open("freshbox/central-bucket", tt.set)
			var e *profiles.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if !strings.Contains(e.Error(), tt.want) || !strings.Contains(e.Hint, tt.hint) {
				t.Errorf("says %q with hint %q, want %q and %q", e.Error(), e.Hint, tt.want, tt.hint)
			}
		})
	}
}

func TestSets(t *testing.T) {
	tests := []struct{ set, path, value string }{
		{"rate=20/s", "rate", "20/s"},
		{"rate=20", "rate", "20/s"},
		{"rate=0.5", "rate", "1/2s"},
		{"rate=90/m", "rate", "90/m"},
		{"params.burst=40", "burst", "40"},
		{"burst=1.5k", "burst", "1500"},
		{"storm_for=1m30s", "storm_for", "1m30s"},
		{"clocks.3=-50ms", "clocks", "{3: -50ms}"},
		{"clocks={6: 1s, 3: 2s}", "clocks", "{3: 2s, 6: 1s}"},
		{"design=local", "design", "local"},
		{" gateways = 7 ", "gateways", "7"},
	}
	for _, tt := range tests {
		s, err := Open("freshbox/central-bucket", tt.set)
		if err != nil {
			t.Errorf("%s: %v", tt.set, err)
			continue
		}
		for _, p := range s.Parameters() {
			if p.Path == tt.path && p.Value != tt.value {
				t.Errorf("%s: %s is %s, want %s", tt.set, p.Path, p.Value, tt.value)
			}
		}
	}
	s, err := Open("freshbox/sticky", "moves=100s,110s", "moves[1]=2m")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Parameters() {
		if p.Path == "moves" && p.Value != "[1m40s, 2m]" {
			t.Errorf("moves are %s", p.Value)
		}
	}
}

// What a file extends may be another file, found beside it.
func TestExtends(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("base.yaml", "extends: freshbox/sliding-log\nabout: Ours\nparams:\n  limit: 50\n  window: 5s\n")
	s, err := Open(write("more.yaml", "extends: base.yaml\nparams:\n  limit: 60\n"), "window=6s")
	if err != nil {
		t.Fatal(err)
	}
	p := s.Params.(*oneKey)
	if s.Name != "more" || s.About != "Ours" || p.Algorithm != "sliding-log" || p.Limit != 60 || p.Window != 6*Second {
		t.Errorf("%q %q %+v", s.Name, s.About, p)
	}
	if _, err := Open(write("loop.yaml", "extends: loop.yaml\n")); err == nil || !strings.Contains(err.Error(), "extend each other") {
		t.Errorf("a loop: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// No text makes the reader panic, and what it takes can be run.
func FuzzDecode(f *testing.F) {
	for _, name := range scenarioNames() {
		f.Add(Source(name))
	}
	f.Add([]byte("kind: trace\nparams: {rate: 1/3s, clocks: {1: 2s}, moves: [1s]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(string(text), "extends") {
			t.Skip("would read files")
		}
		s, err := Decode("x.yaml", text)
		if err != nil {
			return
		}
		if _, err := Decode("x.yaml", []byte(s.YAML())); err != nil {
			t.Errorf("%v in\n%s", err, s.YAML())
		}
	})
}

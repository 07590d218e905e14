package main

import (
	"testing"

	"github.com/spf13/pflag"
)

func TestSeed(t *testing.T) {
	a, _, _ := testApp()
	for _, tt := range []struct {
		args []string
		want int64
	}{
		{nil, 123_456}, // the clock's microseconds
		{[]string{"--seed=0"}, 0},
		{[]string{"--seed=-7"}, -7},
	} {
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		s := newSeed(fs)
		if err := fs.Parse(tt.args); err != nil {
			t.Fatal(err)
		}
		if got := s.resolve(a); got != tt.want {
			t.Errorf("%q: seed %d, want %d", tt.args, got, tt.want)
		}
	}
}

func TestConsole(t *testing.T) {
	tests := []struct {
		name            string
		tty             bool
		args, env       []string
		color, progress bool
	}{
		{"a terminal", true, nil, nil, true, true},
		{"a pipe", false, nil, nil, false, false},
		{"NO_COLOR", true, nil, []string{"NO_COLOR=1"}, false, true},
		{"an empty NO_COLOR is not set", true, nil, []string{"NO_COLOR="}, true, true},
		{"--no-color", true, []string{"--no-color"}, nil, false, true},
		{"--quiet", true, []string{"--quiet"}, nil, true, false},
		{"a dumb terminal", true, nil, []string{"TERM=dumb"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, _, _ := testApp(tt.env...)
			a.stdoutTTY, a.stderrTTY = tt.tty, tt.tty
			fs := pflag.NewFlagSet("", pflag.ContinueOnError)
			c := newConsole(fs)
			if err := fs.Parse(tt.args); err != nil {
				t.Fatal(err)
			}
			if c.color(a) != tt.color || c.progress(a) != tt.progress {
				t.Errorf("color %v, progress %v; want %v, %v", c.color(a), c.progress(a), tt.color, tt.progress)
			}
		})
	}
}

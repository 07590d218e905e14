package main

import "testing"

func TestNearest(t *testing.T) {
	verbs := []string{"load", "probe", "profiles", "serve", "demo", "version", "completion"}
	tests := []struct{ word, want string }{
		{"laod", "load"},        // neighbours swapped
		{"lod", "load"},         // one left out
		{"profile", "profiles"}, // the start of one
		{"ver", "version"},
		{"srv", "serve"},
		{"pro", ""}, // the start of two
		{"kubernetes", ""},
		{"", ""},
	}
	for _, tt := range tests {
		if got := nearest(tt.word, verbs); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", tt.word, got, tt.want)
		}
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"ab", "ba", 1}, {"kitten", "sitting", 3}, {"ca", "abc", 3},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

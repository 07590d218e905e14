package main

import "testing"

func TestPlural(t *testing.T) {
	for _, tt := range []struct {
		n    int
		want string
	}{{0, "0 keys"}, {1, "1 key"}, {999, "999 keys"}, {1000, "1,000 keys"}, {1234567, "1,234,567 keys"}} {
		if got := plural(tt.n, "key"); got != tt.want {
			t.Errorf("plural(%d) = %q, want %q", tt.n, got, tt.want)
		}
	}
}

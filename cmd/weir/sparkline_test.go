package main

import (
	"slices"
	"testing"
)

func TestSparkline(t *testing.T) {
	if got := sparkline([]uint32{0, 1, 50, 100}); got != "·▁▄█" {
		t.Errorf("got %s", got)
	}
}

// The peak stays in sight however narrow the terminal.
func TestAround(t *testing.T) {
	counts := make([]uint32, 201)
	for _, at := range []int{0, 3, 100, 199, 200} {
		clear(counts)
		counts[at] = 9
		for _, width := range []int{-5, 1, 2, 76, 200, 201, 500} {
			got := around(counts, at, width)
			if len(got) != min(max(width, 1), len(counts)) || !slices.Contains(got, 9) {
				t.Errorf("peak at %d, width %d: %d columns, peak shown: %v", at, width, len(got), slices.Contains(got, 9))
			}
		}
	}
	if got := around(nil, 0, 76); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

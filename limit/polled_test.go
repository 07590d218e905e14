package limit

import (
	"slices"
	"testing"
	"time"
)

// A source sends 10 a second and is allowed 30 in 5 s, looked at every second.
// The count first passes 30 at 3 s (31 requests up to then), so that the check
// at 4 s, which counts 40, plans the block for 6 s. It stops sending at 10 s:
// the check at 12 s still counts 30 (of 7 to 10 s), which is not over.
func TestPolledBlocksLate(t *testing.T) {
	tests := []struct {
		name   string
		spec   PolledSpec
		blocks []Block
		passed int
	}{
		{"blocked ones count", PolledSpec{30, 5 * time.Second, time.Second, 2 * time.Second, false},
			[]Block{{6e9, 14e9}}, 60},
		{"only what passes counts", PolledSpec{30, 5 * time.Second, time.Second, 2 * time.Second, true},
			// Nothing counts from 6 s on, so the check at 8 s finds 30 and
			// frees it at 10 s.
			[]Block{{6e9, 10e9}}, 60},
		{"at once", PolledSpec{30, 5 * time.Second, time.Second, 0, false},
			[]Block{{4e9, 12e9}}, 40},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := NewPolled(tt.spec)
			if err != nil {
				t.Fatal(err)
			}
			passed := 0
			for i := range int64(100) {
				if !p.Ask(i * 1e8) {
					passed++
				}
			}
			p.Advance(20e9)
			if !slices.Equal(p.Blocks(), tt.blocks) || passed != tt.passed {
				t.Errorf("blocks %v, want %v; %d passed, want %d", p.Blocks(), tt.blocks, passed, tt.passed)
			}
			if p.Over()[0] != 4e9 {
				t.Errorf("first check over at %d", p.Over()[0])
			}
		})
	}
}

func TestPolledRefusesOddNumbers(t *testing.T) {
	for _, s := range []PolledSpec{{Window: 1, Every: 0}, {Window: 0, Every: 1}, {Threshold: -1, Window: 1, Every: 1}, {Window: 1, Every: 1, Delay: -1}} {
		if _, err := NewPolled(s); err == nil {
			t.Errorf("%+v passed", s)
		}
	}
}

package main

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/report"
)

// A run ends early where nobody listens, and nowhere else.
func TestAlone(t *testing.T) {
	const ms = int64(time.Millisecond)
	seen := func(failed, refusedConnections, admitted int64, targets int) *report.Snapshot {
		s := &report.Snapshot{Errors: map[string]int64{"connect-refused": refusedConnections}, Targets: make([]report.Row, targets)}
		s.Totals.Failed, s.Totals.Admitted, s.Totals.Offered = failed, admitted, failed+admitted
		return s
	}
	type look struct {
		at int64
		s  *report.Snapshot
	}
	for _, c := range []struct {
		name    string
		targets int
		looks   []look
		ends    int // the look that ends it; -1 for none
	}{
		{"a wrong port", 1, []look{{100 * ms, seen(5, 5, 0, 1)}, {2000 * ms, seen(90, 90, 0, 1)}, {2100 * ms, seen(99, 99, 0, 1)}}, 2},
		{"two wrong ports", 2, []look{{0, seen(2, 2, 0, 2)}, {2000 * ms, seen(9, 9, 0, 2)}}, 1},
		{"a target that is slow beside a dead one", 2, []look{{100 * ms, seen(5, 5, 0, 1)}, {2100 * ms, seen(99, 99, 0, 1)}}, -1},
		{"a first call late in the run", 1, []look{{5000 * ms, seen(0, 0, 0, 0)}, {30_000 * ms, seen(1, 1, 0, 1)}, {32_000 * ms, seen(2, 2, 0, 1)}}, 2},
		{"one call and a long silence", 1, []look{{100 * ms, seen(1, 1, 0, 1)}, {2000 * ms, seen(1, 1, 0, 1)}, {9000 * ms, seen(1, 1, 0, 1)}}, -1},
		{"an outage", 1, []look{{100 * ms, seen(0, 0, 10, 1)}, {500 * ms, seen(5, 5, 10, 1)}, {9000 * ms, seen(99, 99, 10, 1)}}, -1},
		{"timeouts, too", 1, []look{{100 * ms, seen(5, 5, 0, 1)}, {9000 * ms, seen(9, 8, 0, 1)}}, -1},
	} {
		var a alone
		ends := -1
		for i, l := range c.looks {
			if a.see(l.s, c.targets, l.at) {
				ends = i
				break
			}
		}
		if ends != c.ends || a.ended != (ends >= 0) {
			t.Errorf("%s: ended at look %d, want %d", c.name, ends, c.ends)
		}
	}
}

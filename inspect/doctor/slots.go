package doctor

import (
	"fmt"
	"maps"
	"slices"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/report"
)

// What counts as a crowd.
const (
	crowdLeast = 1000 // states, below which chance alone makes crowds
	crowdShare = 0.2  // of all states, in one slot
	heavyTimes = 2    // the even share of keys, on one server
)

// slotCounts counts states by their slots in a cluster.
type slotCounts struct {
	by  map[int]int64 // at most as many as a cluster has slots
	all int64
	one map[int]string // a key of each
}

func (c *slotCounts) state(r *inspect.Reading) {
	for i := range r.Entries {
		e := &r.Entries[i]
		if !e.Exists() {
			continue
		}
		if e.Slot < 0 {
			return
		}
		if c.by == nil {
			c.by, c.one = map[int]int64{}, map[int]string{}
		}
		if c.by[e.Slot]++; c.by[e.Slot] == 1 {
			c.one[e.Slot] = e.Key
		}
		c.all++
		return
	}
}

func (c *slotCounts) judge(f findings) {
	if c.all < crowdLeast {
		return
	}
	for _, slot := range slices.Sorted(maps.Keys(c.by)) {
		if n := c.by[slot]; float64(n) > crowdShare*float64(c.all) {
			f.add("slot-imbalance", c.one[slot], fmt.Sprintf("Slot %d has %s of %s limits that were seen, such as %s.", slot, report.Count(n), report.Count(c.all), clean(c.one[slot])))
		}
	}
}

func clean(s string) string { return report.Clean(s) }

func inOrder[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

package replay

import (
	"fmt"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// difference compares two verdicts on every call.
type difference struct {
	out  report.ReplayDifference
	keys []bool // by key number: whether they differed
}

// add reports whether the two differ.
func (d *difference) add(id uint32, here, there report.Verdict) bool {
	d.out.Calls++
	switch {
	case here == report.Admitted && there == report.Admitted:
		d.out.BothAdmitted++
		return false
	case here == report.Refused && there == report.Refused:
		d.out.BothRefused++
		return false
	case here == report.Admitted:
		d.out.OnlyHere++
	default:
		d.out.OnlyThere++
	}
	for int(id) >= len(d.keys) {
		d.keys = append(d.keys, make([]bool, int(id)+1024-len(d.keys))...)
	}
	if !d.keys[id] {
		d.keys[id] = true
		d.out.KeysDiffering++
	}
	return true
}

// stateText is what a limiter says of a key.
func stateText(d *limit.Decision) string {
	s := fmt.Sprintf("%d of %d left", d.Remaining, d.Limit)
	if d.RetryAfter > 0 {
		s += ", the next passes in " + waitText(d.RetryAfter)
	}
	if d.ResetAfter > 0 {
		s += ", as new in " + waitText(d.ResetAfter)
	}
	return s
}

// waitText is a wait rounded up to microseconds.
func waitText(d time.Duration) string {
	return limit.ShortDuration((d + time.Microsecond - 1).Truncate(time.Microsecond))
}

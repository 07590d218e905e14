package main

import (
	"time"

	"github.com/weir-cli/weir/report"
)

// aloneAfter is how long a run goes on that meets nothing but refused
// connections: a port that is wrong stays wrong.
const aloneAfter = 2 * time.Second

// alone tells whether anybody listens to a run. The zero value has seen nothing.
type alone struct {
	failed int64 // attempts that were seen to fail
	since  int64 // when the first was, in ns of the run
	ended  bool  // nobody does
}

// see looks at the run so far. Nobody listens when aloneAfter has passed from
// the first refused connection to a new one, nothing else came meanwhile, and no
// target has yet to answer. Of more targets than a snapshot lists, one always has.
func (a *alone) see(s *report.Snapshot, targets int, now int64) bool {
	t := &s.Totals
	if t.Failed == a.failed {
		return false
	}
	if a.failed == 0 {
		a.since = now
	}
	a.failed = t.Failed
	a.ended = now-a.since >= int64(aloneAfter) && t.Failed == t.Offered && s.Errors["connect-refused"] == t.Failed &&
		len(s.Targets) == targets
	return a.ended
}

package redislimit

import "sync/atomic"

// Stats count what a [Store] has done since it began. Checks that were
// answered are Checks less the sum of Errors.
type Stats struct {
	Checks    int64 // script calls asked for: one a check, or one a slot in a cluster
	Pipelines int64 // round trips that carried them
	Commands  int64 // script calls sent, second tries included
	Loads     int64 // SCRIPT LOAD sent
	Redirects int64 // MOVED and ASK followed
	Errors    map[Kind]int64
}

type counts struct {
	checks, pipelines, commands, loads, redirects atomic.Int64
	errors                                        [kinds]atomic.Int64
}

// Stats returns the counts so far. Errors has only kinds that occurred.
func (s *Store) Stats() Stats {
	c := &s.stats
	t := Stats{
		Checks: c.checks.Load(), Pipelines: c.pipelines.Load(), Commands: c.commands.Load(),
		Loads: c.loads.Load(), Redirects: c.redirects.Load(), Errors: map[Kind]int64{},
	}
	for k := range c.errors {
		if n := c.errors[k].Load(); n > 0 {
			t.Errors[Kind(k)] = n
		}
	}
	return t
}

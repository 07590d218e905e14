package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// Examiner is shown states and servers and finds what is wrong. Make one with
// [NewExaminer]. Not safe for concurrent use.
type Examiner struct {
	guesses   bool
	found     findings
	states    int64
	skipped   int64
	customers customers
	slots     slotCounts
	strangers strangers
	index     *inspect.Index
	servers   []Server
}

// NewExaminer returns one that knows the layouts. With guesses it also looks at
// states whose writer is only guessed by the value's shape, as is right for keys
// that were named.
func NewExaminer(layouts []*inspect.Layout, guesses bool) *Examiner {
	return &Examiner{guesses: guesses, found: findings{}, index: inspect.NewIndex(layouts), strangers: strangers{theirs: map[string]bool{}}}
}

// States are how many states it was shown and looked at.
func (x *Examiner) States() int64 { return x.states }

// Guesses are how many it was shown and passed over, since only the shape of
// their value speaks for a limiter.
func (x *Examiner) Guesses() int64 { return x.skipped }

// byProblem is the check for a problem that decoding found.
var byProblem = func() map[string]string {
	m := map[string]string{}
	for _, c := range checks {
		for _, id := range c.problems {
			m[id] = c.ID
		}
	}
	return m
}()

// State looks at one.
func (x *Examiner) State(r *inspect.Reading) {
	if r.Sure == inspect.Guess && !x.guesses {
		x.skipped++
		return
	}
	x.states++
	x.strangers.theirs[r.Layout.Name] = true
	key := mainKey(r)
	seen := map[string]bool{}
	for _, p := range r.Problems {
		id, text := byProblem[p.ID], p.Text
		switch {
		case p.ID == "no-ttl" && r.Layout.TTL.Missing == "for-ever":
			id = "no-ttl-for-ever"
		case p.ID == "no-ttl":
			id = "no-ttl-leak"
		case p.ID == "window-over" && !longOver(r):
			continue
		case p.ID == "future":
			text += " " + whose(r.Layout)
		}
		if id != "" && !seen[id] {
			seen[id] = true
			x.found.add(id, key, text)
		}
	}
	if e := grownLog(r); e != nil && !seen["log-grows"] {
		x.found.add("log-grows", e.Key, fmt.Sprintf("The log has %d entries, and its writer adds refused calls to it.", e.Len))
	}
	x.customers.state(r, key)
	x.slots.state(r)
}

// mainKey is the first of a state's keys that is there.
func mainKey(r *inspect.Reading) string {
	for i := range r.Entries {
		if r.Entries[i].Exists() {
			return r.Entries[i].Key
		}
	}
	return r.Entries[0].Key
}

// longOver reports whether a window ended so long ago that no time to live that
// makes sense would have kept its key.
func longOver(r *inspect.Reading) bool {
	if r.WindowStart == nil || r.WindowEnd == nil {
		return false
	}
	length := *r.WindowEnd - *r.WindowStart
	return length > 0 && (r.Now-*r.WindowEnd)/3 > length && r.Now-*r.WindowEnd > int64(time.Minute)
}

// whose says which clock a layout's times come from, as far as it is described.
func whose(l *inspect.Layout) string {
	switch {
	case strings.Contains(l.About, "server's clock"), strings.HasPrefix(l.Decode.Name, "weir-") && l.Decode.Name != "weir-plain":
		return "Its writer takes the server's time, which must have stepped back."
	case strings.Contains(l.About, "callers' clocks"):
		return "Its writer takes the time of the machine that it runs on."
	}
	return "Whose clock its writer takes is not described."
}

// grownLogEntries is from when on a log with refused calls in it is worth a
// word though its limit is not known.
const grownLogEntries = 10_000

// grownLog is the log of a state when it has grown with refusals.
func grownLog(r *inspect.Reading) *inspect.Entry {
	if r.Algorithm != limit.SlidingLog.String() || r.Layout.Decode.Refusals != "counted" {
		return nil
	}
	for i := range r.Entries {
		if e := &r.Entries[i]; e.Exists() && e.Len > grownLogEntries {
			return e
		}
	}
	return nil
}

// Findings are what was found in all that was shown.
func (x *Examiner) Findings() []Finding {
	f := findings{}
	for id, one := range x.found {
		c := *one
		f[id] = &c
	}
	x.strangers.judge(f, x.guesses)
	x.customers.judge(f)
	x.slots.judge(f)
	judgeServers(f, x.servers)
	return f.sorted()
}

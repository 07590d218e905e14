package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
	"github.com/weir-cli/weir/report"
)

const (
	// alarmEvery is the shortest time between two lines about breakers.
	alarmEvery = time.Second
	// failuresEvery is how long failed checks that open no breaker are added up
	// for a line. The first come sooner, together with those of alarmEvery.
	failuresEvery = time.Minute
	// mostAlarms bounds the nodes that have a line of their own at a time.
	mostAlarms = 8
)

// alarm tells an operator that the store has ceased to answer gateways, what
// decides meanwhile, and that it answers again. The first line comes at once,
// later ones when they are due, and each sums up what has changed since the
// last: twenty gateways that lose a store are two lines. Safe for concurrent
// use.
type alarm struct {
	gateways int
	say      func(line string)
	instead  func() string       // what decides meanwhile
	stoodIn  func() SourceCounts // decided by fail modes so far
	clock    func() int64
	after    func(time.Duration, func()) (stop func() bool)

	mu       sync.Mutex
	nodes    map[string]*silence
	told     string // what instead was when it was last said
	said     int64  // the newest line about breakers, ns; 0 is never
	pending  func() bool
	failures map[string]int // checks that open no breaker, by kind
	counting func() bool    // has them told
	counted  int64          // when they last were, ns; 0 is never
	stopped  bool
}

// silence is a node of the store that gateways have ceased to ask.
type silence struct {
	first  int // gateway, from 0
	open   int // gateways now
	told   int // gateways in the newest line
	since  int64
	until  int64        // when the last of them was answered
	before SourceCounts // decided by fail modes when it began
	kind   string       // what went wrong last
}

func newAlarm(f *Fleet) *alarm {
	return &alarm{
		gateways: len(f.gateways), say: f.cfg.Notice, clock: f.now,
		instead: func() string { return "Until it does, " + f.WithoutStore() },
		stoodIn: func() SourceCounts { sn := f.run.Load().tally.snapshot(0); return sn.StoodIn() },
		after:   func(d time.Duration, do func()) func() bool { return time.AfterFunc(d, do).Stop },
		nodes:   map[string]*silence{}, failures: map[string]int{},
	}
}

// breaker is called when gateway gw's breaker for a node opens or closes.
func (a *alarm) breaker(gw int, node, kind string, open bool) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return
	}
	now := a.clock()
	s := a.nodes[node]
	switch {
	case s == nil && !open:
		return
	case s == nil:
		s = &silence{first: gw, since: now, before: a.stoodIn()}
		a.nodes[node] = s
		clear(a.failures) // those that have led to this
	}
	if open {
		s.open, s.kind = s.open+1, cmp.Or(kind, s.kind)
	} else if s.open--; s.open == 0 {
		s.until = now
	}
	a.arm(now)
}

// arm has the next lines said when they are due, locked.
func (a *alarm) arm(now int64) {
	if a.pending != nil || a.stopped {
		return
	}
	wait := time.Duration(0)
	if a.said != 0 {
		wait = max(0, alarmEvery-time.Duration(now-a.said))
	}
	a.pending = a.after(wait, a.speak)
}

// speak says what has changed. One runs at a time, and nobody waits for it:
// whoever reads the lines may be slow.
func (a *alarm) speak() {
	a.mu.Lock()
	lines := a.changes(a.clock())
	a.mu.Unlock()
	for _, l := range lines {
		a.say(l)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.pending = nil
	for _, s := range a.nodes {
		if s.open != s.told {
			a.arm(a.clock())
			return
		}
	}
}

// changes are the lines that are due, locked.
func (a *alarm) changes(now int64) (lines []string) {
	if a.stopped {
		return nil
	}
	more := 0
	for _, node := range slices.Sorted(maps.Keys(a.nodes)) {
		s := a.nodes[node]
		switch {
		case s.open == s.told:
		case len(lines) < mostAlarms:
			lines = append(lines, a.line(node, s))
		default:
			more++
		}
		if s.told = s.open; s.open == 0 { // perhaps it opened and closed between two lines
			delete(a.nodes, node)
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("store: the same of %d other nodes", more))
	}
	if len(lines) > 0 {
		a.said = now
	}
	return lines
}

func (a *alarm) line(node string, s *silence) string {
	name := "store"
	if node != "" {
		name += " " + node
	}
	who := fmt.Sprintf("%d of %d gateways", s.open, a.gateways)
	switch {
	case s.open == 0:
		in := a.stoodIn()
		return fmt.Sprintf("%s: answers again after %.1f s, in which %s requests were admitted without it and %s refused", name,
			time.Duration(s.until-s.since).Seconds(), report.Count(max(0, in.Admitted-s.before.Admitted)), report.Count(max(0, in.Refused-s.before.Refused)))
	case s.open < s.told:
		return fmt.Sprintf("%s: still does not answer %s", name, who)
	case s.told > 0:
		return fmt.Sprintf("%s: does not answer %s (%s)", name, who, whatFailed(s.kind))
	case s.open == 1:
		who = fmt.Sprintf("gateway %d of %d", s.first+1, a.gateways)
	}
	line := fmt.Sprintf("%s: does not answer %s (%s)", name, who, whatFailed(s.kind))
	if now := a.instead(); now != a.told { // once is enough
		line, a.told = line+". "+now, now
	}
	return line
}

// failed is called for each check of a node without an answer. Those that open
// a breaker are told by it; others would never be.
func (a *alarm) failed(node, kind string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped || a.nodes[node] != nil || a.nodes[""] != nil { // "" is all of a store that is no cluster
		return
	}
	a.failures[kind]++
	if a.counting == nil {
		wait := alarmEvery
		if a.counted != 0 {
			wait = max(wait, failuresEvery-time.Duration(a.clock()-a.counted))
		}
		a.counting = a.after(wait, a.sumUp)
	}
}

// sumUp says which checks have failed since the last time.
func (a *alarm) sumUp() {
	a.mu.Lock()
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(a.failures)) {
		kinds = append(kinds, fmt.Sprintf("%s × %s", whatFailed(k), report.Count(int64(a.failures[k]))))
	}
	clear(a.failures)
	a.counting = nil
	quiet := a.stopped || len(kinds) == 0
	if !quiet {
		a.counted = a.clock()
	}
	a.mu.Unlock()
	if !quiet {
		a.say("store: checks that failed, though no breaker opened: " + strings.Join(kinds, ", ") + ". Fail modes decided on them")
	}
}

// whatFailed is a kind of failure in words where the word alone says little.
func whatFailed(kind string) string {
	switch kind {
	case redislimit.KindTimeout.String():
		return "timeout: no answer in time"
	case redislimit.KindRefused.String():
		return "refused: nobody listens there"
	case redislimit.KindBroken.String():
		return "broken: the connection ended"
	}
	return kind
}

// stop ends it; nothing is said any more.
func (a *alarm) stop() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stopped = true
	for _, end := range []func() bool{a.pending, a.counting} {
		if end != nil {
			end()
		}
	}
}

// mostRulesNamed bounds the rules that a line names for each fail mode.
const mostRulesNamed = 5

// WithoutStore says what decides while the store does not answer, in the words
// of whoever operates it.
func (f *Fleet) WithoutStore() string { return standInText(f.newest.Load().set, f.cfg.Fleet) }

// standInText says what the fail modes of a set's rules do.
func standInText(s *rules.Set, fleet int) string {
	share := fmt.Sprintf("each of %d gateways admits its share of the limit (local)", fleet)
	if fleet == 1 {
		share = "the gateway admits the whole limit, as the only one that it knows of (local)"
	}
	names := map[limit.FailMode][]string{}
	for _, r := range s.Rules {
		if !r.Shadow {
			names[r.OnFailure] = append(names[r.OnFailure], r.Name)
		}
	}
	does := []struct {
		mode limit.FailMode
		text string
	}{
		{limit.FailLocal, share},
		{limit.FailOpen, "everything is admitted (open)"},
		{limit.FailClosed, "everything is refused (closed)"},
	}
	var parts []string
	for _, d := range does {
		of := names[d.mode]
		switch {
		case len(of) == 0:
			continue
		case len(names) == 1:
			return d.text
		case len(of) > mostRulesNamed:
			of = append(of[:mostRulesNamed:mostRulesNamed], fmt.Sprintf("%d more", len(of)-mostRulesNamed))
		}
		parts = append(parts, d.text+" for "+strings.Join(of, ", "))
	}
	if len(parts) == 0 {
		return "everything is admitted, as always: no rule is enforced"
	}
	return strings.Join(parts, "; ")
}

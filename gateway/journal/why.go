package journal

import (
	"cmp"
	"slices"
	"time"
)

// Bounds of an Inquiry, so that a log cannot grow it without end.
const (
	mostSpans   = 100_000
	mostTurns   = 10_000
	mostSources = 16
)

// Inquiry reads logs and finds out why one caller was refused. Lines may come
// in any order, such as those of one file after another. Not safe for
// concurrent use.
type Inquiry struct {
	names        []string
	since, until time.Time // zero is no bound
	a            Answer
	spans        []span
}

// span is a held line about the caller.
type span struct {
	rule     Rule
	version  int64
	from, to time.Time
	held     *Held
}

// NewInquiry asks about a caller under all the names that a log may have for
// it, between two instants; a zero one is no bound.
func NewInquiry(names []string, since, until time.Time) *Inquiry {
	return &Inquiry{names: names, since: since, until: until, a: Answer{Spells: []Spell{}, Versions: []Version{}, Breakers: []Turn{}}}
}

// Answer is what a log says about one caller.
type Answer struct {
	Name string `json:"name"` // as the log has it; "" when it is not there
	Plan string `json:"plan"`
	// From and To are the first and last instant of the part that was read.
	From    time.Time `json:"from"`
	To      time.Time `json:"to"`
	Lines   int64     `json:"lines"`
	Spells  []Spell   `json:"spells"`
	Sampled Sampled   `json:"sampled"`
	// Versions are the changes of the rules while the log was written.
	Versions []Version `json:"versions"`
	Breakers []Turn    `json:"breakers"`
	Missing  Gap       `json:"missing"`
}

// Spell is an unbroken time in which one rule refused the caller, under one
// version: from its first request to its last, in spans that touch. Its counts
// are of all gateways whose logs were read.
type Spell struct {
	Rule
	Version int64     `json:"rules_version"`
	Since   time.Time `json:"since"`
	Until   time.Time `json:"until"`
	// As in Held.
	Admitted      int64            `json:"admitted"`
	AdmittedUnits int64            `json:"admitted_units"`
	Refused       int64            `json:"refused"`
	RefusedBy     map[string]int64 `json:"refused_by"`

	end time.Time // of the newest span
}

// Seconds is from Since to Until.
func (s *Spell) Seconds() float64 { return s.Until.Sub(s.Since).Seconds() }

// Sampled are the caller's decisions that stand in the log one by one.
type Sampled struct {
	Admitted int64 `json:"admitted"`
	Refused  int64 `json:"refused"`
	// Last is the newest of them, nil when there is none.
	Last *Line `json:"last"`
}

// Version is the version of the rules from an instant on.
type Version struct {
	At      time.Time `json:"at"`
	Version int64     `json:"rules_version"`
}

// Turn is a breaker that opened or closed.
type Turn struct {
	At      time.Time `json:"at"`
	Gateway int       `json:"gateway"`
	Breaker
}

// Add takes in the next line.
func (q *Inquiry) Add(l *Line) {
	if !q.since.IsZero() && l.At.Before(q.since) || !q.until.IsZero() && l.At.After(q.until) {
		return
	}
	a := &q.a
	if a.Lines++; a.From.IsZero() || l.At.Before(a.From) {
		a.From = l.At
	}
	if l.At.After(a.To) {
		a.To = l.At
	}
	// A held line has the version that its refusals were under, which may be
	// an older one.
	if n := len(a.Versions); l.Kind != Spent && n < mostTurns && (n == 0 || a.Versions[n-1].Version != l.Version) {
		a.Versions = append(a.Versions, Version{l.At, l.Version})
	}
	switch {
	case l.Kind == Broke && l.Breaker != nil:
		if len(a.Breakers) < mostTurns {
			a.Breakers = append(a.Breakers, Turn{l.At, l.Gateway, *l.Breaker})
		}
	case l.Kind == Dropped && l.Gap != nil:
		a.Missing.Lines += l.Gap.Lines
		a.Missing.Refusals += l.Gap.Refusals
	case l.Caller == nil || !q.about(l.Caller):
	case l.Kind == Decided && l.Decision != nil:
		q.decided(l)
	case l.Kind == Spent && l.Held != nil && l.Rule != nil && l.Held.SpanS >= 0:
		q.held(l)
	}
}

func (q *Inquiry) about(c *Caller) bool {
	if !slices.Contains(q.names, c.Key) && !slices.Contains(q.names, c.Address) {
		return false
	}
	q.a.Name, q.a.Plan = c.Name(), cmp.Or(c.Plan, q.a.Plan)
	return true
}

func (q *Inquiry) decided(l *Line) {
	s := &q.a.Sampled
	if l.Decision.Outcome == "admitted" {
		s.Admitted++
	} else {
		s.Refused++
	}
	s.Last = l
}

func (q *Inquiry) held(l *Line) {
	if len(q.spans) == mostSpans {
		q.a.Missing.Lines++
		return
	}
	length := time.Duration(min(l.Held.SpanS, 1e9) * 1e9)
	q.spans = append(q.spans, span{*l.Rule, l.Version, l.At.Add(-length), l.At, l.Held})
}

// Answer is what was found. It is asked for once.
func (q *Inquiry) Answer() *Answer {
	a := &q.a
	slices.SortStableFunc(q.spans, func(x, y span) int { return x.from.Compare(y.from) })
	slices.SortStableFunc(a.Versions, func(x, y Version) int { return x.At.Compare(y.At) })
	a.Versions = slices.CompactFunc(a.Versions, func(x, y Version) bool { return x.Version == y.Version })
	slices.SortStableFunc(a.Breakers, func(x, y Turn) int { return x.At.Compare(y.At) })
	type id struct {
		rule    Rule
		version int64
	}
	newest := map[id]int{}
	for _, s := range q.spans {
		i, ok := newest[id{s.rule, s.version}]
		// Spans touch; a tenth of one is room for a late timer.
		if !ok || s.from.Sub(a.Spells[i].end) > s.to.Sub(s.from)/10 {
			i = len(a.Spells)
			newest[id{s.rule, s.version}] = i
			a.Spells = append(a.Spells, Spell{Rule: s.rule, Version: s.version, Since: s.held.First, Until: s.held.Last, RefusedBy: map[string]int64{}})
		}
		a.Spells[i].add(&s)
	}
	return a
}

func (s *Spell) add(o *span) {
	h := o.held
	if o.to.After(s.end) {
		s.end = o.to
	}
	if h.First.Before(s.Since) {
		s.Since = h.First
	}
	if h.Last.After(s.Until) {
		s.Until = h.Last
	}
	s.Admitted += h.Admitted
	s.AdmittedUnits += h.AdmittedUnits
	s.Refused += h.Refused
	for source, n := range h.RefusedBy {
		if _, known := s.RefusedBy[source]; known || len(s.RefusedBy) < mostSources {
			s.RefusedBy[source] += n
		}
	}
}

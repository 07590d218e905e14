package journal

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	heldShards = 32
	// heldRules is how many rules a caller's refusals are told apart by.
	heldRules = 16
)

// heldTable counts one span's decisions by caller. Safe for concurrent use.
type heldTable struct {
	seed   maphash.Seed
	from   int64        // when the span began; the writer's own
	missed atomic.Int64 // refusals of callers beyond the table's room
	shards [heldShards]heldShard
}

type heldShard struct {
	mu   sync.Mutex
	rows map[string]*heldRow
	_    [64]byte // keeps neighbours' locks off one cache line
}

// heldRow is one caller's.
type heldRow struct {
	caller          Caller
	first, last     int64 // unix ns
	admitted, units int64
	refused         int64
	rules           []heldRule
}

type heldRule struct {
	Rule
	version int64 // of the rules
	refused int64
	by      []bySource
}

type bySource struct {
	source string
	n      int64
}

func (t *heldTable) reset(now int64) {
	t.seed, t.from = maphash.MakeSeed(), now
	for i := range t.shards {
		t.shards[i].rows = map[string]*heldRow{}
	}
}

// add counts a decision, and reports whether it is the span's first refusal of
// this caller by this rule.
func (t *heldTable) add(now int64, s *Seen, version int64) (first bool) {
	name := s.Caller.Name()
	sh := &t.shards[maphash.String(t.seed, name)%heldShards]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	r := sh.rows[name]
	if r == nil {
		if len(sh.rows) >= followed/heldShards {
			if !s.Admitted {
				t.missed.Add(1)
			}
			return false
		}
		// The name may be part of a whole request line.
		r = &heldRow{first: now, caller: Caller{strings.Clone(s.Caller.Key), strings.Clone(s.Caller.Plan), strings.Clone(s.Caller.Address)}}
		sh.rows[r.caller.Name()] = r
	}
	r.last = max(r.last, now)
	if s.Admitted {
		r.admitted++
		r.units += s.Cost
		return false
	}
	r.refused++
	h, first := r.rule(s, version)
	h.refused++
	for i := range h.by {
		if h.by[i].source == s.Source {
			h.by[i].n++
			return first
		}
	}
	h.by = append(h.by, bySource{s.Source, 1})
	return first
}

// rule finds or makes the row of the rule that refused. A limit is told apart
// by whose it is and by the rules' version. Beyond heldRules the last takes the rest.
func (r *heldRow) rule(s *Seen, version int64) (h *heldRule, first bool) {
	for i := range r.rules {
		if h := &r.rules[i]; h.Name == s.Rule && h.From == s.From && h.version == version {
			return h, false
		}
	}
	if len(r.rules) == heldRules {
		return &r.rules[heldRules-1], false
	}
	r.rules = append(r.rules, heldRule{Rule: *s.rule(), version: version})
	return &r.rules[len(r.rules)-1], true
}

// end takes the rows of the callers that were refused, the most refused first
// and at most so many, and begins a span. left is how many refusals are in
// the rows that it left out.
func (t *heldTable) end(now int64, most int) (rows []*heldRow, left, from int64) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.mu.Lock()
		all := sh.rows
		sh.rows = make(map[string]*heldRow, min(len(all), 1024))
		sh.mu.Unlock()
		for _, r := range all {
			if r.refused > 0 {
				rows = append(rows, r)
			}
		}
	}
	slices.SortFunc(rows, func(a, b *heldRow) int {
		return cmp.Or(cmp.Compare(b.refused, a.refused), cmp.Compare(a.caller.Name(), b.caller.Name()))
	})
	for _, r := range rows[min(most, len(rows)):] {
		left += r.refused
	}
	from, t.from = t.from, now
	return rows[:min(most, len(rows))], left, from
}

// held is what the log says about the row's ith rule, of a span of so many
// seconds.
func (r *heldRow) held(i int, span float64) *Held {
	h := &Held{SpanS: span, First: time.Unix(0, r.first).UTC(), Last: time.Unix(0, r.last).UTC(),
		Admitted: r.admitted, AdmittedUnits: r.units, Refused: r.rules[i].refused, RefusedBy: map[string]int64{}}
	for _, b := range r.rules[i].by {
		h.RefusedBy[b.source] = b.n
	}
	return h
}

func (s *Seen) rule() *Rule {
	r := &Rule{Name: s.Rule, From: s.From}
	if s.Limit != nil {
		r.Limit = s.Limit.String()
	}
	return r
}

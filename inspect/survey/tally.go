package survey

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-cli/weir/inspect"
)

// Sighting is one key of a survey and what it means.
type Sighting struct {
	Key *Key
	// Reading is nil for a key that no layout fits, and for one that belongs to
	// a state which another of its keys stands for.
	Reading *inspect.Reading
	Part    bool // of a state that another key stands for
	// Own is what weir keeps beside limits; nil for any other key.
	Own   *inspect.Record
	Known bool // the limit is known, and so Wait and Out
	Out   bool // a call of cost 1 does not pass now
	Wait  time.Duration
}

func sight(k *Key, r *inspect.Reading) Sighting {
	s := Sighting{Key: k, Reading: r}
	if r != nil {
		s.Wait, s.Known = r.Wait(1)
		s.Out = s.Known && s.Wait != 0
	}
	return s
}

// Sums are what is added up for keys of one kind.
type Sums struct {
	Keys   int64 `json:"keys"`
	States int64 `json:"states"` // of which several keys may be one
	Bytes  int64 `json:"bytes"`
	NoTTL  int64 `json:"no_ttl"`
	Known  int64 `json:"known"` // states whose limit is known
	Out    int64 `json:"out"`   // of those, that have nothing left for a call of cost 1
}

func (s *Sums) add(x *Sighting) {
	s.Keys++
	s.Bytes += max(x.Key.Bytes, 0)
	if x.Key.TTL == inspect.NoTTL {
		s.NoTTL++
	}
	if x.Reading != nil {
		s.States++
	}
	if x.Known {
		s.Known++
	}
	if x.Out {
		s.Out++
	}
}

func (s *Sums) plus(o *Sums) {
	s.Keys += o.Keys
	s.States += o.States
	s.Bytes += o.Bytes
	s.NoTTL += o.NoTTL
	s.Known += o.Known
	s.Out += o.Out
}

// Table has sums by name, for the first names that come up to a bound, and
// those of all others in one.
type Table struct {
	Rows  map[string]*Sums `json:"rows"`
	Other Sums             `json:"other"`
}

// maxTable bounds the rows of a table.
const maxTable = 512

func (t *Table) row(name string) *Sums {
	if r := t.Rows[name]; r != nil {
		return r
	}
	if len(t.Rows) >= maxTable {
		return &t.Other
	}
	if t.Rows == nil {
		t.Rows = map[string]*Sums{}
	}
	r := &Sums{}
	t.Rows[strings.Clone(name)] = r
	return r
}

func (t *Table) plus(o *Table) {
	for _, name := range slices.Sorted(maps.Keys(o.Rows)) {
		t.row(name).plus(o.Rows[name])
	}
	t.Other.plus(&o.Other)
}

// Keys are how many keys it has, in all rows.
func (t *Table) Keys() int64 {
	n := t.Other.Keys
	for _, r := range t.Rows {
		n += r.Keys
	}
	return n
}

// Names are those of the rows, the largest by memory first.
func (t *Table) Names() []string {
	names := slices.Sorted(maps.Keys(t.Rows))
	slices.SortStableFunc(names, func(a, b string) int {
		x, y := t.Rows[a], t.Rows[b]
		switch {
		case x.Bytes != y.Bytes:
			return sign(y.Bytes - x.Bytes)
		default:
			return sign(y.Keys - x.Keys)
		}
	})
	return names
}

func sign(n int64) int {
	switch {
	case n > 0:
		return 1
	case n < 0:
		return -1
	}
	return 0
}

// Trouble is how often decoding found something odd, with an example.
type Trouble struct {
	States int64  `json:"states"`
	Key    string `json:"key"`
	Text   string `json:"text"`
}

// Tally is what a survey adds up. Its size is bounded, and it can be written
// down and gone on with. Not safe for concurrent use.
type Tally struct {
	All      Sums                `json:"all"`
	Parts    int64               `json:"parts"`    // keys of states that another key stands for
	Unknown  Sums                `json:"unknown"`  // that no layout fits
	Own      Table               `json:"own"`      // what weir keeps beside limits, by kind
	Records  []inspect.Record    `json:"records"`  // the first of them, without meters
	Gone     int64               `json:"gone"`     // that expired between being listed and being read
	Unread   int64               `json:"unread"`   // whose value was too large, or their name
	Layouts  Table               `json:"layouts"`  // by layout
	Rules    Table               `json:"rules"`    // by layout and rule
	Stems    Table               `json:"stems"`    // of unknown keys, by type and how the name begins
	Problems map[string]*Trouble `json:"problems"` // by id
	Tops     map[string]*Top     `json:"tops"`     // by order
}

// NewTally returns one that keeps the foremost top rows of each order.
func NewTally(top int) *Tally {
	t := &Tally{Problems: map[string]*Trouble{}, Tops: map[string]*Top{}}
	for _, order := range Orders {
		t.Tops[order] = &Top{Most: top}
	}
	return t
}

// maxProblems bounds the kinds of trouble, which come from code.
const maxProblems = 64

// RuleName is the name of a row of Tally.Rules.
func RuleName(layout, rule string) string { return layout + "\x00" + rule }

func (t *Tally) add(x *Sighting) {
	t.All.add(x)
	if x.Key.Problem != "" {
		t.Unread++
	}
	r := x.Reading
	switch {
	case x.Part:
		t.Parts++
	case x.Own != nil:
		t.Own.row(x.Own.Kind).add(x)
		t.record(*x.Own)
	case r == nil:
		t.Unknown.add(x)
		t.Stems.row(x.Key.Type + "\x00" + stem(x.Key.Key)).add(x)
	default:
		t.Layouts.row(r.Layout.Name).add(x)
		if r.Rule != "" && len(r.Rule) <= maxRule {
			t.Rules.row(RuleName(r.Layout.Name, r.Rule)).add(x)
		}
		for _, p := range r.Problems {
			// That the limit that was told is another writer's goes without
			// saying where many writers are.
			if p.ID != "limit-misfit" {
				t.trouble(p, x.Key.Key)
			}
		}
	}
	ranks(x, func(order string, rank float64) {
		if top := t.Tops[order]; top != nil && top.takes(rank) {
			top.add(rowOf(x, rank))
		}
	})
}

// maxRule is the longest name of a rule that has a row, in bytes.
const maxRule = 200

func (t *Tally) trouble(p inspect.Problem, key string) {
	old := t.Problems[p.ID]
	if old == nil {
		if len(t.Problems) >= maxProblems {
			return
		}
		old = &Trouble{Key: key, Text: p.Text}
		t.Problems[p.ID] = old
	}
	old.States++
}

// maxRecords bounds the records that are told one by one. A fleet has two.
const maxRecords = 16

func (t *Tally) record(r inspect.Record) {
	if r.Kind != inspect.RecordMeter && len(t.Records) < maxRecords {
		t.Records = append(t.Records, r)
	}
}

// Known are the records, where the rules know from their history who wrote
// them. A history is told for itself when its rules are not among them.
func (t *Tally) Known() []inspect.Record {
	histories := map[string]*inspect.Record{}
	for i := range t.Records {
		if r := &t.Records[i]; r.Kind == inspect.RecordHistory {
			histories[r.Key] = r
		}
	}
	var out []inspect.Record
	for _, r := range t.Records {
		if r.Kind == inspect.RecordRules {
			if h := histories[inspect.HistoryKey(r.Key)]; h != nil {
				r.By(h)
				delete(histories, h.Key)
			}
			out = append(out, r)
		}
	}
	for _, h := range histories {
		out = append(out, *h)
	}
	slices.SortFunc(out, func(a, b inspect.Record) int { return strings.Compare(b.Kind+"\x00"+b.Key, a.Kind+"\x00"+a.Key) })
	return out
}

// Plus adds what another tally has.
func (t *Tally) Plus(o *Tally) {
	t.All.plus(&o.All)
	t.Unknown.plus(&o.Unknown)
	t.Own.plus(&o.Own)
	for _, r := range o.Records {
		t.record(r)
	}
	t.Parts += o.Parts
	t.Gone += o.Gone
	t.Unread += o.Unread
	t.Layouts.plus(&o.Layouts)
	t.Rules.plus(&o.Rules)
	t.Stems.plus(&o.Stems)
	for _, id := range slices.Sorted(maps.Keys(o.Problems)) {
		p := o.Problems[id]
		if old := t.Problems[id]; old != nil {
			old.States += p.States
		} else if len(t.Problems) < maxProblems {
			c := *p
			t.Problems[id] = &c
		}
	}
	for order, top := range o.Tops {
		if mine := t.Tops[order]; mine != nil {
			for _, r := range top.Rows {
				mine.add(r)
			}
		}
	}
}

package survey

import (
	"container/heap"
	"slices"
	"strings"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// Row is what is kept of a key or state that is among the foremost.
type Row struct {
	Rank      float64      `json:"rank"` // by which it is among them, the highest first
	Key       string       `json:"key"`
	Node      string       `json:"node,omitempty"`
	Type      string       `json:"type"`
	Layout    string       `json:"layout,omitempty"` // "" for an unknown one
	Own       string       `json:"own,omitempty"`    // of what weir keeps beside limits, its kind
	Sure      inspect.Sure `json:"sure"`
	ID        string       `json:"id,omitempty"`
	Rule      string       `json:"rule,omitempty"`
	Bytes     int64        `json:"bytes"`     // -1 not known
	TTL       int64        `json:"ttl_ns"`    // inspect.NoTTL for none
	Idle      int64        `json:"idle_ns"`   // -1 not known
	Frequency int64        `json:"frequency"` // -1 not known
	Length    int64        `json:"length"`
	Used      *int64       `json:"used,omitempty"`
	Remaining *int64       `json:"remaining,omitempty"`
	Capacity  *int64       `json:"capacity,omitempty"`
	Wait      *int64       `json:"wait_ns,omitempty"` // of a call of cost 1; limit.Never and limit.Unknown too
}

// Top keeps the foremost rows of one order. The zero value keeps none.
type Top struct {
	Most int   `json:"most"`
	Rows []Row `json:"rows"` // a heap, the last of them first
}

// takes reports whether a rank would be kept.
func (t *Top) takes(rank float64) bool {
	return t.Most > 0 && (len(t.Rows) < t.Most || rank > t.Rows[0].Rank)
}

func (t *Top) add(r Row) {
	if !t.takes(r.Rank) {
		return
	}
	if len(t.Rows) == t.Most {
		t.Rows[0] = r
		heap.Fix((*lowest)(t), 0)
		return
	}
	heap.Push((*lowest)(t), r)
}

// Sorted are the rows, the foremost first.
func (t *Top) Sorted() []Row {
	out := slices.Clone(t.Rows)
	slices.SortFunc(out, func(a, b Row) int {
		switch {
		case a.Rank > b.Rank:
			return -1
		case a.Rank < b.Rank:
			return 1
		}
		return strings.Compare(a.Key, b.Key)
	})
	return out
}

// lowest is a Top as a heap.
type lowest Top

func (h *lowest) Len() int           { return len(h.Rows) }
func (h *lowest) Less(i, j int) bool { return h.Rows[i].Rank < h.Rows[j].Rank }
func (h *lowest) Swap(i, j int)      { h.Rows[i], h.Rows[j] = h.Rows[j], h.Rows[i] }
func (h *lowest) Push(x any)         { h.Rows = append(h.Rows, x.(Row)) }
func (h *lowest) Pop() any {
	last := h.Rows[len(h.Rows)-1]
	h.Rows = h.Rows[:len(h.Rows)-1]
	return last
}

// Orders are the names of what a survey keeps the foremost of.
var Orders = []string{"out", "used", "hottest", "biggest", "oldest", "no-ttl"}

// knownFirst puts those whose share of their limit is known before those of
// whom only a count is.
const knownFirst = 1 << 40

// ranks are where a sighting stands in each order that it belongs to.
func ranks(s *Sighting, visit func(order string, rank float64)) {
	k := s.Key
	if k.Bytes >= 0 {
		visit("biggest", float64(k.Bytes))
	}
	if s.Own != nil {
		return // neither hot nor old, and right without a time to live
	}
	if k.TTL == inspect.NoTTL {
		visit("no-ttl", float64(k.Bytes))
	}
	if k.Idle >= 0 {
		visit("oldest", float64(k.Idle))
	}
	r := s.Reading
	switch {
	case k.Frequency >= 0:
		visit("hottest", float64(k.Frequency))
	case r != nil && r.LastUse != nil && *r.LastUse <= r.Now:
		visit("hottest", -float64(r.Now-*r.LastUse))
	case k.Idle >= 0:
		visit("hottest", -float64(k.Idle))
	}
	if r == nil {
		return
	}
	switch {
	case r.Used != nil && *r.Used > 0 && r.Capacity != nil && *r.Capacity > 0:
		visit("used", knownFirst+float64(*r.Used)/float64(*r.Capacity))
	case r.Used != nil && *r.Used > 0:
		visit("used", float64(min(*r.Used, knownFirst-1)))
	}
	if s.Out {
		visit("out", outRank(s))
	}
}

// outRank is how long who is out of tokens must wait.
func outRank(s *Sighting) float64 {
	switch s.Wait {
	case limit.Never:
		return 4e18
	case limit.Unknown:
		return 3e18
	}
	return float64(s.Wait)
}

func rowOf(s *Sighting, rank float64) Row {
	k := s.Key
	row := Row{Rank: rank, Key: k.Key, Node: k.Node, Type: k.Type, Bytes: k.Bytes, TTL: int64(k.TTL), Idle: int64(k.Idle), Frequency: k.Frequency, Length: k.Len}
	if s.Own != nil {
		row.Own = s.Own.Kind
	}
	if r := s.Reading; r != nil {
		row.Layout, row.Sure, row.ID, row.Rule = r.Layout.Name, r.Sure, r.ID, r.Rule
		row.Used, row.Remaining, row.Capacity = r.Used, r.Remaining, r.Capacity
		if s.Known {
			wait := int64(s.Wait)
			row.Wait = &wait
		}
	}
	return row
}

package metering

import "math"

// Totals adds up running totals that arrive in any order, some twice and some
// never: of each, the largest value counts. ID names one running total, which
// begins at 0 and never falls. The zero value is ready. Not safe for
// concurrent use.
type Totals[ID comparable] struct {
	newest map[ID]newest
	sum    int64
}

// newest is what is known of one running total. It only depends on which
// values were seen, not on their order.
type newest struct {
	most int64 // largest value
	seq  int64 // highest number
	// low is the smallest value under seq. Below most, the total has fallen,
	// which an honest sender's never does.
	low int64
}

// Apply takes in a value and its number among the values of id. It returns by
// how much the sum grew: 0 for one that says nothing new.
func (t *Totals[ID]) Apply(id ID, seq, total int64) (added int64) {
	n, known := t.newest[id]
	switch {
	case !known || seq > n.seq:
		n.seq, n.low = seq, total
	case seq == n.seq:
		n.low = min(n.low, total)
	}
	if total > n.most {
		added = total - n.most
		n.most = total
	}
	if t.newest == nil {
		t.newest = map[ID]newest{}
	}
	t.newest[id] = n
	t.sum = plus(t.sum, added)
	return added
}

// Of is the largest value of id.
func (t *Totals[ID]) Of(id ID) int64 { return t.newest[id].most }

// Sum adds up the largest value of each. It stops at the largest int64.
func (t *Totals[ID]) Sum() int64 { return t.sum }

// Fell reports whether id's newest value is below an older one: two senders
// use one name, or a sender went back.
func (t *Totals[ID]) Fell(id ID) bool { return t.newest[id].low < t.newest[id].most }

// plus adds what is not negative, up to the largest int64.
func plus(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

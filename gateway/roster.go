package gateway

import "strings"

// roster is a bounded table of what a gateway keeps for keys. The zero value
// is empty. Its owner serialises access.
type roster[V any] struct {
	rows    map[accountKey]*V
	sweepAt int   // rows
	swept   int64 // when
}

// rosterRows is the most rows of one.
const rosterRows = deskKeys / deskShards

// row finds or makes a key's row. idle says which rows are as good as none and
// may make way; nil is returned when there is no room.
func (r *roster[V]) row(k accountKey, now int64, idle func(*V) bool) *V {
	if v := r.rows[k]; v != nil {
		return v
	}
	n := len(r.rows)
	if full := n >= rosterRows; n >= max(r.sweepAt, firstSweep) || full && now-r.swept >= sweepLeast {
		for k, v := range r.rows {
			if idle(v) {
				delete(r.rows, k)
			}
		}
		r.sweepAt, r.swept = 2*len(r.rows), now
	}
	if len(r.rows) >= rosterRows {
		return nil
	}
	if r.rows == nil {
		r.rows = map[accountKey]*V{}
	}
	v := new(V)
	// The subject may be part of a whole request line; keep no more than it.
	k.subject = strings.Clone(k.subject)
	r.rows[k] = v
	return v
}

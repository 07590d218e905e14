// Package metering counts what each key used, apart from what limits it: a
// limiter may fail open, lend tokens or be reset, and the count goes on.
//
// A [Meter] is one gateway's side. It keeps a running total per key and gives
// out those that changed as [Record]s of absolute values. A [Book] is the
// reader's side. It folds records in any order, any number of times each, to
// the same totals; what is lost is made up for by the next record of the same
// key. Only what a gateway had not yet given out when it crashed is gone, and
// the book names each gateway that went without saying so.
package metering

import (
	"fmt"
	"strconv"
	"time"
)

// Kind says what a Record tells.
type Kind string

const (
	Begin Kind = "begin" // an instance came up
	Total Kind = "total" // a key's running total
	Beat  Kind = "beat"  // an instance's totals of all keys, and that it lives
	End   Kind = "end"   // the same, and that nothing follows
)

// Bounds of a Record. Totals stay where every JSON reader counts exactly.
const (
	MaxTotal = 1<<53 - 1
	MaxText  = 512 // bytes of an instance's name and of a key
)

// Record is one line of a meter's output. Begin, Beat and End have no key.
type Record struct {
	Kind     Kind      `json:"kind"`
	Instance string    `json:"instance"`
	Gateway  int       `json:"gateway"` // from 1
	At       time.Time `json:"at"`
	// Seq counts an instance's flushes, from 1; a Begin has 0. A key stands in
	// one flush once at most.
	Seq int64  `json:"seq"`
	Key string `json:"key,omitempty"`
	// Start is when the key's running total began at 0, unix ns. A key that was
	// idle for long may begin again; its earlier total still counts.
	Start    int64 `json:"start,omitempty"`
	Units    int64 `json:"units"`    // admitted since Start, or by the instance
	Requests int64 `json:"requests"` // that these were
}

// RecordError says what about a record cannot be believed.
type RecordError struct{ Field, Value, Why string }

func (e *RecordError) Error() string { return fmt.Sprintf("%s %q: %s", e.Field, e.Value, e.Why) }

// Check refuses what no Meter writes.
func (r *Record) Check() error {
	number := func(field string, n int64) error {
		if n < 0 || n > MaxTotal {
			return &RecordError{field, strconv.FormatInt(n, 10), "want 0 to 2^53-1"}
		}
		return nil
	}
	switch r.Kind {
	case Begin, Beat, End:
		if r.Key != "" || r.Start != 0 {
			return &RecordError{"key", shortened(r.Key), "a record of kind " + string(r.Kind) + " has none"}
		}
	case Total:
	default:
		return &RecordError{"kind", shortened(string(r.Kind)), "want begin, total, beat or end"}
	}
	switch {
	case r.Instance == "" || len(r.Instance) > MaxText:
		return &RecordError{"instance", shortened(r.Instance), "want 1 to 512 bytes"}
	case len(r.Key) > MaxText:
		return &RecordError{"key", shortened(r.Key), "want at most 512 bytes"}
	case r.Gateway < 0:
		return &RecordError{"gateway", strconv.Itoa(r.Gateway), "must not be negative"}
	}
	for _, err := range []error{number("seq", r.Seq), number("units", r.Units), number("requests", r.Requests)} {
		if err != nil {
			return err
		}
	}
	return nil
}

func shortened(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

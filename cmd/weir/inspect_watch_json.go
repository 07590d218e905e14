package main

import (
	"encoding/json"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// watchJSON writes a document a line.
type watchJSON struct{ e *json.Encoder }

// lookJSON is weir.inspect.watch/v1 of one look; docs/inspect.md describes each
// field.
type lookJSON struct {
	Schema     string      `json:"schema"`
	Kind       string      `json:"kind"`
	At         time.Time   `json:"at"`
	Key        string      `json:"key,omitempty"`
	Layout     string      `json:"layout,omitempty"`
	Limit      string      `json:"limit,omitempty"`
	Capacity   *int64      `json:"capacity,omitempty"`
	Used       *int64      `json:"used,omitempty"`
	Remaining  *int64      `json:"remaining,omitempty"`
	Held       *float64    `json:"held,omitempty"`
	Next       string      `json:"next,omitempty"`
	WaitMS     *float64    `json:"wait_ms,omitempty"`
	FullAt     *time.Time  `json:"full_at,omitempty"`
	LastUse    *time.Time  `json:"last_use,omitempty"`
	WindowEnd  *time.Time  `json:"window_end,omitempty"`
	TTLMS      *int64      `json:"ttl_ms"`
	IntervalMS float64     `json:"interval_ms"`
	Admitted   *int64      `json:"admitted,omitempty"`
	AtLeast    bool        `json:"at_least,omitempty"`
	Counted    bool        `json:"counted,omitempty"`
	Refilled   *float64    `json:"refilled,omitempty"`
	Events     []eventJSON `json:"events"`
}

type eventJSON struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// watchEndJSON is the last line.
type watchEndJSON struct {
	Schema   string  `json:"schema"`
	Kind     string  `json:"kind"`
	Looks    int     `json:"looks"`
	Seconds  float64 `json:"seconds"`
	Admitted *int64  `json:"admitted,omitempty"`
	AtLeast  bool    `json:"at_least,omitempty"`
	Counted  bool    `json:"counted,omitempty"`
	Events   int     `json:"event_count"`
}

const watchSchema = "weir.inspect.watch/v1"

func (x *watchJSON) look(l *look, _ *watchTotals) error {
	out := lookJSON{Schema: watchSchema, Kind: "look", At: time.Unix(0, l.now).UTC(), Events: []eventJSON{}}
	if r := l.r; r != nil {
		full := readingOf(r, 1)
		out.Key, out.Layout, out.Limit = exact(r.Entries[0].Key), full.Layout, full.Limit
		out.Capacity, out.Used, out.Remaining, out.Held = full.Capacity, full.Used, full.Remaining, full.Held
		out.Next, out.WaitMS, out.FullAt, out.LastUse, out.WindowEnd = full.Next, full.WaitMS, full.FullAt, full.LastUse, full.WindowEnd
		out.TTLMS = full.Keys[0].TTLMS
		out.IntervalMS = milliseconds(l.move.Interval)
		out.Admitted, out.AtLeast, out.Counted, out.Refilled = l.move.Admitted, l.move.AtLeast, l.move.Counted, l.move.Refilled
		for _, e := range l.move.Events {
			out.Events = append(out.Events, eventJSON(e))
		}
	}
	return x.e.Encode(out)
}

func (x *watchJSON) end(t *watchTotals) error {
	out := watchEndJSON{Schema: watchSchema, Kind: "summary", Looks: t.looks, Seconds: t.length.Seconds(), Events: t.events}
	if t.known {
		out.Admitted, out.AtLeast, out.Counted = &t.admitted, t.atLeast, t.counted
	}
	return x.e.Encode(out)
}

// ahead is what is to come, for a call of cost 1.
func (l *look) ahead() []string { return l.r.Ahead(1) }

// share is how much of the whole allowance is left, from 0 to 1; ok is false
// when that is not known.
func share(r *inspect.Reading) (float64, bool) {
	if r.Capacity == nil || *r.Capacity <= 0 || r.Remaining == nil {
		return 0, false
	}
	left := float64(*r.Remaining)
	if r.Held != nil && r.Algorithm != limit.Concurrency.String() {
		left = *r.Held
	}
	return min(max(left/float64(*r.Capacity), 0), 1), true
}

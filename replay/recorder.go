package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// feedEvents is how many events the collector is given at a time.
const feedEvents = 256

// keyBook is what is remembered of a key beside the collector's figures.
type keyBook struct {
	offered, refused int64
	first, last      int64 // refusals, ns since the start
}

// recorder makes a result of decisions.
type recorder struct {
	promise *report.Promise
	watch   Watch
	c       *report.Collector // once the run has begun
	keys    *keyTable
	books   []keyBook
	other   keyBook
	start   int64 // Call.At of instant 0
	n       int64 // calls recorded
	end     int64
	events  []report.Event // that the collector has not been given yet
}

// Watch is told of a replay once it begins, and returns who sees each of its
// events, in order; nil is nobody.
type Watch func(report.Setup) (tap func(*report.Event))

func newRecorder(hidden bool, promise *report.Promise, watch Watch) *recorder {
	return &recorder{keys: newKeyTable(hidden), promise: promise, watch: watch, events: make([]report.Event, 0, feedEvents)}
}

// startAt fixes instant 0, the first time it is called. Its wall clock tells
// the collector how windows lie.
func (r *recorder) startAt(at int64) {
	if r.c != nil {
		return
	}
	r.start = at
	setup := report.Setup{Names: report.Names{Key: r.keys.label}, Promise: r.promise, Start: time.Unix(0, at)}
	if r.watch != nil {
		setup.Tap = r.watch(setup)
	}
	r.c = report.NewCollector(setup)
}

// verdict is an outcome as it is recorded.
type verdict struct {
	report.Verdict
	wait time.Duration // of a refusal; below 0 is none to speak of
	took int64         // ns until the answer
	// atOnce: it was decided for the time of the call, however long the answer
	// took.
	atOnce bool
}

// record adds a decided call of key id.
func (r *recorder) record(id uint32, at, cost int64, v verdict) {
	at -= r.start
	r.events = append(r.events, report.Event{Due: at, Sent: at, First: at, Done: at + v.took, Wait: -1, Attempt: 1,
		Key: id, Client: id, Cost: uint32(cost), Verdict: v.Verdict, Has: report.HasFirst})
	e := &r.events[len(r.events)-1]
	if v.took > 0 && !v.atOnce {
		e.First = e.Done
	}
	b := &r.other
	if id < rest {
		b = &r.books[id]
	}
	b.offered++
	switch v.Verdict {
	case report.Admitted:
		e.Status = 200
	case report.Refused:
		e.Status = 429
		if v.wait > 0 {
			e.RetryAfter = int64(v.wait)
			e.Has |= report.HasRetryAfter
		}
		if b.refused == 0 {
			b.first = at
		}
		b.refused++
		b.last = at
	default:
		e.Class = report.OtherError
	}
	r.end = max(r.end, e.Done)
	r.n++
	if len(r.events) == feedEvents {
		r.feed()
	}
}

// feed gives the collector what it has not seen.
func (r *recorder) feed() {
	r.c.Feed(r.events)
	r.events = r.events[:0]
}

// id numbers a key and makes room for its book.
func (r *recorder) id(key []byte) uint32 { return r.idOf(r.keys.hash(key), key) }

// idOf is id for a key whose hash is known.
func (r *recorder) idOf(hash uint64, key []byte) uint32 {
	id, fresh := r.keys.idOf(hash, key)
	if fresh {
		r.books = append(r.books, keyBook{})
	}
	return id
}

// mostRefused is how many of the refused keys are listed.
const mostRefused = 20

// finish builds the result.
func (r *recorder) finish(m report.Meta, seen Seen, trace string) *report.Result {
	if m.Duration == 0 {
		m.Duration = max(r.end, 1)
	}
	r.startAt(0)
	r.feed()
	result := r.c.Finish(m)
	result.StartedAt = ""
	if !seen.Relative && seen.Calls > 0 {
		result.StartedAt = time.Unix(0, seen.From).UTC().Format(time.RFC3339Nano)
	}
	result.Replay = &report.Replay{Trace: TraceOf(trace, &seen)}
	if span := (seen.To - seen.From) / 1e9; !seen.Finer && span > 0 && seen.Calls > span {
		result.Notes = append(result.Notes, "the trace's times are whole seconds: all calls of a second count as of its start, so a burst below what one second brings refuses more here than it would have")
	}
	if n := seen.Unavailable; n > 0 {
		result.Notes = append(result.Notes, fmt.Sprintf("%s calls of the trace have status 503, which counts as admitted there; if the limiter answered it, as nginx does unless told otherwise, say --refused 429,503", report.Count(n)))
	}
	r.refusedKeys(result.Replay)
	return result
}

func (r *recorder) refusedKeys(p *report.Replay) {
	var worst []uint32
	for id := range r.books {
		if b := &r.books[id]; b.refused > 0 {
			p.RefusedKeys++
			worst = append(worst, uint32(id))
		}
	}
	slices.SortFunc(worst, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(r.books[b].refused, r.books[a].refused), cmp.Compare(a, b))
	})
	for _, id := range worst[:min(len(worst), mostRefused)] {
		b := &r.books[id]
		p.Refused = append(p.Refused, report.RefusedKey{Key: r.keys.label(id), Offered: b.offered, Refused: b.refused,
			FirstS: seconds(b.first), LastS: seconds(b.last)})
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// TraceOf is what was seen as the result has it.
func TraceOf(name string, s *Seen) report.ReplayTrace {
	t := report.ReplayTrace{Name: name, Format: s.Format, Lines: s.Lines, Calls: s.Calls, Passed: s.Passed, Broken: s.Broken,
		Backwards: s.Backwards, MostBackS: seconds(s.MostBack), SpanS: seconds(s.To - s.From)}
	for i := range s.First {
		b := &s.First[i]
		t.FirstBroken = append(t.FirstBroken, report.BrokenLine{Line: b.Line, Why: b.Err.Error(), Text: b.Text})
	}
	return t
}

// outcomeOf is a limiter's decision as it is recorded. A call that waits in a
// queue is let go later.
func outcomeOf(d *limit.Decision) verdict {
	if d.OK {
		return verdict{Verdict: report.Admitted}
	}
	return verdict{Verdict: report.Refused, wait: d.RetryAfter}
}

package replay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// mergeEvery is how many events go by between two merges.
const mergeEvery = 8192

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
	shard   *report.Shard
	keys    *keyTable
	books   []keyBook
	other   keyBook
	start   int64 // Call.At of instant 0
	n       int64
	end     int64
	ev      report.Event
}

// Watch is told of a replay once it begins, and returns who sees each of its
// events, in order; nil is nobody.
type Watch func(report.Setup) (tap func(*report.Event))

func newRecorder(hidden bool, promise *report.Promise, watch Watch) *recorder {
	r := &recorder{keys: newKeyTable(hidden), promise: promise, watch: watch}
	r.ev = report.Event{Wait: -1, Attempt: 1, Has: report.HasFirst}
	return r
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
	r.shard = r.c.Shard()
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
	e := &r.ev
	e.Due, e.Sent, e.First, e.Done = at, at, at, at+v.took
	if v.took > 0 && !v.atOnce {
		e.First = e.Done
	}
	e.Key, e.Client, e.Cost = id, id, uint32(cost)
	e.Verdict, e.Has, e.RetryAfter, e.Class = v.Verdict, report.HasFirst, 0, report.NoError
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
		e.Status, e.Class = 0, report.OtherError
	}
	r.end = max(r.end, e.Done)
	r.shard.Record(e)
	if r.n++; r.n%mergeEvery == 0 {
		r.c.Merge(e.Done)
	}
}

// id numbers a key and makes room for its book.
func (r *recorder) id(key []byte) (id uint32, fresh bool) {
	if id, fresh = r.keys.id(key); fresh {
		r.books = append(r.books, keyBook{})
	}
	return id, fresh
}

// mostRefused is how many of the refused keys are listed.
const mostRefused = 20

// finish builds the result.
func (r *recorder) finish(m report.Meta, seen Seen, trace string) *report.Result {
	if m.Duration == 0 {
		m.Duration = max(r.end, 1)
	}
	r.startAt(0)
	r.shard.Close()
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

package journal

import (
	"bufio"
	"encoding/json"
	"io"
	"time"

	"github.com/weir-cli/weir/limit"
)

// writer is what the journal's one goroutine writes with.
type writer struct {
	buf    *bufio.Writer
	json   *json.Encoder
	err    error // the first; nothing is written after it
	pace   limit.BucketRule
	bucket limit.Bucket
	told   int64 // dropped lines that the log has said
}

func newWriter(to io.Writer, pace limit.BucketRule) writer {
	w := writer{buf: bufio.NewWriterSize(to, 64<<10), pace: pace}
	w.json = json.NewEncoder(w.buf)
	w.json.SetEscapeHTML(false)
	return w
}

// write works the ring off until Close.
func (j *Journal) write() {
	span := time.NewTicker(j.o.Every)
	defer span.Stop()
	flush := time.NewTicker(min(flushEvery, j.o.Every))
	defer flush.Stop()
	for {
		select {
		case l := <-j.lines:
			j.writePaced(&l)
		case <-span.C:
			j.endSpan(j.o.Now())
		case <-flush.C:
			j.flush()
		case <-j.stop:
			for {
				select {
				case l := <-j.lines:
					j.writePaced(&l)
					continue
				default:
				}
				break
			}
			j.endSpan(j.o.Now())
			j.flush()
			return
		}
	}
}

// writePaced keeps decisions to the pace; whatever else happens is rare.
func (j *Journal) writePaced(l *Line) {
	w := &j.writer
	if l.Kind == Decided && !w.bucket.Take(&w.pace, l.At.UnixNano(), 1).OK {
		j.dropped.Add(1)
		return
	}
	j.writeLine(l)
}

func (j *Journal) writeLine(l *Line) {
	w := &j.writer
	if w.err == nil {
		w.err = w.json.Encode(l)
	}
	if w.err != nil {
		j.dropped.Add(1)
		return
	}
	j.written.Add(1)
}

// endSpan writes the counts of the span that ends now, and what is missing.
func (j *Journal) endSpan(now int64) {
	rows, left, from := j.held.end(now, mostHeld)
	span := max(0, time.Duration(now-from).Seconds())
	for _, r := range rows {
		for i := range r.rules {
			l := j.at(now, Spent)
			l.Version = r.rules[i].version
			l.Caller, l.Rule, l.Held = j.shown(&r.caller), &r.rules[i].Rule, r.held(i, span)
			j.writeLine(&l)
		}
	}
	refusals := left + j.held.missed.Swap(0)
	if lines := j.dropped.Load() - j.writer.told; lines > 0 || refusals > 0 {
		l := j.at(now, Dropped)
		l.Gap = &Gap{lines, refusals}
		j.writer.told += lines
		j.writeLine(&l)
	}
}

func (j *Journal) flush() {
	if err := j.writer.buf.Flush(); j.writer.err == nil {
		j.writer.err = err
	}
}

package report

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// EventsSchema names the form of a saved run: a header line, one line per
// event in the order of Done, and a last line with what Finish needs. Each
// line is a JSON object.
const EventsSchema = "weir.events/v1"

// Header is the first line of a saved run.
type Header struct {
	Schema    string       `json:"schema"`
	Source    string       `json:"source"`
	Name      string       `json:"name"`
	Seed      int64        `json:"seed"`
	Repeat    string       `json:"repeat,omitempty"`
	StartedAt *time.Time   `json:"started_at,omitempty"`
	Promise   *promiseJSON `json:"promise,omitempty"`
}

type promiseJSON struct {
	Text       string `json:"text"`
	Units      int64  `json:"units,omitempty"`
	Per        int64  `json:"per_ns,omitempty"`
	Burst      int64  `json:"burst,omitempty"`
	Limit      int64  `json:"limit,omitempty"`
	Window     int64  `json:"window_ns,omitempty"`
	Concurrent int64  `json:"concurrent,omitempty"`
}

// footer is the last line; a run that was cut off has none.
type footer struct {
	Duration    int64   `json:"duration_ns"`
	Interrupted bool    `json:"interrupted,omitempty"`
	CPUSeconds  float64 `json:"cpu_s,omitempty"`
	RSSMB       float64 `json:"rss_mb,omitempty"`
	Marks       []Mark  `json:"marks,omitempty"`
}

// EventWriter writes a saved run with all names resolved. Its Write fits
// Setup.Tap. The first error stays and stops the writing; Flush and End tell.
// Not safe for concurrent use.
type EventWriter struct {
	w     *bufio.Writer
	names Names
	buf   []byte
	err   error
}

// NewEventWriter writes the header. start and promise may be zero and nil.
func NewEventWriter(w io.Writer, names Names, m Meta, start time.Time, promise *Promise) *EventWriter {
	h := Header{Schema: EventsSchema, Source: m.Source, Name: m.Name, Seed: m.Seed, Repeat: m.Repeat}
	if !start.IsZero() {
		h.StartedAt = &start
	}
	if promise != nil {
		p := promiseJSON(*promise)
		h.Promise = &p
	}
	ew := &EventWriter{w: bufio.NewWriterSize(w, 64<<10), names: names}
	ew.line(json.Marshal(h))
	return ew
}

func (w *EventWriter) line(b []byte, err error) {
	if err == nil {
		_, err = w.w.Write(append(b, '\n'))
	}
	if w.err == nil {
		w.err = err
	}
}

// Flush hands what is buffered to the file.
func (w *EventWriter) Flush() error {
	if w.err == nil {
		w.err = w.w.Flush()
	}
	return w.err
}

// End writes the last line and flushes.
func (w *EventWriter) End(m Meta) error {
	if w.err == nil {
		b, err := json.Marshal(struct {
			End footer `json:"end"`
		}{footer{m.Duration, m.Interrupted, m.CPUSeconds, m.RSSMB, m.Marks}})
		w.line(b, err)
	}
	return w.Flush()
}

// Write adds one event.
func (w *EventWriter) Write(e *Event) {
	if w.err != nil {
		return
	}
	b := append(w.buf[:0], `{"due":`...)
	b = strconv.AppendInt(b, e.Due, 10)
	b = appendInt(b, "sent", e.Sent)
	if e.Has&HasFirst != 0 {
		b = appendInt(b, "first", e.First)
	}
	b = appendInt(b, "done", e.Done)
	b = appendInt(b, "client", int64(e.Client))
	b = appendText(b, "key", w.names.key(e.Key))
	b = appendText(b, "target", w.names.target(e.Target))
	b = appendText(b, "population", w.names.population(e.Population))
	b = appendSome(b, "route", int64(e.Route))
	b = appendSome(b, "status", int64(e.Status))
	b = appendText(b, "verdict", e.Verdict.String())
	if e.Class != NoError {
		b = appendText(b, "class", e.Class.String())
	}
	b = appendInt(b, "attempt", int64(e.Attempt))
	b = appendInt(b, "cost", int64(e.Cost))
	b = appendInt(b, "wait", e.Wait)
	b = appendSome(b, "bytes", int64(e.Bytes))
	for _, f := range flagNames {
		if e.Has&f.bit != 0 {
			b = append(b, `,"`...)
			b = append(b, f.name...)
			b = append(b, `":true`...)
		}
	}
	if e.Has&HasLimit != 0 {
		b = appendInt(b, "limit", e.Limit)
	}
	if e.Has&HasRemaining != 0 {
		b = appendInt(b, "remaining", e.Remaining)
	}
	if e.Has&HasReset != 0 {
		b = appendInt(b, "reset", e.Reset)
	}
	if e.Has&HasRetryAfter != 0 {
		b = appendInt(b, "retry_after", e.RetryAfter)
	}
	if e.Text != 0 {
		b = appendText(b, "hint_text", w.names.text(e.Text))
	}
	if e.HintSource != 0 {
		b = appendText(b, "hint_source", w.names.source(e.HintSource))
	}
	if e.HintUnit != 0 {
		b = appendText(b, "hint_unit", w.names.unit(e.HintUnit))
	}
	b = append(b, "}\n"...)
	w.buf = b
	_, w.err = w.w.Write(b)
}

// flagNames are the bits of Has that stand on their own.
var flagNames = []struct {
	bit  Has
	name string
}{
	{BadRetryAfter, "bad_retry_after"}, {Obeyed, "obeyed"}, {Early, "early"},
	{Abandoned, "abandoned"}, {Capped, "capped"}, {NewConn, "new_conn"}, {Suspect, "suspect"},
	{Reduced, "reduced"},
}

func appendInt(b []byte, name string, v int64) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return strconv.AppendInt(b, v, 10)
}

func appendSome(b []byte, name string, v int64) []byte {
	if v == 0 {
		return b
	}
	return appendInt(b, name, v)
}

func appendText(b []byte, name, v string) []byte {
	b = append(b, `,"`...)
	b = append(b, name...)
	b = append(b, `":`...)
	return appendJSON(b, v)
}

const hexDigits = "0123456789abcdef"

// appendJSON quotes s for JSON, with everything that does not print escaped,
// so that a saved run is safe to look at in a terminal.
func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c < 0x20 || c == 0x7f:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			default:
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case unicode.IsPrint(r):
			b = append(b, s[i:i+n]...)
		default:
			b = appendEscaped(b, r)
		}
		i += n
	}
	return append(b, '"')
}

// appendEscaped writes r as one \u escape or two.
func appendEscaped(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return appendU(appendU(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendU(b, r)
}

func appendU(b []byte, r rune) []byte {
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

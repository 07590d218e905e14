package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// lineMax bounds a line of a saved run.
const lineMax = 1 << 20

// SavedError says which line of a saved run cannot be read.
type SavedError struct {
	Line int
	Err  error
}

func (e *SavedError) Error() string {
	return fmt.Sprintf("saved run, line %d: %v", e.Line, e.Err)
}

func (e *SavedError) Unwrap() error { return e.Err }

// EventReader reads what an EventWriter wrote and rebuilds events and tables.
type EventReader struct {
	// Header is the first line.
	Header Header

	r       *bufio.Reader
	line    int
	ended   bool
	cut     bool
	foot    footer
	keys    nameTable
	targets nameTable
	groups  nameTable
	texts   nameTable
	sources nameTable
	units   nameTable
}

// nameTable numbers names in the order they come, up to max; the rest share
// the last number, "other".
type nameTable struct {
	ids  map[string]uint32
	list []string
	max  int
}

func newNameTable(max int, first ...string) nameTable {
	t := nameTable{ids: map[string]uint32{}, max: max}
	for _, n := range first {
		t.ids[n] = uint32(len(t.list))
		t.list = append(t.list, n)
	}
	return t
}

func (t *nameTable) id(name string) uint32 {
	if id, ok := t.ids[name]; ok {
		return id
	}
	if len(t.list) >= t.max-1 {
		if len(t.list) < t.max {
			t.list = append(t.list, "other")
		}
		return uint32(t.max - 1)
	}
	id := uint32(len(t.list))
	t.ids[name] = id
	t.list = append(t.list, name)
	return id
}

func (t *nameTable) name(i uint32) string {
	if int(i) < len(t.list) {
		return t.list[i]
	}
	return ""
}

// NewEventReader reads the header.
func NewEventReader(r io.Reader) (*EventReader, error) {
	er := &EventReader{r: bufio.NewReaderSize(r, 64<<10),
		keys: newNameTable(keysMax), targets: newNameTable(1 << 16), groups: newNameTable(1 << 16),
		texts: newNameTable(textsMax, ""), sources: newNameTable(256, ""), units: newNameTable(256, "")}
	b, err := er.next()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = &SavedError{1, errors.New("the file is empty")}
		}
		return nil, err
	}
	if err := json.Unmarshal(b, &er.Header); err != nil {
		return nil, &SavedError{1, fmt.Errorf("not a header: %w", err)}
	}
	if er.Header.Schema != EventsSchema {
		return nil, &SavedError{1, &SchemaError{er.Header.Schema, EventsSchema}}
	}
	return er, nil
}

// next returns the next line that is not empty, without its end. A last line
// without one is marked by cut.
func (r *EventReader) next() ([]byte, error) {
	var long []byte
	for {
		part, err := r.r.ReadSlice('\n')
		if long != nil || errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			if len(long) > lineMax {
				return nil, &SavedError{r.line + 1, fmt.Errorf("longer than %d bytes", lineMax)}
			}
			part = long
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, &SavedError{r.line + 1, err}
		}
		r.line++
		r.cut = err != nil && len(part) > 0
		if part = bytes.TrimSpace(part); len(part) > 0 {
			return part, nil
		}
		if err != nil {
			return nil, io.EOF
		}
		long = nil
	}
}

// Complete reports, after io.EOF, that the last line was there: the run ended
// and was saved whole.
func (r *EventReader) Complete() bool { return r.ended }

// Meta is what the file says for Finish.
func (r *EventReader) Meta() Meta {
	return Meta{Source: r.Header.Source, Name: r.Header.Name, Seed: r.Header.Seed, Repeat: r.Header.Repeat,
		Duration: r.foot.Duration, Interrupted: r.foot.Interrupted || !r.ended,
		CPUSeconds: r.foot.CPUSeconds, RSSMB: r.foot.RSSMB, Marks: r.foot.Marks}
}

// Promise is the one that the run was judged by, or nil.
func (r *EventReader) Promise() *Promise {
	if r.Header.Promise == nil {
		return nil
	}
	p := Promise(*r.Header.Promise)
	if p.Units < 0 || p.Per < 0 || p.Burst < 0 || p.Limit < 0 || p.Window < 0 {
		return nil
	}
	return &p
}

// Names gives the tables as far as they have been read.
func (r *EventReader) Names() Names {
	return Names{
		Key:        func(i uint32) string { return r.keys.name(i) },
		Target:     func(i uint16) string { return r.targets.name(uint32(i)) },
		Population: func(i uint16) string { return r.groups.name(uint32(i)) },
		Text:       func(i uint32) string { return r.texts.name(i) },
		Source:     func(i uint8) string { return r.sources.name(uint32(i)) },
		Unit:       func(i uint8) string { return r.units.name(uint32(i)) },
	}
}

// savedEvent is one line.
type savedEvent struct {
	Due        int64  `json:"due"`
	Sent       int64  `json:"sent"`
	First      *int64 `json:"first"`
	Done       int64  `json:"done"`
	Client     uint32 `json:"client"`
	Key        string `json:"key"`
	Target     string `json:"target"`
	Population string `json:"population"`
	Route      uint16 `json:"route"`
	Status     uint16 `json:"status"`
	Verdict    string `json:"verdict"`
	Class      string `json:"class"`
	Attempt    uint16 `json:"attempt"`
	Cost       uint32 `json:"cost"`
	Wait       int64  `json:"wait"`
	Bytes      uint32 `json:"bytes"`

	BadRetryAfter bool `json:"bad_retry_after"`
	Obeyed        bool `json:"obeyed"`
	Early         bool `json:"early"`
	Abandoned     bool `json:"abandoned"`
	Capped        bool `json:"capped"`
	NewConn       bool `json:"new_conn"`
	Suspect       bool `json:"suspect"`
	Reduced       bool `json:"reduced"`

	Limit      *int64 `json:"limit"`
	Remaining  *int64 `json:"remaining"`
	Reset      *int64 `json:"reset"`
	RetryAfter *int64 `json:"retry_after"`
	HintText   string `json:"hint_text"`
	HintSource string `json:"hint_source"`
	HintUnit   string `json:"hint_unit"`

	End *footer `json:"end"`
}

// Next reads one event, or returns io.EOF. A last line that was cut off is
// taken as the end.
func (r *EventReader) Next(e *Event) error {
	if r.ended {
		return io.EOF
	}
	b, err := r.next()
	if err != nil {
		return err
	}
	var s savedEvent
	if err := json.Unmarshal(b, &s); err != nil {
		if r.cut {
			return io.EOF
		}
		return &SavedError{r.line, err}
	}
	if s.End != nil {
		r.ended, r.foot = true, *s.End
		return io.EOF
	}
	if err := r.event(&s, e); err != nil {
		return &SavedError{r.line, err}
	}
	return nil
}

func (r *EventReader) event(s *savedEvent, e *Event) error {
	*e = Event{Due: s.Due, Sent: s.Sent, Done: s.Done, Client: s.Client, Bytes: s.Bytes, Cost: s.Cost,
		Status: s.Status, Route: s.Route, Attempt: s.Attempt,
		Key: r.keys.id(s.Key), Target: uint16(r.targets.id(s.Target)), Population: uint16(r.groups.id(s.Population)),
		Text: r.texts.id(s.HintText), HintSource: uint8(r.sources.id(s.HintSource)), HintUnit: uint8(r.units.id(s.HintUnit))}
	v, ok := indexOf(verdictNames[:], s.Verdict)
	if !ok {
		return fmt.Errorf("unknown verdict %q", Clean(s.Verdict))
	}
	e.Verdict = Verdict(v)
	if c, ok := indexOf(classNames[:], s.Class); ok {
		e.Class = Class(c)
	} else {
		e.Class = OtherError
	}
	// A time outside a year is not one of a run; arithmetic on it could overflow.
	const year = int64(365 * 24 * time.Hour)
	for _, t := range []int64{s.Due, s.Sent, s.Done} {
		if t > year || t < -year {
			return fmt.Errorf("time %d is out of range", t)
		}
	}
	// A client may have been told to wait longer; it does not live to see it.
	e.Wait = max(min(s.Wait, year), -year)
	set := func(p *int64, bit Has, to *int64) {
		if p != nil {
			*to = *p
			e.Has |= bit
		}
	}
	set(s.First, HasFirst, &e.First)
	if e.First > year || e.First < -year {
		return fmt.Errorf("time %d is out of range", e.First)
	}
	set(s.Limit, HasLimit, &e.Limit)
	set(s.Remaining, HasRemaining, &e.Remaining)
	set(s.Reset, HasReset, &e.Reset)
	set(s.RetryAfter, HasRetryAfter, &e.RetryAfter)
	for i, on := range []bool{s.BadRetryAfter, s.Obeyed, s.Early, s.Abandoned, s.Capped, s.NewConn, s.Suspect, s.Reduced} {
		if on {
			e.Has |= flagNames[i].bit
		}
	}
	return nil
}

func indexOf(list []string, s string) (int, bool) {
	for i, x := range list {
		if x == s {
			return i, true
		}
	}
	return 0, false
}

// Rebuild reads a saved run to its end and judges it again, by promise or, if
// that is nil, by the one in the file.
func Rebuild(r *EventReader, promise *Promise) (*Result, error) {
	c := NewCollector(r.setup(promise))
	m, err := r.all(c.add)
	if err != nil {
		return nil, err
	}
	return c.Finish(m), nil
}

func (r *EventReader) setup(promise *Promise) Setup {
	s := Setup{Names: r.Names(), Promise: promise}
	if s.Promise == nil {
		s.Promise = r.Promise()
	}
	if r.Header.StartedAt != nil {
		s.Start = *r.Header.StartedAt
	}
	return s
}

// all hands every event to add.
func (r *EventReader) all(add func(*Event)) (Meta, error) {
	var e Event
	for {
		err := r.Next(&e)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Meta{}, err
		}
		add(&e)
	}
	m := r.Meta()
	if !r.Complete() {
		m.Notes = append(m.Notes, "the saved run has no end: it was cut off, and this is what is left of it")
	}
	return m, nil
}

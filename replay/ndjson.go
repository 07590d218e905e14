package replay

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

// ndjson reads one JSON object a line: a trace of ours or an access log.
type ndjson struct {
	lines  *lines
	in     *instants
	o      Options
	cur    []byte
	scan   scanner
	want   map[string][]place
	inside map[string]bool // names that lead to wanted ones below
	path   []byte
	ranks  [4]int // of what was found, for names of several meanings
	found  [4][]byte
	values [][]byte
}

// place is what a field's value is for; the lower rank wins.
type place struct{ slot, rank int }

// The slots; those of Options.Fields come after.
const (
	slotTime = iota
	slotKey
	slotCost
	slotVerdict
	slotFields
)

var errNotObject = errors.New("not a JSON object")

// maxDepth bounds how deep objects are looked into.
const maxDepth = 16

func newNDJSON(l *lines, in *instants, o Options) *ndjson {
	f := &ndjson{lines: l, in: in, o: o, want: map[string][]place{}, inside: map[string]bool{}, values: make([][]byte, len(o.Fields))}
	add := func(slot int, own string, usual []string) {
		if own != "" {
			usual = []string{own}
		}
		for rank, name := range usual {
			f.want[name] = append(f.want[name], place{slot, rank})
			for i, c := range name {
				if c == '.' {
					f.inside[name[:i]] = true
				}
			}
		}
	}
	add(slotTime, o.TimeField, timeNames)
	add(slotKey, o.KeyField, keyNames)
	add(slotCost, o.CostField, costNames)
	add(slotVerdict, o.VerdictField, verdictNames)
	for i, name := range o.Fields {
		add(slotFields+i, name, nil)
	}
	return f
}

func (f *ndjson) line() []byte { return f.cur }

func (f *ndjson) next(c *Call) error {
	line, err := f.lines.next()
	if f.cur = line; err != nil {
		return streamError(err)
	}
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return errPassed
	}
	f.found, f.ranks = [4][]byte{}, [4]int{}
	clear(f.values)
	f.scan = scanner{b: line, buf: f.scan.buf[:0]}
	f.path = f.path[:0]
	if !f.object(0) || !f.scan.atEnd() {
		return errNotObject
	}
	if c.At, err = f.in.readLog(f.found[slotTime]); err != nil {
		return err
	}
	if c.Key = f.found[slotKey]; len(c.Key) == 0 {
		return errNoKey
	}
	var ok bool
	if c.Cost, ok = costOf(f.found[slotCost]); !ok {
		return errCost
	}
	c.record(f.found[slotVerdict], f.o.Refused)
	c.Values = f.values
	return nil
}

// object reads the members of one, whose names are below f.path.
func (f *ndjson) object(depth int) bool {
	s := &f.scan
	if !s.take('{') {
		return false
	}
	if s.take('}') {
		return true
	}
	base := len(f.path)
	for {
		name, ok := s.text()
		if !ok || !s.take(':') {
			return false
		}
		if base > 0 {
			f.path = append(append(f.path[:base], '.'), name...)
			name = f.path
		}
		places := f.want[string(name)]
		s.space()
		if s.peek() == '{' && len(places) == 0 && depth < maxDepth && f.inside[string(name)] {
			if base == 0 {
				f.path = append(f.path[:0], name...)
			}
			if !f.object(depth + 1) {
				return false
			}
		} else {
			value, ok := s.value()
			if !ok {
				return false
			}
			for _, p := range places {
				f.keep(p, value)
			}
		}
		f.path = f.path[:base]
		if s.take(',') {
			continue
		}
		return s.take('}')
	}
}

func (f *ndjson) keep(p place, value []byte) {
	if p.slot >= slotFields {
		f.values[p.slot-slotFields] = value
	} else if f.found[p.slot] == nil || p.rank < f.ranks[p.slot] {
		f.found[p.slot], f.ranks[p.slot] = value, p.rank
	}
}

// JSONField reports whether name can be a field of an NDJSON trace.
func JSONField(name string) bool {
	return name != "" && !slices.Contains(strings.Split(name, "."), "")
}

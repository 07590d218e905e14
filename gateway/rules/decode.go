package rules

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// spot is where a value stands, in lines and characters from 1; 0 is unknown.
type spot struct{ line, column int }

// decoder walks a parsed text and gathers what is wrong with it.
type decoder struct {
	file   string
	before int    // lines of the file before the text that is walked
	rule   string // the rule that is read
	errs   Errors
}

func (d *decoder) at(n ast.Node) spot {
	if p := position(n); p != nil {
		return spot{d.before + p.Line, p.Column}
	}
	return spot{}
}

func (d *decoder) fail(at spot, hint, format string, args ...any) *Error {
	e := &Error{File: d.file, Line: at.line, Column: at.column, Rule: d.rule, Msg: fmt.Sprintf(format, args...), Hint: hint}
	d.errs = append(d.errs, e)
	return e
}

// full reports that no more problems need to be looked for.
func (d *decoder) full() bool { return len(d.errs) >= maxErrors }

// field is one name that a mapping may have.
type field struct {
	name string
	read func(n ast.Node)
}

// mapping hands every value of a mapping to its field, and says where each
// name stood.
func (d *decoder) mapping(what string, n ast.Node, fields ...field) (given map[string]spot) {
	given = make(map[string]spot, len(fields))
	m, ok := n.(ast.MapNode)
	if !ok {
		d.shape(n, what, "a mapping of fields", "it takes "+names(fields))
		return given
	}
	for it := m.MapRange(); it.Next(); {
		key := it.Key()
		at := d.at(key)
		name, ok := scalar(key)
		if !ok {
			d.fail(at, "", "%s is not the name of a field", describe(key))
			continue
		}
		_, twice := given[name]
		f := -1
		for i := range fields {
			if fields[i].name == name {
				f = i
			}
		}
		switch {
		case f < 0:
			d.fail(at, "it takes "+names(fields), "unknown field %s in %s", shown(name), what)
		case twice:
			d.fail(at, "keep one of the two", "%s is given twice", name)
		default:
			given[name] = at
			fields[f].read(it.Value())
		}
	}
	return given
}

func names(fields []field) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.name
	}
	return strings.Join(out, ", ")
}

// shape reports a value that is not of the shape wanted.
func (d *decoder) shape(n ast.Node, what, wanted, hint string) {
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType:
		d.fail(d.at(n), "write the text out", "%s has an anchor or an alias, and rules use none", what)
	case ast.TagType:
		d.fail(d.at(n), "leave out the tag", "%s has a tag, and rules use none", what)
	default:
		d.fail(d.at(n), hint, "%s is %s, not %s", what, describe(n), wanted)
	}
}

// list hands every entry to read, up to most. Nothing at all is an empty list.
func (d *decoder) list(what string, n ast.Node, most int, read func(n ast.Node)) {
	if n.Type() == ast.NullType {
		return
	}
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.shape(n, what, "a list", "write one entry a line, each after a dash")
		return
	}
	if len(seq.Values) > most {
		d.fail(d.at(n), "", "%s has %d entries; the most is %d", what, len(seq.Values), most)
		return
	}
	for _, v := range seq.Values {
		if d.full() {
			return
		}
		read(v)
	}
}

// text reads a single value of at most most bytes without control characters.
func (d *decoder) text(what string, n ast.Node, most int) (string, bool) {
	s, ok := scalar(n)
	switch {
	case !ok:
		d.shape(n, what, "a single value", "")
	case s == "":
		d.fail(d.at(n), "", "%s is empty", what)
	case len(s) > most:
		d.fail(d.at(n), "", "%s is longer than %d bytes", what, most)
	case strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 }) >= 0:
		d.fail(d.at(n), "", "%s has a control character", what)
	default:
		return s, true
	}
	return "", false
}

// listAt is where a list begins, at its bracket or at its first dash, and
// whether it has brackets.
func (d *decoder) listAt(n ast.Node) (at spot, flow bool) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok || seq.Start == nil || seq.Start.Position == nil {
		return spot{}, false
	}
	return spot{d.before + seq.Start.Position.Line, seq.Start.Position.Column}, seq.IsFlowStyle
}

package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// What the parser may meet. It is recursive, and its time grows with the
// square of the entries, so a hostile file could use up the stack or a minute;
// a profile needs a depth of five and some hundred entries.
const (
	maxLine  = 4096 + 512 // bytes
	maxDepth = 32         // of brackets
	maxMarks = 20_000     // ends of lines, colons, commas, dashes and question marks
)

// Decode reads a profile from YAML. name stands in errors, and names the
// profile when the text does not. Unknown fields, fields that mean nothing
// where they stand and impossible numbers are errors with their place, as an
// *Error or [Errors].
func Decode(name string, data []byte) (*Profile, error) {
	d := decoder{file: name, places: map[string]place{}}
	root, err := d.parse(data)
	if err != nil {
		return nil, err
	}
	p := Profile{Name: nameOf(name), Duration: DefaultDuration}
	d.profile(root, &p)
	if len(d.errs) == 0 {
		for _, q := range p.check() {
			d.misfit(q)
		}
	}
	if len(d.errs) == 0 {
		return &p, nil
	}
	sort.SliceStable(d.errs, func(i, j int) bool {
		a, b := d.errs[i], d.errs[j]
		return a.Line < b.Line || a.Line == b.Line && a.Column < b.Column
	})
	return nil, joined(d.errs)
}

// nameOf is the name of a profile whose text gives none.
func nameOf(file string) string {
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	var c checker
	if c.text("name", base, MaxName, true); len(c.found) > 0 {
		return "profile"
	}
	return base
}

// decoder walks the parsed file, fills structs, and remembers where every
// field stood so that later checks can point at it.
type decoder struct {
	file   string
	errs   []*Error
	places map[string]place
}

// place is where a field's value stands and what it says.
type place struct {
	at   *token.Position
	text string // "" for a mapping or a list
}

func (d *decoder) fail(at *token.Position, hint, format string, args ...any) {
	e := &Error{File: d.file, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	d.errs = append(d.errs, e)
}

// misfit reports a problem at the nearest place that the text has for it.
func (d *decoder) misfit(q problem) {
	if at, ok := d.places[q.path]; ok {
		d.fail(at.at, q.hint, "%s", q.message(at.text))
		return
	}
	// The field is missing: point at what it is missing from.
	path, at := q.path, place{}
	for ok := false; path != "" && !ok; {
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
		at, ok = d.places[path]
	}
	if q.value != "" { // zero, because nothing was written
		q.value, q.msg = "", "is missing"
	}
	d.fail(at.at, q.hint, "%s", q.message(""))
}

// parse checks the bounds and gives the file's one node.
func (d *decoder) parse(data []byte) (node ast.Node, err error) {
	whole := func(msg, hint string) (ast.Node, error) {
		return nil, &Error{File: d.file, Msg: msg, Hint: hint}
	}
	if len(data) > MaxBytes {
		return whole(fmt.Sprintf("has %d bytes; the most is %d", len(data), MaxBytes), "")
	}
	if !utf8.Valid(data) {
		return whole("is not UTF-8 text", "")
	}
	if line, msg := tooMuch(data); msg != "" {
		return nil, &Error{File: d.file, Line: line, Column: 1, Msg: msg}
	}
	// The parser is not ours and has been seen to panic on broken text.
	defer func() {
		if r := recover(); r != nil {
			node, err = whole("is not YAML that can be read", "check brackets, quotes and indentation")
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		e := &Error{File: d.file, Msg: "is not YAML: " + firstLine(err.Error()), Hint: "check brackets, quotes and indentation"}
		var syntax *yaml.SyntaxError
		if errors.As(err, &syntax) {
			e.Msg = firstLine(syntax.Message)
			switch {
			case strings.Contains(e.Msg, "already defined"):
				e.Hint = ""
			case strings.Contains(e.Msg, "'\t'"):
				e.Hint = "indent with spaces"
			}
			if t := syntax.Token; t != nil && t.Position != nil {
				e.Line, e.Column = t.Position.Line, t.Position.Column
			}
		}
		return nil, e
	}
	var bodies []ast.Node
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType && doc.Body.Type() != ast.CommentGroupType {
			bodies = append(bodies, doc.Body)
		}
	}
	switch len(bodies) {
	case 0:
		return whole("is empty", "start from a built-in one: weir profiles show steady")
	case 1:
		return bodies[0], nil
	}
	d.fail(position(bodies[1]), "", "a second document starts here; a file holds one profile")
	return nil, d.errs[0]
}

// tooMuch looks for nesting, or for more entries, than a profile can need.
// Lines of comment are free. Indentation is bounded by the length of a line.
func tooMuch(data []byte) (line int, msg string) {
	depth, marks := 0, 0
	for text := range bytes.Lines(data) {
		line++
		if len(text) > maxLine {
			return line, fmt.Sprintf("the line is longer than %d bytes", maxLine)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] == '#' {
			continue
		}
		marks++
		for _, b := range text {
			switch b {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(depth-1, 0)
			case ':', ',', '-', '?', '\r':
				marks++
			}
			if depth > maxDepth {
				return line, fmt.Sprintf("brackets are nested more than %d deep", maxDepth)
			}
		}
		if marks > maxMarks {
			return line, "the file has more entries than a profile can use"
		}
	}
	return 0, ""
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// position is where a value starts: a mapping at its first field.
func position(n ast.Node) *token.Position {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return position(m.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(m.Key)
	}
	if t := n.GetToken(); t != nil {
		return t.Position
	}
	return nil
}

// field is one name that a mapping may have.
type field struct {
	name string
	read func(d *decoder, path string, n ast.Node)
}

// mapping hands every value of a mapping to its field.
func (d *decoder) mapping(path, what string, n ast.Node, fields []field) {
	d.places[path] = place{at: position(n)}
	m, ok := n.(ast.MapNode)
	if !ok {
		d.shape(n, what, "a mapping of fields", "it takes "+strings.Join(names(fields), ", "))
		return
	}
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		key := it.Key()
		at := position(key)
		name, ok := scalar(key)
		if !ok {
			d.fail(at, "", "%s is not the name of a field", describe(key))
			continue
		}
		f := find(fields, name)
		switch {
		case f == nil:
			d.fail(at, oneOf(name, names(fields)), "unknown field %s in %s", shown(name), what)
		case seen[name]:
			d.fail(at, "", "%s is given twice", name)
		default:
			seen[name] = true
			d.places[join(path, name)] = place{at: at}
			f.read(d, join(path, name), it.Value())
		}
	}
}

// shape reports a value that is not of the shape wanted.
func (d *decoder) shape(n ast.Node, what, wanted, hint string) {
	switch n.Type() {
	case ast.AnchorType, ast.AliasType, ast.MergeKeyType:
		d.fail(position(n), "write the text out", "%s has an anchor or an alias, and profiles use none", what)
	case ast.TagType:
		d.fail(position(n), "leave out the tag", "%s has a tag, and profiles use none", what)
	default:
		d.fail(position(n), hint, "%s is %s, not %s", what, describe(n), wanted)
	}
}

func names(fields []field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name)
	}
	return out
}

func find(fields []field, name string) *field {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// list hands every entry to read, up to most.
func (d *decoder) list(path string, n ast.Node, most int, read func(path string, n ast.Node)) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		d.shape(n, last(path), "a list", "write one entry a line, each after a dash")
		return
	}
	if len(seq.Values) > most {
		d.fail(position(n), "", "%s has %d entries; the most is %d", last(path), len(seq.Values), most)
		return
	}
	for i, v := range seq.Values {
		read(fmt.Sprintf("%s[%d]", path, i), v)
	}
}

// last is the field that a path ends in, without its index.
func last(path string) string {
	path = path[strings.LastIndexByte(path, '.')+1:]
	name, _, _ := strings.Cut(path, "[")
	return name
}

// scalar is the text of a plain or quoted value, as it was written.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return strings.TrimRight(n.Value.Value, "\n"), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

func describe(n ast.Node) string {
	if s, ok := scalar(n); ok {
		return shown(s)
	}
	switch n.Type() {
	case ast.MappingType, ast.MappingValueType:
		return "a mapping"
	case ast.SequenceType:
		return "a list"
	case ast.NullType:
		return "empty"
	}
	return "no plain value"
}

// value reads a scalar through parse.
func value[T any](parse func(string) (T, *fault), to *T) func(*decoder, string, ast.Node) {
	return func(d *decoder, path string, n ast.Node) {
		s, ok := scalar(n)
		if !ok {
			d.shape(n, last(path), "a single value", "")
			return
		}
		d.places[path] = place{at: position(n), text: s}
		v, f := parse(s)
		if f != nil {
			d.fail(position(n), f.hint, "%s", problem{path: path, msg: f.msg}.message(s))
			return
		}
		*to = v
	}
}

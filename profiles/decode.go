package profiles

import (
	"fmt"
	"path/filepath"
	"sort"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
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

// parse gives the file's one node.
func (d *decoder) parse(data []byte) (ast.Node, error) {
	node, err := ParseYAML(d.file, "one profile", data)
	if node == nil && err == nil {
		err = &Error{File: d.file, Msg: "is empty", Hint: "start from a built-in one: weir profiles show steady"}
	}
	return node, err
}

// field is one name that a mapping may have.
type field struct {
	name string
	read func(d *decoder, path string, n ast.Node)
}

// mapping hands every value of a mapping to its field.
func (d *decoder) mapping(path, what string, n ast.Node, fields []field) {
	d.places[path] = place{at: Position(n)}
	m, ok := n.(ast.MapNode)
	if !ok {
		d.shape(n, what, "a mapping of fields", "it takes "+strings.Join(names(fields), ", "))
		return
	}
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		key := it.Key()
		at := Position(key)
		name, ok := Scalar(key)
		if !ok {
			d.fail(at, "", "%s is not the name of a field", describe(key))
			continue
		}
		f := find(fields, name)
		switch {
		case f == nil:
			d.fail(at, OneOf(name, names(fields)), "unknown field %s in %s", shown(name), what)
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
		d.fail(Position(n), "write the text out", "%s has an anchor or an alias, and profiles use none", what)
	case ast.TagType:
		d.fail(Position(n), "leave out the tag", "%s has a tag, and profiles use none", what)
	default:
		d.fail(Position(n), hint, "%s is %s, not %s", what, describe(n), wanted)
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
		d.fail(Position(n), "", "%s has %d entries; the most is %d", last(path), len(seq.Values), most)
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

// value reads a scalar through parse.
func value[T any](parse func(string) (T, *fault), to *T) func(*decoder, string, ast.Node) {
	return func(d *decoder, path string, n ast.Node) {
		s, ok := Scalar(n)
		if !ok {
			d.shape(n, last(path), "a single value", "")
			return
		}
		d.places[path] = place{at: Position(n), text: s}
		v, f := parse(s)
		if f != nil {
			d.fail(Position(n), f.hint, "%s", problem{path: path, msg: f.msg}.message(s))
			return
		}
		*to = v
	}
}

package inspect

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/weir-cli/weir/profiles"
)

// maxItems bounds every list of a layout.
const maxItems = 64

// ReadLayouts reads the layouts of one file: a mapping for one, or a list of
// them. Errors are *profiles.Error and name the line.
func ReadLayouts(file string, data []byte) ([]*Layout, error) {
	root, err := profiles.ParseYAML(file, "layouts", data)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, &profiles.Error{File: file, Msg: "is empty", Hint: "weir inspect layouts redis-rate shows one"}
	}
	r := layoutReader{file: file}
	if seq, ok := root.(*ast.SequenceNode); ok {
		var all []*Layout
		if len(seq.Values) > maxItems {
			return nil, r.at(root, "", "%d layouts in one file; the most is %d", len(seq.Values), maxItems)
		}
		for _, n := range seq.Values {
			l, err := r.layout(n)
			if err != nil {
				return nil, err
			}
			l.Text = n.String() + "\n"
			all = append(all, l)
		}
		return all, nil
	}
	l, err := r.layout(root)
	if err != nil {
		return nil, err
	}
	l.Text = string(data)
	return []*Layout{l}, nil
}

// layoutReader walks a parsed file.
type layoutReader struct{ file string }

func (r layoutReader) at(n ast.Node, hint, format string, args ...any) error {
	e := &profiles.Error{File: r.file, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if at := profiles.Position(n); at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	return e
}

// fields are the readers of a mapping's values, by name.
type fields map[string]func(n ast.Node) error

// mapping reads n and returns which fields it had.
func (r layoutReader) mapping(n ast.Node, what string, known fields) (map[string]ast.Node, error) {
	m, ok := n.(ast.MapNode)
	if !ok {
		return nil, r.at(n, "", "%s is not a mapping of fields", what)
	}
	seen := map[string]ast.Node{}
	for it := m.MapRange(); it.Next(); {
		name, ok := profiles.Scalar(it.Key())
		read := known[name]
		switch {
		case !ok:
			return nil, r.at(it.Key(), "", "%s has a key that is no plain text", what)
		case read == nil:
			return nil, r.at(it.Key(), profiles.OneOf(name, sortedKeys(known)), "unknown field %.40q in %s", name, what)
		case seen[name] != nil:
			return nil, r.at(it.Key(), "", "%s is given twice", name)
		}
		seen[name] = it.Value()
		if err := read(it.Value()); err != nil {
			return nil, err
		}
	}
	return seen, nil
}

// text reads one value into to; with oneOf it must be one of them.
func (r layoutReader) text(to *string, oneOf ...string) func(ast.Node) error {
	return func(n ast.Node) error {
		s, ok := profiles.Scalar(n)
		if !ok {
			return r.at(n, "", "that is not a single value")
		}
		if len(oneOf) > 0 && !contains(oneOf, s) {
			return r.at(n, profiles.OneOf(s, oneOf), "%.40q is none that is known here", s)
		}
		*to = s
		return nil
	}
}

func (r layoutReader) list(to *[]string) func(ast.Node) error {
	return func(n ast.Node) error {
		seq, ok := n.(*ast.SequenceNode)
		if !ok || len(seq.Values) > maxItems {
			return r.at(n, "[a, b]", "that is not a list of at most %d values", maxItems)
		}
		for _, v := range seq.Values {
			var s string
			if err := r.text(&s)(v); err != nil {
				return err
			}
			*to = append(*to, s)
		}
		return nil
	}
}

func (r layoutReader) whole(to *int64) func(ast.Node) error {
	return func(n ast.Node) error {
		s, _ := profiles.Scalar(n)
		v, ok := parseNumber(s)
		if !ok || !v.isWhole || v.scientific {
			return r.at(n, "", "%.40q is not a whole number", s)
		}
		*to = v.whole
		return nil
	}
}

func (r layoutReader) yes(to *bool) func(ast.Node) error {
	return func(n ast.Node) error {
		var s string
		err := r.text(&s, "true", "false")(n)
		*to = s == "true"
		return err
	}
}

func (r layoutReader) layout(n ast.Node) (*Layout, error) {
	l := &Layout{File: r.file}
	var sure string
	got, err := r.mapping(n, "a layout", fields{
		"name":     r.text(&l.Name),
		"writer":   r.text(&l.Writer),
		"language": r.text(&l.Language),
		"checked":  r.text(&l.Checked, "run", "source"),
		"about":    r.text(&l.About),
		"sure":     r.text(&sure, sureNames...),
		"ids":      r.text(&l.IDs, "weir"),
		"keys":     func(n ast.Node) error { return r.keys(n, l) },
		"try":      func(n ast.Node) error { return r.try(n, l) },
		"hashes":   func(n ast.Node) error { return r.hashes(n, l) },
		"decode":   func(n ast.Node) error { return r.model(n, l) },
		"ttl": func(n ast.Node) error {
			_, err := r.mapping(n, "ttl", fields{
				"means":   r.text(&l.TTL.Means, ttlMeanings...),
				"missing": r.text(&l.TTL.Missing, ttlMissing...),
			})
			return err
		},
		"writes":   func(n ast.Node) error { return r.writes(n, l) },
		"needs":    r.text(&l.Needs, "bucket", "window", "slots", "nothing"),
		"example":  r.text(&l.Example),
		"unseen":   r.text(&l.Unseen),
		"pitfalls": r.list(&l.Pitfalls),
	})
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"name", "writer", "keys", "decode", "ttl"} {
		if got[name] == nil {
			return nil, r.at(n, "weir inspect layouts redis-rate shows one", "a layout has no %s", name)
		}
	}
	if sure != "" {
		if err := l.Sure.UnmarshalText([]byte(sure)); err != nil {
			return nil, r.at(got["sure"], "", "%v", err)
		}
	}
	return l, r.check(got["decode"], l)
}

func (r layoutReader) keys(n ast.Node, l *Layout) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok || len(seq.Values) == 0 || len(seq.Values) > maxItems {
		return r.at(n, "", "keys is not a list of one or more")
	}
	for _, n := range seq.Values {
		var k KeyForm
		var name string
		got, err := r.mapping(n, "a key", fields{
			"role":     r.text(&k.Role),
			"name":     r.text(&name),
			"type":     r.text(&k.Type, "string", "hash", "zset", "list"),
			"value":    r.text(&k.Value),
			"score":    r.text(&k.Score, "number", "instant"),
			"fields":   r.list(&k.Fields),
			"optional": r.list(&k.Optional),
			"life":     r.text(&k.Life, lives...),
		})
		if err != nil {
			return err
		}
		for _, need := range []string{"role", "name", "type"} {
			if got[need] == nil {
				return r.at(n, "", "a key has no %s", need)
			}
		}
		if k.Name, err = ParsePattern(name); err != nil {
			return r.at(got["name"], "rate:<id>", "name %.60q: %v", name, err)
		}
		if !contains(valueKinds, k.Value) && !strings.HasPrefix(k.Value, "hex:") {
			return r.at(got["value"], profiles.OneOf(k.Value, valueKinds), "%.40q is no kind of value", k.Value)
		}
		l.Keys = append(l.Keys, k)
	}
	return nil
}

func (r layoutReader) writes(n ast.Node, l *Layout) error {
	var list []string
	if err := r.list(&list)(n); err != nil {
		return err
	}
	for _, name := range list {
		if !contains(actionNames(), name) {
			return r.at(n, profiles.OneOf(name, actionNames()), "%.40q is none that is known here", name)
		}
		l.Writes = append(l.Writes, Action(name))
	}
	return nil
}

func (r layoutReader) try(n ast.Node, l *Layout) error {
	l.Try = map[string][]string{}
	m, ok := n.(ast.MapNode)
	if !ok {
		return r.at(n, "", "try is not a mapping of placeholders to lists")
	}
	for it := m.MapRange(); it.Next(); {
		name, _ := profiles.Scalar(it.Key())
		var list []string
		if err := r.list(&list)(it.Value()); err != nil {
			return err
		}
		l.Try[name] = list
	}
	return nil
}

func (r layoutReader) model(n ast.Node, l *Layout) error {
	m := &l.Decode
	_, err := r.mapping(n, "decode", fields{
		"model":      r.text(&m.Name, modelNames()...),
		"unit":       r.text(&m.Unit, sortedKeys(units)...),
		"epoch":      r.whole(&m.Epoch),
		"arithmetic": r.text(&m.Arithmetic, "doubles", "whole"),
		"counts":     r.text(&m.Counts, "used", "remaining"),
		"window":     r.text(&m.Window, "number", "start"),
		"calendar":   r.yes(&m.Calendar),
		"spare":      r.whole(&m.Spare),
		"refusals":   r.text(&m.Refusals, "counted", "free"),
		"costs":      r.text(&m.Costs, "any"),
		"refill":     r.text(&m.Refill, "continuous", "whole-seconds", "whole-units", "intervals"),
		"tokens":     r.text(&m.Tokens),
		"last":       r.text(&m.Last),
		"time":       r.text(&m.Time, "member", "score"),
		"lasts":      r.whole(&m.Lasts),
		"edge":       r.text(&m.Edge, "inside", "outside"),
	})
	return err
}

// check looks at what one field alone cannot tell.
func (r layoutReader) check(at ast.Node, l *Layout) error {
	m, ok := models[l.Decode.Name]
	if !ok {
		return r.at(at, profiles.OneOf(l.Decode.Name, modelNames()), "decode has no model")
	}
	if why := m.check(l); why != "" {
		return r.at(at, "weir inspect layouts shows those that are built in", "model %s %s", l.Decode.Name, why)
	}
	for _, do := range l.Writes {
		if !canPlan(do, l) {
			return r.at(at, "writes: [reset, expire]", "there is no %s for the model %s", do, l.Decode.Name)
		}
	}
	for _, k := range l.Keys {
		instants := k.Value == "instant" || k.Score == "instant"
		if instants && units[l.Decode.Unit] == 0 {
			return r.at(at, "unit: ms", "%s holds a time and decode says no unit", k.Role)
		}
		for _, name := range k.Name.Names() {
			if k.Role != l.Keys[0].Role && !contains(l.Keys[0].Name.Names(), name) {
				return r.at(at, "", "the name of %s has <%s>, which that of %s has not", k.Role, name, l.Keys[0].Role)
			}
		}
	}
	return nil
}

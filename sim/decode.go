package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/weir-cli/weir/profiles"
)

// maxEntries bounds the lists of a scenario.
const maxEntries = 10_000

// decoder reads values into structs and remembers where each stood, so that
// what Validate finds later can be pointed at.
type decoder struct {
	file   string
	places map[string]*profiles.Error // path to an error without message
}

// at is an error about the node n.
func (d *decoder) at(n ast.Node, hint, format string, args ...any) *profiles.Error {
	e := &profiles.Error{File: d.file, Msg: fmt.Sprintf(format, args...), Hint: hint}
	if at := profiles.Position(n); at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	return e
}

// mapping calls read for every field of a mapping.
func (d *decoder) mapping(n ast.Node, what string, known []string, read func(name string, value ast.Node) error) error {
	m, ok := n.(ast.MapNode)
	if !ok {
		return d.at(n, "it takes "+strings.Join(known, ", "), "%s is not a mapping of fields", what)
	}
	seen := map[string]bool{}
	for it := m.MapRange(); it.Next(); {
		name, ok := profiles.Scalar(it.Key())
		switch {
		case !ok:
			return d.at(it.Key(), "write the name of a field", "%s has a key that is no plain text", what)
		case known != nil && !slices.Contains(known, name):
			return d.at(it.Key(), profiles.OneOf(name, known), "unknown field %q in %s", name, what)
		case seen[name]:
			return d.at(it.Key(), "", "%s is given twice", name)
		}
		seen[name] = true
		if err := read(name, it.Value()); err != nil {
			return err
		}
	}
	return nil
}

// value reads n into v.
func (d *decoder) value(path string, n ast.Node, v reflect.Value) error {
	d.places[path] = d.at(n, "", "")
	if text, ok := profiles.Scalar(n); ok {
		if err := setScalar(v, text); err != nil {
			return d.wrong(n, path, text, err)
		}
		return nil
	}
	if plain(v.Type()) {
		return d.at(n, "", "%s is not a single value", path)
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return d.value(path, n, v.Elem())
	case reflect.Struct:
		fields := fieldsOf(v.Type())
		return d.mapping(n, path, fieldNames(fields), func(name string, n ast.Node) error {
			return d.value(joinPath(path, name), n, v.FieldByIndex(findField(fields, name).index))
		})
	case reflect.Slice, reflect.Array:
		return d.list(path, n, v)
	case reflect.Map:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		return d.mapping(n, path, nil, func(name string, n ast.Node) error {
			k := reflect.New(v.Type().Key()).Elem()
			if err := setText(k, name); err != nil {
				return d.wrong(n, path, name, err)
			}
			e := reflect.New(v.Type().Elem()).Elem()
			if old := v.MapIndex(k); old.IsValid() {
				e.Set(old)
			}
			if err := d.value(joinPath(path, name), n, e); err != nil {
				return err
			}
			v.SetMapIndex(k, e)
			return nil
		})
	}
	return d.at(n, "", "%s cannot be read", path)
}

// list replaces the list in v.
func (d *decoder) list(path string, n ast.Node, v reflect.Value) error {
	seq, ok := n.(*ast.SequenceNode)
	if !ok {
		return d.at(n, "write one entry a line, each after a dash", "%s is not a list", path)
	}
	if len(seq.Values) > maxEntries {
		return d.at(n, "", "%s has %d entries; the most is %d", path, len(seq.Values), maxEntries)
	}
	if v.Kind() == reflect.Array {
		if len(seq.Values) != v.Len() {
			return d.at(n, "", "%s has %d entries where it takes %d", path, len(seq.Values), v.Len())
		}
	} else {
		v.Set(reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)))
	}
	for i, e := range seq.Values {
		if err := d.value(indexPath(path, i), e, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// wrong is an error about a text that is not a value of its type.
func (d *decoder) wrong(n ast.Node, path, text string, err error) error {
	var ve *valueError
	if errors.As(err, &ve) {
		return d.at(n, ve.hint, "%s %q %s", path, text, ve.msg)
	}
	return d.at(n, "", "%s %q %v", path, text, err)
}

// setScalar reads one text into v: a value, or a list of values with commas
// between them.
func setScalar(v reflect.Value, text string) error {
	switch {
	case plain(v.Type()):
		return setText(v, text)
	case v.Kind() == reflect.Pointer && plain(v.Type().Elem()):
		p := reflect.New(v.Type().Elem())
		if err := setText(p.Elem(), text); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case v.Kind() == reflect.Slice && plain(v.Type().Elem()):
		var parts []string
		if strings.TrimSpace(text) != "" {
			parts = strings.Split(text, ",")
		}
		list := reflect.MakeSlice(v.Type(), len(parts), len(parts))
		for i, part := range parts {
			if err := setText(list.Index(i), strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		v.Set(list)
		return nil
	}
	hint := ""
	switch v.Kind() {
	case reflect.Struct:
		hint = "it takes " + strings.Join(fieldNames(fieldsOf(v.Type())), ", ")
	case reflect.Slice, reflect.Array:
		hint = "write a list: [ … ]"
	case reflect.Map:
		hint = "write a mapping: {name: value}"
	}
	return &valueError{"is a single value where more is wanted", hint}
}

func joinPath(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func indexPath(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// sortedKeys are a map's keys in the order of their values.
func sortedKeys(v reflect.Value) []reflect.Value {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int {
		if a.CanInt() {
			return cmp.Compare(a.Int(), b.Int())
		}
		return cmp.Compare(a.String(), b.String())
	})
	return keys
}

// sortedInts are a map's keys in order.
func sortedInts[V any](m map[int64]V) []int64 { return slices.Sorted(maps.Keys(m)) }

package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-cli/weir/profiles"
)

// misfitError is a parameter that a scenario does not have, or that means
// nothing beside its others.
type misfitError struct{ error }

func (e misfitError) Unwrap() error { return e.error }

func misfit(err error) error { return misfitError{err} }

// IsMisfit reports whether err is about a parameter that the scenario does not
// have or that means nothing beside its others.
func IsMisfit(err error) bool {
	var m misfitError
	return errors.As(err, &m)
}

// override applies one `path=value` to params. The value is a plain text, or
// YAML when it begins with a bracket.
func override(params Params, set string) error {
	path, text, ok := strings.Cut(set, "=")
	if path = strings.TrimSpace(path); !ok || path == "" {
		return &profiles.Error{Msg: fmt.Sprintf("--set %q is not path=value", set), Hint: "--set rate=20/s"}
	}
	path = strings.TrimPrefix(path, "params.")
	return descend(set, "", steps(path), reflect.ValueOf(params).Elem(), strings.TrimSpace(text))
}

// steps splits a path such as a.b[2].c.
func steps(path string) []string {
	return strings.Split(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
}

// descend follows the steps left and sets what they lead to.
func descend(set, path string, left []string, v reflect.Value, text string) error {
	fail := func(hint, format string, args ...any) error {
		return &profiles.Error{Msg: "--set " + set + ": " + fmt.Sprintf(format, args...), Hint: hint}
	}
	if v.Kind() == reflect.Pointer && len(left) > 0 {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return descend(set, path, left, v.Elem(), text)
	}
	if len(left) == 0 {
		return setAny(set, path, v, text)
	}
	name := left[0]
	switch {
	case plain(v.Type()):
		return fail("--set "+path+"=…", "%s is a single value", path)
	case v.Kind() == reflect.Struct:
		fields := fieldsOf(v.Type())
		f := findField(fields, name)
		if f == nil {
			return misfit(fail(nearHint(name, path, fields, v.Type()), "unknown parameter %q", joinPath(path, name)))
		}
		return descend(set, joinPath(path, name), left[1:], v.FieldByIndex(f.index), text)
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		i, err := strconv.Atoi(name)
		if err != nil || i < 0 || i >= v.Len() {
			return fail(fmt.Sprintf("the entries are %s[0] to %s", path, indexPath(path, v.Len()-1)), "%s has no entry %q", path, name)
		}
		return descend(set, indexPath(path, i), left[1:], v.Index(i), text)
	case v.Kind() == reflect.Map:
		k := reflect.New(v.Type().Key()).Elem()
		if err := setText(k, name); err != nil {
			return fail("", "%s %q %v", path, name, err)
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		e := reflect.New(v.Type().Elem()).Elem()
		if old := v.MapIndex(k); old.IsValid() {
			e.Set(old)
		}
		if err := descend(set, joinPath(path, name), left[1:], e, text); err != nil {
			return err
		}
		v.SetMapIndex(k, e)
		return nil
	}
	return fail("", "%s cannot be set", path)
}

// setAny sets v from a text or from YAML in brackets.
func setAny(set, path string, v reflect.Value, text string) error {
	if !strings.HasPrefix(text, "[") && !strings.HasPrefix(text, "{") {
		err := setScalar(v, text)
		if err == nil {
			return nil
		}
		e := &profiles.Error{Msg: fmt.Sprintf("--set %s: %s %v", set, path, err)}
		if ve, ok := err.(*valueError); ok && ve.hint != "" {
			e.Hint = ve.hint
			if plain(v.Type()) && !strings.Contains(ve.hint, " ") {
				e.Hint = "--set " + path + "=" + ve.hint
			}
		}
		return e
	}
	node, err := profiles.ParseYAML("--set "+set, "one value", []byte(text))
	if err != nil {
		return err
	}
	d := decoder{file: "--set " + set, places: map[string]*profiles.Error{}}
	if err := d.value(path, node, v); err != nil {
		if e, ok := err.(*profiles.Error); ok {
			e.Line = 0 // a value has but one line
		}
		return err
	}
	return nil
}

// nearHint names parameters like the one mistyped: the nearest of the same
// group, those that end in the same name elsewhere, or all of the group.
func nearHint(name, path string, fields []paramField, t reflect.Type) string {
	names := fieldNames(fields)
	hint := profiles.OneOf(name, names)
	if strings.HasPrefix(hint, "did you mean") || path != "" {
		return hint
	}
	for _, f := range fields {
		ft := t.FieldByIndex(f.index).Type
		if ft.Kind() != reflect.Struct || plain(ft) {
			continue
		}
		if inner := fieldNames(fieldsOf(ft)); slices.Contains(inner, name) {
			return fmt.Sprintf("did you mean %q?", f.name+"."+name)
		}
	}
	return hint
}

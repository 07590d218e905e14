package sim

import (
	"reflect"
	"strings"
)

// paramField is one parameter of a struct: its name in YAML and in --set, and
// what its `about` tag says.
type paramField struct {
	name  string
	about string
	index []int
}

// fieldsOf lists the parameters of a struct type. Fields of an embedded struct
// tagged `yaml:",inline"` stand among those of the outer one; a field tagged
// `yaml:"-"` or without a yaml tag is no parameter.
func fieldsOf(t reflect.Type) []paramField {
	var out []paramField
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case strings.Contains(options, "inline"):
			for _, inner := range fieldsOf(f.Type) {
				inner.index = append([]int{i}, inner.index...)
				out = append(out, inner)
			}
		case name != "" && name != "-":
			out = append(out, paramField{name, f.Tag.Get("about"), []int{i}})
		}
	}
	return out
}

func findField(fields []paramField, name string) *paramField {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func fieldNames(fields []paramField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	return names
}

// Parameter is one parameter of a scenario and its value.
type Parameter struct {
	Path  string `json:"path"`
	Value string `json:"value"`
	About string `json:"about,omitempty"`
}

// parametersOf lists the values below v, leaves only.
func parametersOf(v reflect.Value, path, about string) []Parameter {
	v = reflect.Indirect(v)
	if !v.IsValid() {
		return nil
	}
	if plain(v.Type()) {
		return []Parameter{{path, showText(v), about}}
	}
	var out []Parameter
	switch v.Kind() {
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			out = append(out, parametersOf(v.FieldByIndex(f.index), joinPath(path, f.name), f.about)...)
		}
	case reflect.Slice, reflect.Array:
		if !plain(v.Type().Elem()) {
			for i := range v.Len() {
				out = append(out, parametersOf(v.Index(i), indexPath(path, i), about)...)
			}
			if v.Len() > 0 {
				return out
			}
		}
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = showText(v.Index(i))
		}
		out = append(out, Parameter{path, "[" + strings.Join(texts, ", ") + "]", about})
	case reflect.Map:
		var texts []string
		for _, k := range sortedKeys(v) {
			if !plain(v.Type().Elem()) {
				out = append(out, parametersOf(v.MapIndex(k), joinPath(path, showText(k)), about)...)
				continue
			}
			texts = append(texts, showText(k)+": "+showText(v.MapIndex(k)))
		}
		if len(out) == 0 {
			out = append(out, Parameter{path, "{" + strings.Join(texts, ", ") + "}", about})
		}
	}
	return out
}

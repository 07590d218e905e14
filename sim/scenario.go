package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/weir-cli/weir/profiles"
)

// maxExtends bounds a chain of scenarios that extend each other.
const maxExtends = 8

// Scenario is a kind with its parameters filled in and checked.
type Scenario struct {
	Name   string
	About  string // one line
	Kind   Kind
	Params Params
}

// Run simulates. The Outcome's zero value takes the figures.
func (s *Scenario) Run(ctx context.Context, o *Outcome) error { return s.Params.Run(ctx, o) }

// Parameters lists the parameters that mean something beside the others, with
// their values.
func (s *Scenario) Parameters() []Parameter {
	all := parametersOf(reflect.ValueOf(s.Params), "", "")
	unused := s.unused()
	return slices.DeleteFunc(all, func(q Parameter) bool { return unused[q.Path] != "" })
}

// YAML is the scenario as a file of its own, with every parameter spelled out.
func (s *Scenario) YAML() string {
	var b strings.Builder
	fmt.Fprintf(&b, "kind: %s\nabout: %s\nparams:\n", s.Kind.Name, quoteYAML(s.About))
	writeYAML(&b, "  ", reflect.ValueOf(s.Params).Elem(), s.unused())
	return b.String()
}

func (s *Scenario) unused() map[string]string {
	if p, ok := s.Params.(Partial); ok {
		return p.Unused()
	}
	return nil
}

// Seed is the parameter "seed", and whether the scenario has one and draws
// anything from it.
func (s *Scenario) Seed() (int64, bool) {
	if s.unused()["seed"] != "" {
		return 0, false
	}
	v := reflect.ValueOf(s.Params).Elem()
	if f := findField(fieldsOf(v.Type()), "seed"); f != nil && v.FieldByIndex(f.index).CanInt() {
		return v.FieldByIndex(f.index).Int(), true
	}
	return 0, false
}

// Open reads a scenario of the library by its name, or a file: whatever ends
// in .yaml or .yml, or begins with a dot or a slash. Each set is a path=value
// that overrides the file. Mistakes are *profiles.Error.
func Open(nameOrPath string, sets ...string) (*Scenario, error) {
	l := loader{places: map[string]*profiles.Error{}}
	s, err := l.open(nameOrPath, "", 0)
	if err != nil {
		return nil, err
	}
	return l.finish(s, sets)
}

// Decode reads a scenario from the text of a file. What it extends is looked
// for beside the file.
func Decode(file string, data []byte, sets ...string) (*Scenario, error) {
	l := loader{places: map[string]*profiles.Error{}}
	s, err := l.decode(file, data, 0)
	if err != nil {
		return nil, err
	}
	return l.finish(s, sets)
}

// loader remembers where each parameter was given.
type loader struct {
	places map[string]*profiles.Error
}

// isFile reports whether a name is that of a file and not of the library.
func isFile(name string) bool {
	ext := filepath.Ext(name)
	return ext == ".yaml" || ext == ".yml" || strings.HasPrefix(name, ".") || filepath.IsAbs(name)
}

func (l *loader) open(name, beside string, depth int) (*Scenario, error) {
	if !isFile(name) {
		text := Source(name)
		if text == nil {
			return nil, &profiles.Error{Msg: fmt.Sprintf("no scenario is called %q", name), Hint: nearScenario(name)}
		}
		s, err := l.decode(name+".yaml", text, depth)
		if s != nil {
			s.Name = name
		}
		return s, err
	}
	path := name
	if !filepath.IsAbs(path) {
		path = filepath.Join(beside, path)
	}
	data, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", path, err)
	}
	return l.decode(path, data, depth)
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, profiles.MaxBytes+1))
}

// decode reads kind, about, extends and params; what a file extends is read
// first and its own parameters over it.
func (l *loader) decode(file string, data []byte, depth int) (*Scenario, error) {
	root, err := profiles.ParseYAML(file, "one scenario", data)
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, &profiles.Error{File: file, Msg: "is empty", Hint: "extends: freshbox/central-bucket"}
	}
	d := &decoder{file: file, places: l.places}
	base := filepath.Base(file)
	s := &Scenario{Name: strings.TrimSuffix(base, filepath.Ext(base))}
	given := map[string]ast.Node{}
	err = d.mapping(root, "the scenario", []string{"kind", "about", "extends", "params"}, func(name string, n ast.Node) error {
		given[name] = n
		if _, ok := profiles.Scalar(n); !ok && name != "params" {
			return d.at(n, "", "%s is not a single value", name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	text := func(name string) string {
		if given[name] == nil {
			return ""
		}
		t, _ := profiles.Scalar(given[name])
		return t
	}
	switch {
	case given["extends"] != nil && depth >= maxExtends:
		return nil, d.at(given["extends"], "", "more than %d scenarios extend each other", maxExtends)
	case given["extends"] != nil:
		b, err := l.open(text("extends"), filepath.Dir(file), depth+1)
		if err != nil {
			var pe *profiles.Error
			if errors.As(err, &pe) && pe.File == "" {
				return nil, d.at(given["extends"], pe.Hint, "extends: %s", pe.Msg)
			}
			return nil, err
		}
		s.Kind, s.Params, s.About = b.Kind, b.Params, b.About
		if given["kind"] != nil && text("kind") != s.Kind.Name {
			return nil, d.at(given["kind"], "leave kind out", "kind %q is not that of what it extends, %s", text("kind"), s.Kind.Name)
		}
	case given["kind"] == nil:
		return nil, d.at(root, "extends: freshbox/central-bucket", "the scenario has no kind and extends nothing")
	default:
		k, ok := findKind(text("kind"))
		if !ok {
			return nil, d.at(given["kind"], profiles.OneOf(text("kind"), kindNames()), "kind %q is not known", text("kind"))
		}
		s.Kind, s.Params = k, k.New()
	}
	if given["about"] != nil {
		s.About = text("about")
	}
	if n := given["params"]; n != nil && n.Type() != ast.NullType {
		v := reflect.ValueOf(s.Params).Elem()
		fields := fieldsOf(v.Type())
		return s, d.mapping(n, "params", fieldNames(fields), func(name string, n ast.Node) error {
			return d.value(name, n, v.FieldByIndex(findField(fields, name).index))
		})
	}
	return s, nil
}

// finish applies the overrides and checks the whole.
func (l *loader) finish(s *Scenario, sets []string) (*Scenario, error) {
	from := map[string]string{}
	for _, set := range sets {
		if err := override(s.Params, set); err != nil {
			return nil, err
		}
		path, _, _ := strings.Cut(set, "=")
		from[strings.TrimPrefix(strings.TrimSpace(path), "params.")] = set
	}
	unused := s.unused()
	for path, set := range from {
		if why, ok := unused[path]; ok {
			return nil, misfit(&profiles.Error{Msg: "--set " + set + ": " + path + " " + why, Hint: "weir sim show " + s.Name})
		}
	}
	err := s.Params.Validate()
	var pe *ParamError
	if err == nil || !errors.As(err, &pe) {
		return s, err
	}
	e := &profiles.Error{Msg: pe.Error(), Hint: pe.Hint}
	if set, ok := from[pe.Path]; ok {
		e.Msg = "--set " + set + ": " + pe.Error()
	} else if at := l.places[pe.Path]; at != nil {
		e.File, e.Line, e.Column = at.File, at.Line, at.Column
	}
	return nil, e
}

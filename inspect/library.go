package inspect

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/weir-cli/weir/profiles"
)

//go:embed layouts/*.yaml
var builtin embed.FS

// Builtin are the layouts that weir brings along, by name. They are shared:
// callers must not change them.
var Builtin = sync.OnceValue(func() []*Layout {
	files, err := builtin.ReadDir("layouts")
	if err != nil {
		panic(err)
	}
	var all []*Layout
	for _, f := range files {
		text, err := builtin.ReadFile("layouts/" + f.Name())
		if err != nil {
			panic(err)
		}
		list, err := ReadLayouts(f.Name(), text)
		if err != nil {
			panic(fmt.Sprintf("inspect: a built-in layout: %v", err))
		}
		for _, l := range list {
			l.File = ""
		}
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b *Layout) int { return strings.Compare(a.Name, b.Name) })
	return all
})

// With are layouts with more of them, of which one takes the place of another
// of the same name.
func With(layouts, more []*Layout) []*Layout {
	all := slices.Clone(more)
	for _, l := range layouts {
		if Find(more, l.Name) == nil {
			all = append(all, l)
		}
	}
	return all
}

// Find is the layout of that name, or nil.
func Find(layouts []*Layout, name string) *Layout {
	for _, l := range layouts {
		if l.Name == name {
			return l
		}
	}
	return nil
}

// Named is Find with an error that says which there are, with the hint of a
// near one.
func Named(layouts []*Layout, name string) (*Layout, error) {
	if l := Find(layouts, name); l != nil {
		return l, nil
	}
	var names []string
	for _, l := range layouts {
		names = append(names, l.Name)
	}
	return nil, &profiles.Error{Msg: fmt.Sprintf("no layout is called %.60q", name), Hint: nearOr(name, names, "weir inspect layouts")}
}

func nearOr(name string, names []string, otherwise string) string {
	if hint := profiles.OneOf(name, names); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	return otherwise
}

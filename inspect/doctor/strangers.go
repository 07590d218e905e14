package doctor

import (
	"github.com/weir-cli/weir/inspect"
)

// strangers are keys that are called as a layout's are and hold something else.
// They may be somebody else's: they count when the layout's own state was seen
// too, or when they were named.
type strangers struct {
	of     map[string]findings // by layout
	theirs map[string]bool     // layouts whose state was seen
}

func (s *strangers) add(l *inspect.Layout, id, key, text string) {
	if s.of == nil {
		s.of = map[string]findings{}
	}
	f := s.of[l.Name]
	if f == nil {
		f = findings{}
		s.of[l.Name] = f
	}
	f.add(id, key, text)
}

func (s *strangers) judge(f findings, named bool) {
	for _, layout := range inOrder(s.of) {
		if !named && !s.theirs[layout] {
			continue
		}
		for _, one := range s.of[layout].sorted() {
			f.plus(&one)
		}
	}
}

// Stranger looks at a key that no layout fits.
func (x *Examiner) Stranger(e *inspect.Entry) {
	l := x.index.Named(e)
	if l == nil || e.Problem != "" && e.Truncated {
		return
	}
	r, err := inspect.Decode(l, []inspect.Entry{*e}, e.At, nil)
	if err != nil {
		return // its name goes with others that are not there
	}
	for _, p := range r.Problems {
		switch id := byProblem[p.ID]; id {
		case "not-a-number", "wrong-type":
			x.strangers.add(l, id, e.Key, p.Text)
			return
		}
	}
}

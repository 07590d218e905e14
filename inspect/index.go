package inspect

import (
	"strings"

	"github.com/weir-cli/weir/limit"
)

// Index finds whose an entry is among many layouts without trying those that
// its name rules out. Immutable, so safe for concurrent use.
type Index struct {
	bySure [Certain + 1][]indexed
}

// indexed is a layout with what its names have in common.
type indexed struct {
	layout *Layout
	forms  []indexedForm
}

type indexedForm struct {
	form     *KeyForm
	prefix   string
	suffix   string
	between  []string // literals that come in this order
	anything bool     // there is no literal: the value is looked at first
}

// NewIndex makes an index of layouts, which must not change any more.
func NewIndex(layouts []*Layout) *Index {
	x := &Index{}
	for _, l := range layouts {
		one := indexed{layout: l}
		for i := range l.Keys {
			one.forms = append(one.forms, indexForm(&l.Keys[i]))
		}
		x.bySure[l.Sure] = append(x.bySure[l.Sure], one)
	}
	return x
}

func indexForm(k *KeyForm) indexedForm {
	f := indexedForm{form: k}
	parts := k.Name.parts
	f.anything = k.Name.literals() == 0
	for i, p := range parts {
		switch {
		case p.name != "":
		case i == 0:
			f.prefix = p.literal
		case i == len(parts)-1:
			f.suffix = p.literal
		default:
			f.between = append(f.between, p.literal)
		}
	}
	return f
}

// may reports whether the name does not rule the form out.
func (f *indexedForm) may(key string) bool {
	if !strings.HasPrefix(key, f.prefix) || !strings.HasSuffix(key, f.suffix) {
		return false
	}
	key = key[len(f.prefix):]
	for _, s := range f.between {
		at := strings.Index(key, s)
		if at < 0 {
			return false
		}
		key = key[at+len(s):]
	}
	return true
}

// Best is the candidate by which an entry is read: the first that [Identify]
// finds or, of those that are as sure, the first of the algorithm of told.
func (x *Index) Best(e *Entry, told *limit.Spec) (Candidate, bool) {
	var room [16]*Layout
	for sure := Certain; ; sure-- {
		left := room[:0]
		for i := range x.bySure[sure] {
			one := &x.bySure[sure][i]
			for j := range one.forms {
				f := &one.forms[j]
				if f.form.Type == e.Type && f.may(e.Key) && (!f.anything || one.layout.fits(f.form, e, e.At)) {
					left = append(left, one.layout)
					break
				}
			}
		}
		if len(left) > 0 {
			if found := Identify(e, left, e.At); len(found) > 0 {
				return preferred(found, told), true
			}
		}
		if sure == Guess {
			return Candidate{}, false
		}
	}
}

// leastNamed is how much of a form must be fixed for a name alone to speak.
const leastNamed = 5

// Named is the layout whose name alone fits an entry that no layout fits, as
// far as its own type and value go; of several the one whose form is fixed the
// most. Such an entry may be a limiter's that went bad.
func (x *Index) Named(e *Entry) *Layout {
	var best *Layout
	most := leastNamed - 1
	for sure := Certain; sure >= Likely; sure-- {
		for i := range x.bySure[sure] {
			one := &x.bySure[sure][i]
			for j := range one.forms {
				f := &one.forms[j]
				if n := f.form.Name.literals(); n > most && f.may(e.Key) {
					if _, ok := f.form.Name.Match(e.Key); ok {
						best, most = one.layout, n
					}
				}
			}
		}
	}
	return best
}

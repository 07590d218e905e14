package rules

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml/ast"
	"github.com/weir-cli/weir/limit"
)

// places are where things stand in a text, for Edit.
type places struct {
	version   spot
	overrides spot // of the list's name
	list      spot // of the list's bracket, when flow
	flow      bool // the list is in brackets
	items     bool // its entries are on lines of their own
	brackets  bool // all of the text is in brackets
	text      []byte
}

// reader fills a set.
type reader struct {
	decoder
	set    *Set
	seen   map[string]spot // names of rules
	routes int
}

// Parse reads a rule file; name stands in errors. What it returns can be
// matched, and is not yet known to be sensible: see [Set.Check]. Every error
// is an [Errors] with at least one entry.
func Parse(data []byte, name string) (*Set, error) {
	p := reader{decoder: decoder{file: name}, set: &Set{}, seen: map[string]spot{}}
	if len(data) > MaxBytes {
		p.fail(spot{}, "", "has %d bytes; the most is %d", len(data), MaxBytes)
		return nil, p.errs
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // editors put it before UTF-8
	rest, items, lines, end := split(data)
	node, bad := parseYAML(name, rest, 0)
	switch {
	case bad != nil:
		p.errs = append(p.errs, bad)
	case node == nil:
		p.fail(spot{}, "", "is empty")
	default:
		p.document(node)
		p.set.lines.items = items != nil
		if len(p.errs) == 0 {
			p.overrideItems(lines, items, end)
		}
		if len(p.errs) == 0 {
			p.atOnce()
		}
	}
	if len(p.errs) > 0 {
		slices.SortStableFunc(p.errs, func(a, b *Error) int {
			if a.Line != b.Line {
				return a.Line - b.Line
			}
			return a.Column - b.Column
		})
		return nil, p.errs[:min(len(p.errs), maxErrors)]
	}
	p.set.lines.text = data
	return p.set, nil
}

func (p *reader) document(n ast.Node) {
	var overrides ast.Node
	if m, ok := n.(*ast.MappingNode); ok {
		p.set.lines.brackets = m.IsFlowStyle
	}
	given := p.mapping("the file", n,
		field{"version", func(n ast.Node) {
			p.set.lines.version = p.at(n)
			v, ok := p.number("version", n, 0, MaxVersion)
			if p.set.Version = v; ok && v == 0 {
				e := p.fail(p.at(n), "start with 1 and add one with every change", "version is 0")
				e.Why = "gateways take a copy only when its version is above the one they have, and begin at 0"
			}
		}},
		field{"rules", func(n ast.Node) { p.list("rules", n, MaxRules, p.ruleEntry) }},
		field{"overrides", func(n ast.Node) { overrides = n }},
	)
	if len(p.errs) > 0 {
		return
	}
	p.set.lines.overrides = given["overrides"]
	for _, name := range []string{"version", "rules"} {
		if _, ok := given[name]; !ok {
			p.fail(spot{1, 1}, "", "%s is missing", name)
		}
	}
	if len(p.errs) == 0 && len(p.set.Rules) == 0 {
		p.fail(given["rules"], "", "rules has no rule in it")
	}
	if overrides != nil && len(p.errs) == 0 {
		p.set.lines.list, p.set.lines.flow = p.listAt(overrides)
		p.overrideList(overrides) // after the rules, whatever the order
	}
}

// number reads a whole number from least to most.
func (p *reader) number(what string, n ast.Node, least, most int64) (int64, bool) {
	s, ok := p.text(what, n, 40)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		p.fail(p.at(n), "", "%s %s is not a whole number", what, shown(s))
	case v < least:
		p.fail(p.at(n), "", "%s %s is below %d", what, shown(s), least)
	case v > most:
		p.fail(p.at(n), "", "%s %s is above %d", what, shown(s), most)
	default:
		return v, true
	}
	return 0, false
}

// spec reads a limit's text.
func (p *reader) spec(n ast.Node) (spec limit.Spec, at spot, ok bool) {
	at = p.at(n)
	s, ok := p.text("limit", n, 200)
	if !ok {
		return spec, at, false
	}
	spec, err := limit.ParseSpec(s)
	if err != nil {
		hint := ""
		if e, is := err.(*limit.SpecError); is {
			hint = "write something like " + e.Hint
		}
		p.fail(at, hint, "%v", err)
		return spec, at, false
	}
	return spec, at, true
}

// add gives a limit its number.
func (p *reader) add(r *Rule, spec limit.Spec, from string, at spot) *Limit {
	l := &Limit{Index: len(p.set.limits), Spec: spec, From: from, rule: r, at: at}
	p.set.limits = append(p.set.limits, l)
	return l
}

// atOnce refuses sets of which more rules may apply to one request than one
// call of the store can take. Of the rules that a request is under, all
// overlap the route of each.
func (p *reader) atOnce() {
	for _, r := range p.set.Rules {
		routes := r.Routes
		if len(routes) == 0 {
			routes = []Route{{rest: true}}
		}
		for i := range routes {
			n := 0
			for _, other := range p.set.Rules {
				if other.meets(&routes[i]) {
					n++
				}
			}
			if n > MaxAtOnce {
				e := p.fail(spot{r.line, 1}, "give rules routes that do not overlap, or make fewer", "%d rules may apply to one request together with rule %s; the most is %d", n, r.Name, MaxAtOnce)
				e.Why = "all limits of a request are decided in one call to the store, which takes that many"
				return
			}
		}
	}
}

// meets reports whether some request under r is on the route.
func (r *Rule) meets(route *Route) bool {
	if len(r.Routes) == 0 {
		return true
	}
	return slices.ContainsFunc(r.Routes, func(own Route) bool { return overlap(&own, route) })
}

// fraction reads 2, 1.25 or 5/4 as a factor from 1 to 100.
func fraction(s string) (f limit.Fraction, ok bool) {
	num, den := s, "1"
	for i, c := range s {
		if c == '/' {
			num, den = s[:i], s[i+1:]
			break
		}
		if c == '.' {
			digits := s[i+1:]
			if len(digits) == 0 || len(digits) > 6 {
				return f, false
			}
			num, den = s[:i]+digits, strconv.FormatFloat(math.Pow10(len(digits)), 'f', 0, 64)
			break
		}
	}
	a, err1 := strconv.ParseUint(num, 10, 32)
	b, err2 := strconv.ParseUint(den, 10, 32)
	if err1 != nil || err2 != nil || a == 0 || b == 0 {
		return f, false
	}
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return limit.Fraction{Num: int64(a / x), Den: int64(b / x)}, true
}

// sayRule is how a rule is spoken of before its name is known.
func sayRule(name string, i int) string {
	if name != "" {
		return "rule " + name
	}
	return fmt.Sprintf("rule number %d", i+1)
}

package rules

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/weir-cli/weir/limit"
)

// Why an override must say more than its numbers.
const (
	whyReason  = "an exception that nobody can explain is never taken back"
	whyExpires = "an exception without an end becomes the rule, unseen"
)

func (p *reader) overrideList(n ast.Node) {
	p.list("overrides", n, MaxOverrides, p.overrideEntry)
}

func (p *reader) overrideEntry(n ast.Node) {
	at := p.at(n)
	o := &Override{}
	var spec limit.Spec
	var where spot
	ok := false
	var rule *Rule
	p.rule = ""
	defer func() { p.rule = "" }()
	given := p.mapping("an override", n,
		field{"key", func(n ast.Node) { o.Key, _ = p.text("key", n, MaxKey) }},
		field{"rule", func(n ast.Node) {
			if o.Rule, _ = p.text("rule", n, MaxName); o.Rule == "" {
				return
			}
			if rule = p.set.Rule(o.Rule); rule == nil {
				p.fail(p.at(n), "one of "+p.ruleNames(), "rule %s is not in this file", shown(o.Rule))
			}
		}},
		field{"limit", func(n ast.Node) { spec, where, ok = p.spec(n) }},
		field{"reason", func(n ast.Node) {
			if o.Reason, _ = p.text("reason", n, MaxReason); strings.TrimSpace(o.Reason) == "" {
				o.Reason = ""
			}
		}},
		field{"expires", func(n ast.Node) { p.expires(o, n) }},
	)
	for _, f := range []struct{ name, why, hint string }{
		{"key", "", ""}, {"rule", "", "the name of one of this file's rules"}, {"limit", "", "such as limit: 20/s,burst=40"},
		{"reason", whyReason, "reason: what it was asked for, and by whom"}, {"expires", whyExpires, "expires: 2030-12-31"},
	} {
		if _, there := given[f.name]; !there {
			p.fail(at, f.hint, "the override has no %s", f.name).Why = f.why
		}
	}
	if len(p.errs) > 0 || !ok || rule == nil {
		return
	}
	if rule.overrides[o.Key] != nil {
		p.fail(at, "keep one of the two", "the key has an override of rule %s already", o.Rule)
		return
	}
	if o.Reason == "" {
		p.fail(given["reason"], "reason: what it was asked for, and by whom", "the override has an empty reason").Why = whyReason
		return
	}
	o.Limit = p.add(rule, spec, "override: "+o.Reason, where)
	if rule.overrides == nil {
		rule.overrides = map[string]*Override{}
	}
	rule.overrides[o.Key] = o
	p.set.Overrides = append(p.set.Overrides, o)
}

func (p *reader) expires(o *Override, n ast.Node) {
	s, ok := p.text("expires", n, 40)
	if !ok {
		return
	}
	t, ok := ParseExpires(s)
	if !ok {
		p.fail(p.at(n), "such as 2030-12-31 or 2030-12-31T18:00:00Z", "expires %s is not a date", shown(s))
		return
	}
	o.Expires, o.expires = t, t.UnixNano()
}

// ParseExpires reads when an override ends: a date, which is its first instant
// in UTC, or an instant with its zone.
func ParseExpires(s string) (time.Time, bool) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		t, err = time.Parse(time.RFC3339, s)
	}
	return t.UTC(), err == nil && t.Year() >= 2000 && t.Year() <= 2200
}

// ruleNames lists some of the names for a hint.
func (p *reader) ruleNames() string {
	var names []string
	for _, r := range p.set.Rules {
		if len(names) == 8 {
			return strings.Join(names, ", ") + ", …"
		}
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

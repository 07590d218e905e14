package rules

import (
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/weir-cli/weir/limit"
)

// twoBuckets is why a rule cannot count by two things.
const twoBuckets = "a key made of two values gives each pair of them a full bucket of its own: a caller with a thousand addresses has a thousand times the limit, and an address with a thousand keys as well"

func (p *reader) ruleEntry(n ast.Node) {
	at := p.at(n)
	r := &Rule{Slack: limit.Whole(1), keys: map[string]*Limit{}, plans: map[string]*Limit{}, line: at.line}
	number := len(p.set.Rules)
	p.set.Rules = append(p.set.Rules, r)
	p.rule = ruleName(n)
	defer func() { p.rule = "" }()
	failure := false
	given := p.mapping("a rule", n,
		field{"name", func(n ast.Node) { p.name(r, n) }},
		field{"per", func(n ast.Node) { p.per(r, n) }},
		field{"route", func(n ast.Node) { p.ruleRoutes(r, n) }},
		field{"limits", func(n ast.Node) {
			r.list, r.flow = p.listAt(n)
			p.list("limits", n, MaxLimits, func(n ast.Node) { p.limitEntry(r, n) })
		}},
		field{"cost", func(n ast.Node) { p.costs(r, n) }},
		field{"mode", func(n ast.Node) { r.Shadow = p.word("mode", n, "enforce", "shadow") == 1 }},
		field{"security", func(n ast.Node) { r.Security = p.word("security", n, "false", "true") == 1 }},
		field{"on_failure", func(n ast.Node) {
			if i := p.word("on_failure", n, "open", "closed", "local"); i >= 0 {
				r.OnFailure, failure = limit.FailMode(i), true
			}
		}},
		field{"slack", func(n ast.Node) { p.slack(r, n) }},
		field{"lease", func(n ast.Node) { p.lease(r, n) }},
		field{"ttl", func(n ast.Node) { r.TTL = p.duration("ttl", n) }},
	)
	for _, name := range []string{"name", "per", "limits"} {
		if _, ok := given[name]; !ok {
			p.fail(at, "", "%s has no %s", sayRule(r.Name, number), name)
		}
	}
	if !failure {
		r.OnFailure = limit.FailLocal
		if r.Security {
			r.OnFailure = limit.FailClosed
		}
	}
	if where, ok := given["slack"]; ok && r.OnFailure != limit.FailLocal {
		p.fail(where, "on_failure: local", "slack says nothing with on_failure: %v", r.OnFailure)
	}
	if _, routed := given["route"]; r.Per == PerRoute && !routed && given["per"] != (spot{}) {
		p.fail(given["per"], "name them: route: [POST /v1/orders, /v1/search/*], or count per: all", "per: route has no routes to count")
	}
	if len(p.set.limits) > MaxLimits {
		p.fail(at, "grant single keys something else in overrides", "the rules have more than %d limits", MaxLimits)
	}
}

// ruleName is a rule's name, for problems in fields before it.
func ruleName(n ast.Node) string {
	m, ok := n.(ast.MapNode)
	if !ok {
		return ""
	}
	for it := m.MapRange(); it.Next(); {
		if k, _ := scalar(it.Key()); k == "name" {
			if s, _ := scalar(it.Value()); validName(s) {
				return s
			}
		}
	}
	return ""
}

func validName(s string) bool {
	return s != "" && len(s) <= MaxName && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && s[0] != '-'
}

func (p *reader) name(r *Rule, n ast.Node) {
	s, ok := p.text("name", n, MaxName)
	if !ok {
		return
	}
	at := p.at(n)
	if !validName(s) {
		p.fail(at, "such as requests or login-by-address", "name %s has more in it than a-z, 0-9 and -", shown(s))
		return
	}
	if other, twice := p.seen[s]; twice {
		e := p.fail(at, "name it differently", "rule %s is there already, on line %d", s, other.line)
		e.Why = "the name is part of the bucket's key, so that both would spend from one bucket"
		return
	}
	p.seen[s], r.Name = at, s
}

func (p *reader) per(r *Rule, n ast.Node) {
	var words []string
	if seq, ok := n.(*ast.SequenceNode); ok {
		for _, v := range seq.Values[:min(len(seq.Values), 8)] {
			s, _ := scalar(v)
			words = append(words, s)
		}
	} else {
		s, ok := p.text("per", n, 200)
		if !ok {
			return
		}
		if per, known := parsePer(s); known {
			r.Per = per
			return
		}
		words = strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune("+,/ &:|", c) })
	}
	for i := range words {
		words[i] = strings.TrimSpace(words[i])
	}
	known := slices.IndexFunc(words, func(w string) bool { _, ok := parsePer(w); return !ok }) < 0
	if len(words) > 1 && known {
		e := p.fail(p.at(n), "make two rules, one per: "+words[0]+" and one per: "+words[1]+"; both apply, all or nothing", "a rule cannot count per %s at once", strings.Join(words, " and "))
		e.Why = twoBuckets
		return
	}
	p.fail(p.at(n), "one of "+strings.Join(pers[:], ", "), "per %s is not what a rule counts by", describe(n))
}

// word is which of the words a value is, -1 for none.
func (p *reader) word(what string, n ast.Node, words ...string) int {
	s, ok := p.text(what, n, 200)
	if !ok {
		return -1
	}
	i := slices.Index(words, s)
	if i < 0 {
		p.fail(p.at(n), "one of "+strings.Join(words, ", "), "%s %s is unknown", what, shown(s))
	}
	return i
}

// duration is zero after a mistake.
func (p *reader) duration(what string, n ast.Node) time.Duration {
	s, ok := p.text(what, n, 40)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || d > 10*365*24*time.Hour {
		p.fail(p.at(n), "such as 10s or 5m", "%s %s is not a time above zero", what, shown(s))
		return 0
	}
	return d
}

func (p *reader) slack(r *Rule, n ast.Node) {
	s, ok := p.text("slack", n, 40)
	if !ok {
		return
	}
	f, ok := fraction(s)
	switch {
	case !ok:
		p.fail(p.at(n), "such as 1.25 or 5/4", "slack %s is not a factor", shown(s))
	case f.Num < f.Den || f.Num > 100*f.Den:
		p.fail(p.at(n), "1.25 is a quarter more than the gateway's share", "slack %s is not from 1 to 100", shown(s))
	default:
		r.Slack = f
	}
}

// lease reads on, off, or a mapping, which is on.
func (p *reader) lease(r *Rule, n ast.Node) {
	if _, ok := scalar(n); ok {
		i := p.word("lease", n, "off", "on", "false", "true")
		r.Lease.On = i == 1 || i == 3
		return
	}
	r.Lease.On = true
	p.mapping("lease", n,
		field{"block", func(n ast.Node) {
			if s, _ := scalar(n); s != "auto" {
				r.Lease.Block, _ = p.number("block", n, 1, 1<<40)
			}
		}},
		field{"life", func(n ast.Node) { r.Lease.Life = p.duration("life", n) }},
	)
}

// limitEntry reads one limit and whom it is for.
func (p *reader) limitEntry(r *Rule, n ast.Node) {
	var spec limit.Spec
	var at spot
	var forWhom []func()
	var bind func(l *Limit)
	from, ok := "", false
	scope := func(name string, read func(n ast.Node)) field {
		return field{name, func(n ast.Node) { forWhom = append(forWhom, func() { read(n) }) }}
	}
	table := func(what string, to map[string]*Limit) func(ast.Node) {
		return func(n ast.Node) {
			s, ok := p.text(what, n, MaxKey)
			if !ok {
				return
			}
			if to[s] != nil {
				p.fail(p.at(n), "keep one of the two", "the %s has a limit in this rule already", what)
				return
			}
			if from = what; what != "key" { // which may be a secret
				from += " " + s
			}
			bind = func(l *Limit) {
				to[s] = l
				if what == "key" {
					l.key = s
				}
			}
		}
	}
	where := p.at(n)
	given := p.mapping("a limit", n,
		scope("key", table("key", r.keys)),
		scope("plan", table("plan", r.plans)),
		scope("address", func(n ast.Node) {
			if g, ok := p.prefix(r, n); ok {
				from, bind = "address "+g.String(), func(l *Limit) { r.ranges.add(g, l) }
			}
		}),
		scope("default", func(n ast.Node) {
			if p.word("default", n, "true") != 0 {
				return
			}
			if r.def != nil {
				p.fail(p.at(n), "keep one of the two", "the rule has a default already")
				return
			}
			from, bind = "default", func(l *Limit) { r.def = l }
		}),
		field{"limit", func(n ast.Node) { spec, at, ok = p.spec(n) }},
	)
	if len(forWhom) != 1 {
		if _, is := n.(ast.MapNode); is {
			p.fail(where, "one of key: …, plan: …, address: … and default: true", "a limit is for %d of key, plan, address and default, not for one", len(forWhom))
		}
		return
	}
	forWhom[0]()
	if _, there := given["limit"]; !there {
		p.fail(where, "such as limit: 10/s,burst=20", "a limit has no limit in it")
	}
	if ok && bind != nil {
		l := p.add(r, spec, from, at)
		r.Limits = append(r.Limits, l)
		bind(l)
	}
}

// prefix reads an address range that r has no limit for yet.
func (p *reader) prefix(r *Rule, n ast.Node) (g netip.Prefix, ok bool) {
	s, ok := p.text("address", n, 60)
	if !ok {
		return g, false
	}
	at := p.at(n)
	addr, bits, ok := parseAddress(s)
	if !ok || addr.Is4In6() || strings.Contains(s, "%") {
		p.fail(at, "such as 10.0.0.0/8 or 2001:db8::/32", "address %s is not an address or a range", shown(s))
		return g, false
	}
	g = netip.PrefixFrom(addr, bits)
	if g.Masked() != g {
		p.fail(at, "did you mean "+g.Masked().String()+"?", "address %s is not the first of its range", shown(s))
		return g, false
	}
	if r.ranges == nil {
		r.ranges = &ranges{}
	}
	if r.ranges.limits[g] != nil {
		p.fail(at, "keep one of the two", "address %s has a limit in this rule already", g)
		return g, false
	}
	return g, true
}

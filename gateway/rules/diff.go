package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Change is one difference between two sets.
type Change struct {
	// Kind is version, rule-added, rule-removed, rule-changed (Field says what
	// of it), limit-added, limit-removed, limit-changed, override-added,
	// override-removed, override-expired (it was, and is taken out) or
	// override-changed.
	Kind  string `json:"kind"`
	Rule  string `json:"rule,omitempty"`
	Field string `json:"field,omitempty"`
	For   string `json:"for,omitempty"` // whose limit: "default", "plan gold"; a key as a short hash
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	// Factor says what became of the numbers: "twice", "rate twice, burst the same".
	Factor string `json:"factor,omitempty"`
	// Buckets is what it means for the buckets that are there.
	Buckets string `json:"buckets,omitempty"`
	Reason  string `json:"reason,omitempty"`  // of an override
	Expires string `json:"expires,omitempty"` // of an override, RFC 3339
}

// String is one line.
func (c Change) String() string {
	var b strings.Builder
	what := strings.ReplaceAll(c.Kind, "-", " ")
	if c.Kind == "rule-changed" || c.Kind == "limit-changed" || c.Kind == "override-changed" {
		what, _, _ = strings.Cut(what, " ")
	}
	b.WriteString(what)
	for _, s := range []string{c.Rule, c.For, c.Field} {
		if s != "" {
			b.WriteString(" " + s)
		}
	}
	if c.From != "" || c.To != "" {
		b.WriteString(": ")
	}
	b.WriteString(c.From)
	if c.From != "" && c.To != "" {
		b.WriteString(" → ")
	}
	b.WriteString(c.To)
	if c.Factor != "" {
		b.WriteString(": " + c.Factor)
	}
	if c.Expires != "" {
		b.WriteString(" until " + c.Expires)
	}
	if c.Reason != "" {
		b.WriteString(" (" + c.Reason + ")")
	}
	return b.String()
}

// What a change means for the buckets that are there.
const (
	bucketsKeep  = "the same buckets go on: tokens that are there stay, cut to the new burst, and none are given back"
	bucketsStart = "another algorithm cannot read the state that is there: it counts as used up, and goes on from that"
	bucketsStuck = "Redis keeps the two in different types: until a bucket's key is gone, on_failure decides for it; a rule of another name starts with full buckets instead"
	bucketsFull  = "new buckets, which all start full"
	bucketsGone  = "its buckets are not asked any more and disappear by their time to live"
)

// KeyName is how a key, which may be a secret, is shown.
func KeyName(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "key#" + hex.EncodeToString(sum[:4])
}

// Diff lists what is different in b from a, in the order of the rules. At now,
// in Unix nanoseconds, an override that has ended counts as no more.
func Diff(a, b *Set, now int64) []Change {
	var out []Change
	if a.Version != b.Version {
		out = append(out, Change{Kind: "version", From: fmt.Sprint(a.Version), To: fmt.Sprint(b.Version)})
	}
	for _, r := range b.Rules {
		if old := a.Rule(r.Name); old == nil {
			out = append(out, Change{Kind: "rule-added", Rule: r.Name, To: r.summary(), Buckets: bucketsFull})
		} else {
			out = append(out, diffRule(old, r)...)
		}
	}
	for _, r := range a.Rules {
		if b.Rule(r.Name) == nil {
			out = append(out, Change{Kind: "rule-removed", Rule: r.Name, From: r.summary(), Buckets: bucketsGone})
		}
	}
	return append(out, diffOverrides(a, b, now)...)
}

// summary is a rule in a few words.
func (r *Rule) summary() string {
	s := "per " + r.Per.String()
	if len(r.Routes) > 0 {
		s += " on " + r.routes()
	}
	if r.def != nil {
		s += ", " + r.def.Spec.String()
	}
	if r.Shadow {
		s += ", in shadow"
	}
	if r.Security {
		s += ", security"
	}
	return s
}

func (r *Rule) routes() string {
	var out []string
	for i := range r.Routes {
		out = append(out, r.Routes[i].text)
	}
	return strings.Join(out, ", ")
}

func (r *Rule) costs() string {
	var out []string
	for _, c := range r.Costs {
		out = append(out, fmt.Sprintf("%s %d", c.Route.text, c.Cost))
	}
	return strings.Join(out, ", ")
}

func diffRule(a, b *Rule) (out []Change) {
	mode := func(r *Rule) string {
		if r.Shadow {
			return "shadow"
		}
		return "enforce"
	}
	for _, f := range []struct{ field, from, to, buckets string }{
		{"per", a.Per.String(), b.Per.String(), bucketsFull},
		{"route", orElse(a.routes(), "everywhere"), orElse(b.routes(), "everywhere"), ""},
		{"cost", orElse(a.costs(), "1"), orElse(b.costs(), "1"), ""},
		{"mode", mode(a), mode(b), ""},
		{"security", fmt.Sprint(a.Security), fmt.Sprint(b.Security), ""},
		{"on_failure", a.OnFailure.String(), b.OnFailure.String(), ""},
		{"slack", a.Slack.String(), b.Slack.String(), ""},
		{"lease", a.Lease.String(), b.Lease.String(), ""},
		{"ttl", limit.ShortDuration(a.TTL), limit.ShortDuration(b.TTL), ""},
	} {
		if f.from != f.to {
			out = append(out, Change{Kind: "rule-changed", Rule: b.Name, Field: f.field, From: f.from, To: f.to, Buckets: f.buckets})
		}
	}
	was, is := a.byScope(), b.byScope()
	for _, l := range b.Limits {
		scope := l.For()
		if old := was[scope]; old == nil {
			c := Change{Kind: "limit-added", Rule: b.Name, For: scope, To: l.Spec.String(), Buckets: bucketsKeep}
			out = append(out, c)
		} else if old.Spec != l.Spec {
			out = append(out, limitChange("limit-changed", b.Name, scope, old.Spec, l.Spec))
		}
	}
	for _, l := range a.Limits {
		if scope := l.For(); is[scope] == nil {
			out = append(out, Change{Kind: "limit-removed", Rule: b.Name, For: scope, From: l.Spec.String(), Buckets: bucketsKeep})
		}
	}
	return out
}

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

// String is as in the file.
func (l Lease) String() string {
	if !l.On {
		return "off"
	}
	s := "block auto"
	if l.Block > 0 {
		s = fmt.Sprintf("block %d", l.Block)
	}
	if l.Life > 0 {
		s += ", life " + limit.ShortDuration(l.Life)
	}
	return s
}

// For is whom a limit is for, as From says it, with a key as its hash.
func (l *Limit) For() string {
	if l.From != "key" {
		return l.From
	}
	return KeyName(l.key)
}

func (r *Rule) byScope() map[string]*Limit {
	out := make(map[string]*Limit, len(r.Limits))
	for _, l := range r.Limits {
		out[l.For()] = l
	}
	return out
}

func limitChange(kind, rule, whose string, a, b limit.Spec) Change {
	c := Change{Kind: kind, Rule: rule, For: whose, From: a.String(), To: b.String(), Factor: factor(a, b), Buckets: bucketsKeep}
	switch {
	case sorted(a) != sorted(b):
		c.Buckets = bucketsStuck
	case a.Algorithm != b.Algorithm:
		c.Buckets = bucketsStart
	}
	return c
}

// moved is what it means for the bucket of a key that it goes from limit a to b,
// one of which is nil for the default of r. It is "" when r is nil: then all is
// said of the rule.
func moved(r *Rule, a, b *Limit) string {
	if r == nil {
		return ""
	}
	for _, l := range []**Limit{&a, &b} {
		if *l == nil {
			*l = r.def
		}
	}
	if a == nil || b == nil { // a rule without a default, which the checker refuses
		return bucketsKeep
	}
	return limitChange("", "", "", a.Spec, b.Spec).Buckets
}

// sorted reports whether Redis keeps a limit's state in a sorted set; others
// are hashes.
func sorted(s limit.Spec) bool {
	return s.Algorithm == limit.SlidingLog || s.Algorithm == limit.Concurrency
}

// factor says what became of the numbers.
func factor(a, b limit.Spec) string {
	if a.Algorithm != b.Algorithm {
		return "another algorithm"
	}
	size := times(float64(most(b)) / float64(most(a)))
	switch {
	case a.Algorithm == limit.Concurrency:
		return size
	case a.Rate.Per > 0:
		rate := times(perSecond(b.Rate) / perSecond(a.Rate))
		if rate == size {
			return rate
		}
		return "rate " + rate + ", burst " + size
	case a.Window == b.Window:
		return size
	}
	return "count " + size + ", window " + times(b.Window.Seconds()/a.Window.Seconds())
}

func diffOverrides(a, b *Set, now int64) (out []Change) {
	change := func(kind string, o *Override) Change {
		return Change{Kind: kind, Rule: o.Rule, For: KeyName(o.Key), Reason: o.Reason, Expires: o.Expires.Format(time.RFC3339)}
	}
	for _, o := range b.Overrides {
		old := a.Override(o.Key, o.Rule)
		if old == nil {
			c := change("override-added", o)
			c.To, c.Buckets = o.Limit.Spec.String(), moved(a.Rule(o.Rule), nil, o.Limit)
			out = append(out, c)
			continue
		}
		same := old.Limit.Spec == o.Limit.Spec
		if same && old.Reason == o.Reason && old.expires == o.expires {
			continue
		}
		c := change("override-changed", o)
		if !same {
			d := limitChange("", "", "", old.Limit.Spec, o.Limit.Spec)
			c.From, c.To, c.Factor, c.Buckets = d.From, d.To, d.Factor, d.Buckets
		}
		out = append(out, c)
	}
	for _, o := range a.Overrides {
		if b.Override(o.Key, o.Rule) != nil {
			continue
		}
		c := change("override-removed", o)
		if c.From, c.Buckets = o.Limit.Spec.String(), moved(b.Rule(o.Rule), o.Limit, nil); o.Expired(now) {
			c.Kind, c.Buckets = "override-expired", ""
		}
		out = append(out, c)
	}
	return slices.Clip(out)
}

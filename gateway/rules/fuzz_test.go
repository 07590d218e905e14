package rules

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// FuzzParse: whatever the text, an answer comes, and a set that is read keeps
// what it promises.
func FuzzParse(f *testing.F) {
	f.Add(shop, "k-9", "/v1/x", "10.0.0.1")
	f.Add("version: 1\nrules: [{name: a, per: all, limits: [{default: true, limit: 1/s}]}]\noverrides: []", "", "//a/../b", "::1%x")
	f.Add("a: &a [*a, *a]\nb: &b [*a,*a]\n", "k", "", "")
	f.Add("overrides:\n- - - -\n- {key: [\n", "k", "", "")
	f.Add("version: 1\nrules:\n- name: a\n  per: route\n  route: ['/{x}/*']\n  limits: [{address: ::ffff:1.2.3.4, limit: 1/s}]\n", "k", "/a", "::ffff:1.2.3.4")
	f.Fuzz(func(t *testing.T, text, key, path, address string) {
		s, err := Parse([]byte(text), "f")
		if err != nil {
			var all Errors
			if !errors.As(err, &all) || len(all) == 0 || s != nil {
				t.Fatalf("%v is no Errors", err)
			}
			return
		}
		lines := strings.Count(text, "\n") + 1
		for i, l := range s.Limits() {
			if l.Index != i || l.Spec.Validate() != nil || l.at.line < 1 || l.at.line > lines {
				t.Fatalf("limit %+v in %d lines", l, lines)
			}
		}
		for _, r := range []Request{{Key: key, Plan: key, Address: address, Method: "GET", Path: path}, {Address: address, Method: key, Path: path}} {
			hits := s.Match(nil, r, 0)
			if len(hits) > MaxAtOnce {
				t.Fatalf("%d hits", len(hits))
			}
			for _, h := range hits {
				if h.Cost < 1 || h.Limit == nil || h.Limit.Rule() != h.Rule {
					t.Fatalf("hit %+v", h)
				}
			}
		}
		for _, p := range s.Check(Against{Now: 1, Gateways: 20}) {
			if p.What == "" || p.Line > lines {
				t.Fatalf("problem %+v", p)
			}
		}
		if d := Diff(s, s, 0); len(d) != 0 {
			t.Fatalf("not itself: %v", d)
		}
		// An edit either says no or does what it was asked for.
		want := limit.Spec{Rate: limit.Rate{Units: 3, Per: time.Second}, Burst: 4}
		if now, err := s.SetOverride(key, s.Rules[0].Name, want, "x", time.Unix(4e9, 0)); err == nil {
			if o := now.Override(key, s.Rules[0].Name); o == nil || o.Limit.Spec != want || now.Version != s.Version+1 {
				t.Fatalf("override %+v in version %d", o, now.Version)
			}
			if now, err := now.DropOverride(key, s.Rules[0].Name); err != nil || now.Override(key, s.Rules[0].Name) != nil {
				t.Fatalf("not taken back: %v in %q", err, now.Text())
			}
		}
	})
}

// Texts that are made to be expensive cost little.
func TestHostileTextsAreHarmless(t *testing.T) {
	for name, text := range map[string]string{
		"aliases":         "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nversion: *c\n",
		"aliases granted": "version: 1\nrules: [{name: a, per: all, limits: [{default: true, limit: 1/s}]}]\noverrides:\n- &a {key: k}\n- *a\n- <<: *a\n",
		"brackets":        strings.Repeat("[", 1<<20),
		"brackets, lines": strings.Repeat("[\n", 1<<20),
		"dashes":          strings.Repeat("- ", 1<<20),
		"dashes, lines":   "overrides:\n" + strings.Repeat("- - - - - - - -\n", 1<<17),
		"one long line":   "version: " + strings.Repeat("1", 1<<20),
		"many fields":     "version: 1\n" + strings.Repeat("x: y\n", 1<<18),
		"many entries":    "overrides:\n" + strings.Repeat("- a\n", 1<<20),
		"one huge entry":  "overrides:\n- a\n" + strings.Repeat("  b: c\n", 1<<18),
		"indentation":     indented(4000),
		"questions":       strings.Repeat("? ", 2000) + "\n",
		"too big":         strings.Repeat("#\n", MaxBytes/2+1),
		"not text":        "version: 1\n\xff\xfe: 1\n",
		"a tab":           "version: 1\nrules:\n\t- name: a\n",
		"a merge":         "version: 1\nrules:\n- <<: {name: a}\n  per: all\n  limits: [{default: true, limit: 1/s}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse([]byte(text), "f"); err == nil {
				t.Error("no error")
			} else if len(err.Error()) > 10_000 {
				t.Errorf("the error has %d bytes", len(err.Error()))
			}
		})
	}
}

func indented(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

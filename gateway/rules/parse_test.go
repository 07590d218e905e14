package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

const shop = `# What the shop promises.
version: 7
rules:
  - name: requests
    per: key
    route: /v1/*
    limits:
      - {key: k-7, limit: "80/s,burst=160"}
      - {plan: gold, limit: "100/s,burst=200"}
      - {address: 10.0.0.0/8, limit: "50/s,burst=100"}
      - {address: 10.1.0.0/16, limit: "60/s,burst=120"}
      - {address: "2001:db8::/32", limit: "40/s,burst=80"}
      - {default: true, limit: "10/s,burst=20"}
    cost:
      POST /v1/export: 10
      GET /v1/health: 0
    on_failure: local
    slack: 1.25
    lease: {block: 5, life: 10s}
  - name: login
    per: address
    route: [POST /v1/login, "POST /v1/users/{id}/password"]
    limits:
      - {default: true, limit: "5/m,burst=5"}
    security: true
  - name: everybody
    per: all
    mode: shadow
    limits:
      - {default: true, limit: "concurrency:limit=400"}
overrides:
  - key: k-9
    rule: requests
    limit: 20/s,burst=40
    reason: a launch, asked for by support
    expires: 2030-06-01
  - {key: k-7, rule: requests, limit: "90/s,burst=90", reason: "a test: two days", expires: 2030-01-02T12:00:00Z}
`

func mustParse(t testing.TB, text string) *Set {
	t.Helper()
	s, err := Parse([]byte(text), "rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseReadsEverything(t *testing.T) {
	s := mustParse(t, shop)
	if s.Version != 7 || len(s.Rules) != 3 || len(s.Overrides) != 2 || len(s.Limits()) != 10 {
		t.Fatalf("version %d, %d rules, %d overrides, %d limits", s.Version, len(s.Rules), len(s.Overrides), len(s.Limits()))
	}
	for i, l := range s.Limits() {
		if l.Index != i {
			t.Errorf("limit %d has index %d", i, l.Index)
		}
	}
	r := s.Rules[0]
	if r.OnFailure != limit.FailLocal || r.Slack != (limit.Fraction{Num: 5, Den: 4}) || r.Lease != (Lease{true, 5, 10 * time.Second}) || r.Shadow || r.Security {
		t.Errorf("rule %+v", r)
	}
	if login := s.Rules[1]; !login.Security || login.OnFailure != limit.FailClosed || len(login.Routes) != 2 {
		t.Errorf("login %+v", login)
	}
	if !s.Rules[2].Shadow || s.Rules[2].OnFailure != limit.FailLocal {
		t.Errorf("everybody %+v", s.Rules[2])
	}
	o := s.Override("k-9", "requests")
	if o == nil || o.Limit.From != "override: a launch, asked for by support" || o.Limit.Spec.Burst != 40 {
		t.Fatalf("override %+v", o)
	}
	if o.Expired(o.Expires.UnixNano()-1) || !o.Expired(o.Expires.UnixNano()) {
		t.Error("an override ends at its instant")
	}
}

func TestParseRefuses(t *testing.T) {
	rule := func(lines string) string {
		return "version: 1\nrules:\n  - name: a\n    per: key\n    limits: [{default: true, limit: '1/s,burst=1'}]\n" + lines
	}
	tests := []struct{ name, text, want string }{
		{"nothing", "", "f: is empty"},
		{"no version", "rules: [{name: a, per: all, limits: [{default: true, limit: 1/s}]}]", "f:1:1: version is missing"},
		{"version 0", "version: 0\nrules: []", "f:1:10: version is 0"},
		{"version huge", "version: 9007199254740992\nrules: []", "is above"},
		{"no rules", "version: 1\nrules: []", "f:2:1: rules has no rule"},
		{"unknown field", rule("    limitz: 1\n"), `f:6:5: unknown field "limitz" in a rule`},
		{"twice", "version: 1\nversion: 2\n", "already defined"},
		{"no limit's limit", "version: 1\nrules: [{name: a, per: all, limits: [{default: true}]}]", "a limit has no limit in it"},
		{"two scopes", "version: 1\nrules: [{name: a, per: all, limits: [{default: true, key: b, limit: 1/s}]}]", "a limit is for 2 of"},
		{"bad name", "version: 1\nrules: [{name: 'A b', per: all, limits: [{default: true, limit: 1/s}]}]", `name "A b" has more in it`},
		{"same name", "version: 1\nrules:\n- {name: a, per: all, limits: [{default: true, limit: 1/s}]}\n- {name: a, per: all, limits: [{default: true, limit: 1/s}]}", "f:4:10: rule a is there already, on line 3"},
		{"two values", "version: 1\nrules: [{name: a, per: [key, address], limits: [{default: true, limit: 1/s}]}]", "a rule cannot count per key and address at once"},
		{"two values in one", "version: 1\nrules: [{name: a, per: key+address, limits: [{default: true, limit: 1/s}]}]", "a rule cannot count per key and address at once"},
		{"unknown per", "version: 1\nrules: [{name: a, per: user, limits: [{default: true, limit: 1/s}]}]", `per "user" is not what`},
		{"bad limit", "version: 1\nrules: [{name: a, per: all, limits: [{default: true, limit: 10}]}]", "has no unit of time"},
		{"host bits", "version: 1\nrules: [{name: a, per: key, limits: [{address: 10.1.2.3/8, limit: 1/s}]}]", "is not the first of its range"},
		{"same range", "version: 1\nrules: [{name: a, per: key, limits: [{address: 10.0.0.1, limit: 1/s},{address: 10.0.0.1/32, limit: 1/s}]}]", "has a limit in this rule already"},
		{"same key", "version: 1\nrules: [{name: a, per: key, limits: [{key: x, limit: 1/s},{key: x, limit: 2/s}]}]", "has a limit in this rule already"},
		{"two defaults", "version: 1\nrules: [{name: a, per: key, limits: [{default: true, limit: 1/s},{default: true, limit: 2/s}]}]", "has a default already"},
		{"same route", rule("    cost: {'GET /a/{b}': 1, 'GET /a/{c}': 2}\n"), "matches the same as GET /a/{b}"},
		{"bad route", rule("    route: get /a\n"), "capital letters"},
		{"relative route", rule("    route: a/b\n"), "no path that begins with /"},
		{"inner star", rule("    route: /a*/b\n"), "a star inside a segment"},
		{"negative cost", rule("    cost: -1\n"), "is below 0"},
		{"slack alone", rule("    on_failure: open\n    slack: 1.5\n"), "slack says nothing with on_failure: open"},
		{"slack below one", rule("    on_failure: local\n    slack: 0.5\n"), "is not from 1 to 100"},
		{"routes to count", "version: 1\nrules: [{name: a, per: route, limits: [{default: true, limit: 1/s}]}]", "per: route has no routes"},
		{"anchor", rule("    route: &x /a\n"), "has an anchor or an alias"},
		{"no reason", rule("overrides:\n  - {key: k, rule: a, limit: 1/s, expires: 2030-01-01}\n"), "f:7:5: the override has no reason"},
		{"empty reason", rule("overrides:\n  - {key: k, rule: a, limit: 1/s, reason: ' ', expires: 2030-01-01}\n"), "empty reason"},
		{"no expiry", rule("overrides:\n  - key: k\n    rule: a\n    limit: 1/s\n    reason: x\n"), "f:7:5: the override has no expires"},
		{"no such rule", rule("overrides:\n  - {key: k, rule: b, limit: 1/s, reason: x, expires: 2030-01-01}\n"), `rule "b" is not in this file`},
		{"override twice", rule("overrides:\n  - {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n  - {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n"), "f:8:5: the key has an override of rule a already"},
		{"bad date", rule("overrides:\n  - {key: k, rule: a, limit: 1/s, reason: x, expires: soon}\n"), "is not a date"},
		{"a word in the list", rule("overrides:\n  - soon\n"), "f:7:5: an override is \"soon\", not a mapping"},
		{"line of another entry", rule("overrides:\n  - {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n  - {key: [\n"), "f:8:"},
		{"two documents", "version: 1\n---\nversion: 2\n", "a second document"},
		{"control", rule("overrides:\n  - {key: \"k\\e\", rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n"), "key has a control character"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.text), "f")
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestParseKeepsLinesOfManyOverrides(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nrules: [{name: a, per: key, limits: [{default: true, limit: 1/s}]}]\noverrides: # granted\n")
	const n = 3000
	for i := range n {
		fmt.Fprintf(&b, "- key: k-%d\n  rule: a\n  # why\n  limit: 2/s\n  reason: >\n    one\n    two\n  expires: 2030-01-01\n", i)
	}
	s := mustParse(t, b.String())
	if len(s.Overrides) != n {
		t.Fatalf("%d overrides", len(s.Overrides))
	}
	last := s.Overrides[n-1]
	if want := 4 + 8*(n-1); last.from != want || last.to != want+7 || last.Limit.at != (spot{want + 3, 10}) {
		t.Errorf("the last is on %d to %d, its limit at %v; want %d", last.from, last.to, last.Limit.at, want)
	}
	if s.Override("k-2999", "a") != last || last.Reason != "one two" {
		t.Errorf("last %+v", last)
	}
	b.WriteString("- key: k-0\n  rule: a\n  limit: 0/s\n  reason: x\n  expires: 2030-01-01\n")
	_, err := Parse([]byte(b.String()), "f")
	if want := fmt.Sprintf("f:%d:10: ", 4+8*n+2); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

package rules

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-cli/weir/limit"
)

func short(problems []Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, fmt.Sprintf("%v %s %s:%d", p.Severity, p.ID, p.Rule, p.Line))
	}
	return strings.Join(out, "; ")
}

func TestCheck(t *testing.T) {
	against := Against{Now: day("2030-01-01"), Gateways: 20, Exact: func(s limit.Spec) error {
		if s.Burst == 777 {
			return errors.New("too fine")
		}
		return nil
	}}
	// Each is the lines of one rule per key named a, from line 5 on.
	tests := []struct{ name, lines, want string }{
		{"nothing wrong", "limits: [{default: true, limit: '10/s,burst=20'}]", ""},
		{"no default", "limits: [{plan: gold, limit: '10/s,burst=20'}]", "error no-default a:3"},
		{"cost above burst", "limits: [{default: true, limit: '10/s,burst=20'}]\ncost: {POST /x: 21}", "error cost-above-burst a:5"},
		{"cost of the burst", "limits: [{default: true, limit: '10/s,burst=20'}]\ncost: {POST /x: 20}", ""},
		{"cost above one of two", "limits:\n- {plan: tin, limit: 'fixed-window:limit=5,window=1s'}\n- {default: true, limit: '10/s,burst=20'}\ncost: 6", "error cost-above-burst a:6; warning mixed-algorithms a:7"},
		{"cost of a queue", "limits: [{default: true, limit: 'leaky-queue:rate=10/s,queue=5'}]\ncost: 6", ""},
		{"cost above a queue", "limits: [{default: true, limit: 'leaky-queue:rate=10/s,queue=5'}]\ncost: 7", "error cost-above-burst a:5"},
		{"cost where the rule is not", "limits: [{default: true, limit: '10/s,burst=20'}]\nroute: GET /a\ncost: {GET /b: 50}", "warning cost-unreached a:7"},
		{"ttl", "limits: [{default: true, limit: '10/s,burst=20'}]\nttl: 2s", ""},
		{"ttl too short", "limits: [{default: true, limit: '10/s,burst=20'}]\nttl: 1999ms", "error ttl-too-short a:5"},
		{"ttl of a sliding counter", "limits: [{default: true, limit: 'sliding-counter:limit=6,window=60s'}]\nttl: 119s", "error ttl-too-short a:5"},
		{"ttl of a window", "limits: [{default: true, limit: 'fixed-window:limit=6,window=60s'}]\nttl: 60s", ""},
		{"ttl of slots", "limits: [{default: true, limit: 'concurrency:limit=6'}]\nttl: 1s", ""},
		{"security open", "limits: [{default: true, limit: '10/s,burst=20'}]\nsecurity: true\non_failure: open", "error security-fails-open a:3"},
		{"security leased", "limits: [{default: true, limit: '10/s,burst=20'}]\nsecurity: true\nlease: on", "error security-leased a:3"},
		{"security local", "limits: [{default: true, limit: '10/s,burst=20'}]\nsecurity: true\non_failure: local", ""},
		{"security in shadow", "limits: [{default: true, limit: '10/s,burst=20'}]\nsecurity: true\nmode: shadow", "note security-in-shadow a:3"},
		{"lease", "limits: [{default: true, limit: '10/s,burst=24'}]\nlease: {block: 1}\non_failure: open", ""},
		{"lease too large", "limits: [{default: true, limit: '10/s,burst=23'}]\nlease: {block: 1}\non_failure: open", "error lease-too-large a:5"},
		{"lease huge", "limits: [{default: true, limit: '10/s,burst=23'}]\nlease: {block: 1000000000000}\non_failure: open", "error lease-too-large a:5"},
		{"lease by itself", "limits: [{default: true, limit: '10/s,burst=2'}]\nlease: on\non_failure: open", ""},
		{"lease of a window", "limits: [{default: true, limit: 'fixed-window:limit=6,window=60s'}]\nlease: on\non_failure: open", "error lease-algorithm a:5"},
		{"a share below one", "limits: [{default: true, limit: '10/s,burst=19'}]\non_failure: local", "note share-below-one a:5"},
		{"a share of one", "limits: [{default: true, limit: '10/s,burst=20'}]\non_failure: local", ""},
		{"not exact", "limits: [{default: true, limit: '10/s,burst=777'}]", "error not-exact a:5"},
		{"all free", "limits: [{default: true, limit: '10/s,burst=20'}]\nroute: /a/*\ncost: {/*: 0}", "error rule-unreached a:3"},
		{"free but for one", "limits: [{default: true, limit: '10/s,burst=20'}]\nroute: /a/*\ncost: {/*: 0, /a/b: 1}", ""},
		{"by address", "limits: [{address: 10.0.0.0/8, limit: '10/s,burst=20'}, {default: true, limit: '10/s,burst=20'}]", "note mixed-scope a:5"},
		{"override expired", "limits: [{default: true, limit: '10/s,burst=20'}]\noverrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}", "warning override-expired a:7"},
		{"expired, whatever it says", "limits: [{default: true, limit: '10/s,burst=20'}]\ncost: 5\noverrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}", "warning override-expired a:8"},
		{"override below a cost", "limits: [{default: true, limit: '10/s,burst=20'}]\ncost: 5\noverrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-02-01}", "error cost-above-burst a:8"},
		{"override too long", "limits: [{default: true, limit: '10/s,burst=20'}]\noverrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2031-01-03}", "error override-too-long a:7"},
		{"override of a year", "limits: [{default: true, limit: '10/s,burst=20'}]\noverrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2031-01-01}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines, overrides, granted := strings.Cut(tt.lines, "\noverrides:\n")
			text := "version: 1\nrules:\n- name: a\n  per: key\n  " + strings.ReplaceAll(lines, "\n", "\n  ")
			if granted {
				text += "\noverrides:\n" + overrides
			}
			s, err := Parse([]byte(text), "f")
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			against := against
			if !strings.Contains(tt.lines, "lease") && !strings.Contains(tt.lines, "local") {
				against.Gateways = 0
			}
			problems := s.Check(against)
			if got := short(problems); got != tt.want {
				t.Errorf("got  %s\nwant %s\n%s", got, tt.want, text)
			}
			for _, p := range problems {
				if p.What == "" || p.Why == "" || p.Fix == "" {
					t.Errorf("problem %+v explains nothing", p)
				}
			}
		})
	}
}

func TestCheckOfSeveral(t *testing.T) {
	tests := []struct{ name, rules, want string }{
		{"the stricter is first", "- {name: a, per: key, limits: [{default: true, limit: '10/s,burst=20'}]}\n- {name: b, per: key, route: /a, limits: [{default: true, limit: '20/s,burst=20'}]}", "warning rule-unreached b:4"},
		{"the stricter is last", "- {name: a, per: key, route: /a, limits: [{default: true, limit: '20/s,burst=20'}]}\n- {name: b, per: key, limits: [{default: true, limit: '10/s,burst=20'}]}", "warning rule-unreached a:3"},
		{"a smaller burst", "- {name: a, per: key, limits: [{default: true, limit: '10/s,burst=20'}]}\n- {name: b, per: key, limits: [{default: true, limit: '20/s,burst=19'}]}", ""},
		{"another scope", "- {name: a, per: key, limits: [{default: true, limit: '10/s,burst=20'}]}\n- {name: b, per: address, limits: [{default: true, limit: '20/s,burst=20'}]}", ""},
		{"another route", "- {name: a, per: key, route: /a, limits: [{default: true, limit: '10/s,burst=20'}]}\n- {name: b, per: key, route: /b, limits: [{default: true, limit: '20/s,burst=20'}]}", ""},
		{"only a trial", "- {name: a, per: key, mode: shadow, limits: [{default: true, limit: '10/s,burst=20'}]}\n- {name: b, per: key, limits: [{default: true, limit: '20/s,burst=20'}]}", ""},
		{"by key for all", "- {name: a, per: all, limits: [{key: k, limit: '10/s,burst=20'}, {default: true, limit: '10/s,burst=20'}]}", "error mixed-scope a:3"},
		{"an override for all", "- {name: a, per: all, limits: [{default: true, limit: '10/s,burst=20'}]}\noverrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-03}", "error mixed-scope a:5"},
		{"by plan per address", "- {name: a, per: address, limits: [{plan: p, limit: '10/s,burst=20'}, {default: true, limit: '10/s,burst=20'}]}", "warning mixed-scope a:3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, problems := CheckText([]byte("version: 1\nrules:\n"+tt.rules), "f", Against{Now: day("2030-01-01")})
			if got := short(problems); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	_, problems := CheckText([]byte("version: 1\nrules: [{name: a, per: key, limits: [{default: true, limit: '1/s,burst=2'}]}]"), "f", Against{Gateways: 3})
	if got := short(problems); got != "note share-below-one a:2" {
		t.Errorf("local is what a rule does that says nothing: %s", got)
	}
	if got := short(FromLimit(limit.Spec{Burst: 1}).Check(Against{})); got != "error version-zero :1" {
		t.Errorf("a set of no file: %s", got)
	}
}

func TestCheckTellsWhyATextIsNoSet(t *testing.T) {
	s, problems := CheckText([]byte("version: 1\nrules: [{name: a, per: [key, address], limits: [{default: true, limit: 1/s}]}]"), "f", Against{})
	if s != nil || len(problems) != 1 || Faults(problems) != 1 {
		t.Fatalf("%v %+v", s, problems)
	}
	if p := problems[0]; p.ID != "unreadable" || p.Rule != "a" || p.Line != 2 || p.Why != twoBuckets || !strings.Contains(p.Fix, "one per: key and one per: address") {
		t.Errorf("problem %+v", p)
	}
}

func TestCheckStopsTelling(t *testing.T) {
	var b strings.Builder
	b.WriteString("version: 1\nrules: [{name: a, per: key, cost: 5, limits: [{default: true, limit: '1/s,burst=5'}]}]\noverrides:\n")
	for i := range 2 * maxProblems {
		fmt.Fprintf(&b, "- {key: k-%d, rule: a, limit: '1/s,burst=4', reason: x, expires: 2030-01-01}\n", i)
	}
	_, problems := CheckText([]byte(b.String()), "f", Against{})
	if len(problems) != maxProblems {
		t.Errorf("%d problems, want %d", len(problems), maxProblems)
	}
}

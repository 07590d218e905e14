package rules

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func spec(t testing.TB, s string) limit.Spec {
	t.Helper()
	out, err := limit.ParseSpec(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// lined shows what an edit changed, line by line.
func lined(a, b []byte) string {
	was := map[string]int{}
	for l := range strings.Lines(string(a)) {
		was[strings.TrimSuffix(l, "\n")]++
	}
	var out []string
	for l := range strings.Lines(string(b)) {
		if l = strings.TrimSuffix(l, "\n"); was[l] > 0 {
			was[l]--
		} else {
			out = append(out, "+"+l)
		}
	}
	for l := range strings.Lines(string(a)) {
		if l = strings.TrimSuffix(l, "\n"); was[l] > 0 {
			was[l]--
			out = append(out, "-"+l)
		}
	}
	return strings.Join(out, "\n")
}

func TestEditChangesOneThing(t *testing.T) {
	const head = "version: 9 # now\nrules:\n"
	const block = head + "- name: a # ü, é\n  per: key\n  limits:\n  # all\n  - plan: gold\n    limit: 5/s,burst=5 # few\n  - {default: true, limit: '1/s,burst=1'}\n"
	const flow = `{"version": 9, "rules": [{"name": "a", "per": "key", "limits": [{"plan": "gold", "limit": "5/s,burst=5"}, {"default": true, "limit": 1/s}]}]}`
	end := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	limits := func(plan, text string) func(s *Set) (*Set, error) {
		return func(s *Set) (*Set, error) { return s.SetLimit("a", plan, spec(t, text)) }
	}
	grant := func(key string) func(s *Set) (*Set, error) {
		return func(s *Set) (*Set, error) {
			return s.SetOverride(key, "a", spec(t, "7/s,burst=7"), `a "launch": ü #1`, end)
		}
	}
	drop := func(s *Set) (*Set, error) { return s.DropOverride("k", "a") }
	const entry = `{key: "k", rule: a, limit: "7/s,burst=7", reason: "a \"launch\": ü #1", expires: 2030-01-02T03:04:05Z}`
	const version = "+version: 10 # now\n"
	const gone = "\n-version: 9 # now"
	tests := []struct {
		name, text string
		do         func(s *Set) (*Set, error)
		want       string
	}{
		{"a plan's limit", block, limits("gold", "8/s,burst=16"), version + `+    limit: "8/s,burst=16" # few` + gone + "\n-    limit: 5/s,burst=5 # few"},
		{"the default", block, limits("default", "2/s,burst=2"), version + `+  - {default: true, limit: "2/s,burst=2"}` + gone + "\n-  - {default: true, limit: '1/s,burst=1'}"},
		{"a plan more", block, limits("tin", "gcra:rate=1/s,burst=2"), version + `+  - {plan: "tin", limit: "gcra:rate=1/s,burst=2"}` + gone},
		{"a plan's limit in brackets", flow, limits("gold", "8/s,burst=16"), `+{"version": 10, "rules": [{"name": "a", "per": "key", "limits": [{"plan": "gold", "limit": "8/s,burst=16"}, {"default": true, "limit": 1/s}]}]}` + "\n-" + flow},
		{"a plain default in brackets", flow, limits("default", "2/s,burst=2"), `+{"version": 10, "rules": [{"name": "a", "per": "key", "limits": [{"plan": "gold", "limit": "5/s,burst=5"}, {"default": true, "limit": "2/s,burst=2"}]}]}` + "\n-" + flow},
		{"a plan more in brackets", flow, limits("t", "2/s,burst=2"), `+{"version": 10, "rules": [{"name": "a", "per": "key", "limits": [{plan: "t", limit: "2/s,burst=2"}, {"plan": "gold", "limit": "5/s,burst=5"}, {"default": true, "limit": 1/s}]}]}` + "\n-" + flow},
		{"the first override", block, grant("k"), version + "+overrides:\n+  - " + entry + gone},
		{"the first, no line's end", strings.TrimSuffix(block, "\n"), grant("k"), version + "+overrides:\n+  - " + entry + gone},
		{"under a name alone", block + "overrides: # none\n# end\n", grant("k"), version + "+  - " + entry + gone},
		{"into an empty list", block + "overrides: []\n", grant("k"), version + "+overrides: [" + entry + "]" + gone + "\n-overrides: []"},
		{"into a list in brackets", block + "overrides: [{key: j, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}]\n", grant("k"),
			version + "+overrides: [" + entry + ", {key: j, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}]" + gone + "\n-overrides: [{key: j, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}]"},
		{"after another", "overrides:\n    - {key: j, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n    # end\n" + block, grant("k"), "+    - " + entry + "\n" + strings.TrimSuffix(version, "\n") + gone},
		{"in place of its own", block + "overrides:\n- key: k\n  rule: a\n  # why\n  limit: 1/s\n  reason: |\n    x\n  expires: 2030-01-01\n\n# end\n", grant("k"),
			version + "+- " + entry + gone + "\n-- key: k\n-  rule: a\n-  # why\n-  limit: 1/s\n-  reason: |\n-    x\n-  expires: 2030-01-01"},
		{"away with one", block + "overrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n- {key: j, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}\n", drop,
			strings.TrimSuffix(version, "\n") + gone + "\n-- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}"},
		{"away with the only one", block + "overrides:\n- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}", drop,
			strings.TrimSuffix(version, "\n") + gone + "\n-- {key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := mustParse(t, tt.text)
			now, err := tt.do(s)
			if err != nil {
				t.Fatal(err)
			}
			if got := lined([]byte(tt.text), now.Text()); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if now.Version != 10 || s.Version != 9 || string(s.Text()) != tt.text {
				t.Errorf("version %d", now.Version)
			}
			// And again, on what was written.
			if strings.HasPrefix(tt.text, "{") {
				if _, err := now.SetOverride("z", "a", spec(t, "7/s"), "r", end); err != errInPlace {
					t.Errorf("again: %v", err)
				}
			} else if again, err := now.SetOverride("z", "a", spec(t, "7/s"), "r", end); err != nil || again.Version != 11 {
				t.Errorf("again: %v", err)
			}
		})
	}
}

func TestEditRefuses(t *testing.T) {
	const block = "version: 9\nrules:\n- {name: a, per: key, limits: [{default: true, limit: 1/s}]}\n"
	end := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		name, text string
		do         func(s *Set) (*Set, error)
		want       string
		missing    bool
	}{
		{"no such rule", block, func(s *Set) (*Set, error) { return s.SetLimit("b", "gold", spec(t, "1/s")) }, `there is no rule "b"`, true},
		{"no such override", block, func(s *Set) (*Set, error) { return s.DropOverride("k", "a") }, "the key has no override of rule a", true},
		{"a limit on lines of its own", "version: 9\nrules:\n- name: a\n  per: key\n  limits:\n  - default: true\n    limit: |\n      1/s\n", func(s *Set) (*Set, error) { return s.SetLimit("a", "default", spec(t, "2/s")) }, "cannot be changed in place", false},
		{"an override in brackets", block + "overrides: [{key: k, rule: a, limit: 1/s, reason: x, expires: 2030-01-01}]\n", func(s *Set) (*Set, error) { return s.DropOverride("k", "a") }, "cannot be changed in place", false},
		{"an empty reason", block, func(s *Set) (*Set, error) { return s.SetOverride("k", "a", spec(t, "1/s"), " ", end) }, "empty reason", false},
		{"a key that YAML cannot hold", block, func(s *Set) (*Set, error) { return s.SetOverride("k\x1b[", "a", spec(t, "1/s"), "x", end) }, "control character", false},
		{"a plan that is too long", block, func(s *Set) (*Set, error) { return s.SetLimit("a", strings.Repeat("p", MaxKey+1), spec(t, "1/s")) }, "plan is longer", false},
		{"another version's text", "version: 0x9\nrules:\n- {name: a, per: key, limits: [{default: true, limit: 1/s}]}\n", nil, "", false},
		{"the last version", "version: 9007199254740991\nrules:\n- {name: a, per: key, limits: [{default: true, limit: 1/s}]}\n", func(s *Set) (*Set, error) { return s.SetLimit("a", "default", spec(t, "2/s")) }, "cannot grow", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.do == nil {
				if _, err := Parse([]byte(tt.text), "f"); err == nil {
					t.Error("no error")
				}
				return
			}
			_, err := tt.do(mustParse(t, tt.text))
			var e *EditError
			if !errors.As(err, &e) || !strings.Contains(e.Msg, tt.want) || e.Missing != tt.missing {
				t.Errorf("got %#v, want %s", err, tt.want)
			}
		})
	}
	if _, err := FromLimit(spec(t, "1/s")).SetLimit("default", "gold", spec(t, "1/s")); err == nil {
		t.Error("a set of no file was changed")
	}
}

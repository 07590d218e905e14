package main

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/weir-cli/weir/gateway"
	"github.com/weir-cli/weir/gateway/rules"
)

// miniRedis starts a Redis for the rest of a script; REDIS is its URL.
func miniRedis(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: miniredis")
	}
	m, err := miniredis.Run()
	ts.Check(err)
	ts.Defer(m.Close)
	ts.Setenv("REDIS", "redis://"+m.Addr())
}

func TestManyChangesOfOverridesAreCounted(t *testing.T) {
	var changes []rules.Change
	for range maxChangeLines + 5 {
		changes = append(changes, rules.Change{Kind: "override-added", Rule: "a", Buckets: "kept"})
	}
	text := changesText(append([]rules.Change{{Kind: "version", From: "1", To: "2"}}, changes...))
	if got := strings.Count(text, "override added"); got != maxChangeLines || !strings.HasSuffix(text, "    buckets: kept\nand 5 changes of overrides more; --json has them all\n") {
		t.Errorf("%d lines:\n%s", got, text)
	}
	if got := changesText(nil); got != "no difference\n" {
		t.Errorf("nothing: %q", got)
	}
}

func TestWhoSigns(t *testing.T) {
	a, _, _ := testApp("USER=ops")
	if got := signedBy(a); !strings.HasPrefix(got, "ops") {
		t.Errorf("signed by %q", got)
	}
}

// Every field of the documents has its place on the page.
func TestRuleDocumentsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, v := range []any{rulesChecked{}, rules.Problem{}, rulesDiffed{}, rules.Change{}, rulesPushed{}, rulesHistory{}, gateway.Pushed{}, gateway.RuleStatus{}} {
		for i := range reflect.TypeOf(v).NumField() {
			f := reflect.TypeOf(v).Field(i)
			n++
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("docs/rules.md does not name %q of %T", name, v)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d fields", n)
	}
}

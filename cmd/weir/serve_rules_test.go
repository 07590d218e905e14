package main

import (
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/rogpeppe/go-internal/testscript"

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

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-cli/weir/internal/redistest"
)

// The users that the page on production describes can do what it says, and the
// gateways' can change no rules.
func TestDocumentedUsers(t *testing.T) {
	page, err := os.ReadFile("../../docs/production.md")
	if err != nil {
		t.Fatal(err)
	}
	users := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if text, ok := strings.CutPrefix(line, "user "); ok {
			name, _, _ := strings.Cut(text, " ")
			users[name] = strings.TrimSpace(text)
		}
	}
	if users["gateway"] == "" || users["operator"] == "" || users["default"] != "default off" {
		t.Fatalf("the page has the users %q", users)
	}
	r := redistest.ACL(t, users["gateway"], users["operator"])
	dir := t.TempDir()
	as := func(user string) []string {
		file := filepath.Join(dir, user)
		_, rest, _ := strings.Cut(users[user], ">")
		password, _, _ := strings.Cut(rest, " ")
		if err := os.WriteFile(file, []byte(password+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return []string{"--redis=" + r.URL, "--redis-user=" + user, "--redis-password-file=" + file}
	}
	run := func(args ...string) (int, string) {
		a, out, errs := testApp()
		code := a.execute(t.Context(), newRoot(a, newServeCmd(a)), args)
		return code, out.String() + errs.String()
	}
	rules := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(rules, []byte("version: 1\nrules:\n- {name: requests, per: key, lease: on, limits: [{default: true, limit: '100/s,burst=200'}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	push := []string{"serve", "rules", "push", rules, "--reason=first", "--yes"}
	if code, said := run(append(push, as("gateway")...)...); code != exitReach {
		t.Errorf("the gateways' user pushes rules: exit %d, %s", code, said)
	}
	if code, said := run(append(push, as("operator")...)...); code != exitOK {
		t.Fatalf("the operator's does not: exit %d, %s", code, said)
	}
	if code, said := run(append([]string{"serve", "rules", "history"}, as("operator")...)...); code != exitOK || !strings.Contains(said, "first") {
		t.Errorf("exit %d, %s", code, said)
	}
	for _, design := range []string{"central", "leases,deny-cache"} {
		code, stdout, stderr := served(t, 3, append([]string{"--rules-from=redis", "--meter=redis", "--store-timeout=10s", "--design=" + design}, as("gateway")...)...)
		if code != exitOK || strings.Contains(stdout+stderr, "fail modes") || strings.Contains(stderr, "rules: ") {
			t.Errorf("%s: exit %d, %s%s", design, code, stdout, stderr)
		}
	}
	if code, said := run(append([]string{"serve", "metered"}, as("gateway")...)...); code != exitOK || !strings.Contains(said, "counted by 2 gateways") {
		t.Errorf("exit %d, %s", code, said)
	}
}

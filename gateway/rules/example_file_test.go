package rules

import (
	"os"
	"strings"
	"testing"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// The file that people begin with is right, at the time it was written and for
// a fleet of the size that it names.
func TestExampleFileIsClean(t *testing.T) {
	text, err := os.ReadFile("../../examples/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	exact := func(s limit.Spec) error { _, err := redislimit.Compile(s); return err }
	s, problems := CheckText(text, "examples/rules.yaml", Against{Now: day("2026-12-01"), Gateways: 20, Exact: exact})
	for _, p := range problems {
		t.Errorf("%+v", p)
	}
	if s == nil || len(s.Rules) != 4 || len(s.Overrides) != 1 {
		t.Fatalf("set %+v", s)
	}
	if got, want := hits(s, Request{Key: "customer-4711", Plan: "gold", Address: "192.0.2.1", Method: "POST", Path: "/v1/reports/7/export"}, day("2026-12-01")),
		"requests customer-4711 400 x10; exports-a-day customer-4711 200 x1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := hits(s, Request{Address: "192.0.2.1", Method: "POST", Path: "/v1/login"}, 0), "requests 192.0.2.1 20 x1; login 192.0.2.1 5 x1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := hits(s, Request{Key: "k", Method: "GET", Path: "/v1/status"}, 0), ""; got != want {
		t.Errorf("got %s", got)
	}
}

// The page names each problem that the checker knows.
func TestProblemsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range []string{"check.go", "check_scope.go", "problem.go", "../rulekeeper.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(text), `"`) {
			if strings.Count(part, "-") > 0 && strings.Trim(part, "abcdefghijklmnopqrstuvwxyz-") == "" && part[0] != '-' || part == "unreadable" {
				n++
				if !strings.Contains(string(page), "| `"+part+"` |") {
					t.Errorf("docs/rules.md does not name %q", part)
				}
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d problems were found", n)
	}
}

package weir_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/weir-cli/weir/report"
)

// Every field of the result has its place in the contract.
func TestResultIsDocumented(t *testing.T) {
	text := readDoc(t, "docs/result.md")
	seen := map[reflect.Type]bool{}
	var walk func(typ reflect.Type)
	walk = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(typ.Elem())
			return
		case reflect.Struct:
		default:
			return
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			if !regexp.MustCompile("[`.]" + regexp.QuoteMeta(name) + "(\\[\\])?[`.]").MatchString(text) {
				t.Errorf("docs/result.md does not name %q (%s.%s)", name, typ.Name(), f.Name)
			}
			walk(f.Type)
		}
	}
	walk(reflect.TypeOf(report.Result{}))
	if len(seen) < 10 {
		t.Errorf("only %d types were looked at", len(seen))
	}
}

func TestFindingsAreDocumented(t *testing.T) {
	text := readDoc(t, "docs/findings.md")
	known := map[string]bool{}
	for _, id := range report.FindingIDs() {
		known[id] = true
		if !strings.Contains(text, "\n## "+id+"\n") {
			t.Errorf("docs/findings.md has no section for %s", id)
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("docs/findings.md describes %s, which there is not", m[1])
		}
	}
}

// Links between the pages lead somewhere.
func TestLinksLead(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 3 {
		t.Fatalf("found pages %q, %v", pages, err)
	}
	for _, page := range append(pages, "README.md") {
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(readDoc(t, page), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s: %v", page, m[1], err)
			}
		}
	}
}

func readDoc(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

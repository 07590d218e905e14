package weir_test

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

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

// Every field of a saved run has its place, too.
func TestEventsAreDocumented(t *testing.T) {
	text := readDoc(t, "docs/result.md")
	long := func(uint32) string { return "x" }
	short := func(uint16) string { return "x" }
	tiny := func(uint8) string { return "x" }
	names := report.Names{Key: long, Target: short, Population: short, Text: long, Source: tiny, Unit: tiny}
	promise := &report.Promise{Text: "x", Units: 1, Per: 1, Burst: 1, Limit: 1, Window: 1, Concurrent: 1}
	meta := report.Meta{Source: "load", Name: "x", Repeat: "x", Duration: 1, Interrupted: true, CPUSeconds: 1, RSSMB: 1}
	var saved strings.Builder
	w := report.NewEventWriter(&saved, names, meta, time.Unix(1, 0), promise)
	w.Write(&report.Event{Has: ^report.Has(0), Status: 1, Route: 1, Bytes: 1, Class: report.Timeout, Text: 1, HintSource: 1, HintUnit: 1})
	if err := w.End(meta); err != nil {
		t.Fatal(err)
	}
	fields := regexp.MustCompile(`"([a-z_]+)":`).FindAllStringSubmatch(saved.String(), -1)
	if len(fields) < 40 {
		t.Fatalf("only %d fields in %s", len(fields), saved.String())
	}
	for _, f := range fields {
		if !strings.Contains(text, "`"+f[1]+"`") {
			t.Errorf("docs/result.md does not name %q of a saved run", f[1])
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

package gateway

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/weir-cli/weir/gateway/journal"
	"github.com/weir-cli/weir/limit/metering"
)

// Every metric, every source and every field stands in the page, and every
// metric of the page is one.
func TestWhatIsSeenIsDocumented(t *testing.T) {
	data, err := os.ReadFile("../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	w := observed(t, Observe{Metrics: true})
	w.decided(0, 1, ruled("requests", true, FromStore), &caller{}, 1, 0)
	w.stored(0, "", 0, "")
	w.stored(0, "", 0, "timeout")
	w.breaker(0, "", true)
	names := map[string]bool{}
	for name := range scraped(t, w.metrics.handler) {
		name, _, _ = strings.Cut(name, "{")
		names[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")] = true
	}
	if len(names) < 20 {
		t.Fatalf("only %d metrics", len(names))
	}
	for name := range names {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("no word of %s", name)
		}
	}
	for _, name := range regexp.MustCompile("`(weir_[a-z_]+)`").FindAllStringSubmatch(text, -1) {
		if !names[name[1]] {
			t.Errorf("%s is no metric", name[1])
		}
	}
	for s := range sources {
		if !strings.Contains(text, "`"+s.String()+"`") {
			t.Errorf("no word of the source %v", s)
		}
	}
	for _, v := range []any{journal.Line{}, journal.Answer{}, metering.Record{}, metering.KeyTotal{}, metering.Instance{}, Health{}} {
		for _, field := range jsonFields(reflect.TypeOf(v), map[reflect.Type]bool{}) {
			if !strings.Contains(text, "`"+field+"`") {
				t.Errorf("no word of the field %q of %T", field, v)
			}
		}
	}
}

// jsonFields are the names under which a struct and what is in it are written.
func jsonFields(t reflect.Type, seen map[reflect.Type]bool) (names []string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || seen[t] {
		return nil
	}
	seen[t] = true
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
		names = append(names, jsonFields(f.Type, seen)...)
	}
	return names
}

// Two fleets in one process do not share a registry, and neither has what the
// default one would bring along.
func TestRegistriesAreApart(t *testing.T) {
	a, b := observed(t, Observe{Metrics: true}), observed(t, Observe{Metrics: true})
	a.decided(0, 1, ruled("requests", true, FromStore), &caller{}, 1, 0)
	if n := sum(scraped(t, b.metrics.handler), "weir_decisions_total", ""); n != 0 {
		t.Errorf("another fleet's %d decisions", n)
	}
	all, err := prometheus.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if strings.HasPrefix(m.GetName(), "weir_") {
			t.Errorf("%s is in the default registry", m.GetName())
		}
	}
}

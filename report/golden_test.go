package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew)\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

// goldenRuns are the results that the views are shown on.
func goldenRuns() map[string]*Result {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	checks := func(r *Result, exprs ...string) *Result {
		var cs []CheckExpr
		for _, x := range exprs {
			c, err := ParseCheck(x)
			if err != nil {
				panic(err)
			}
			cs = append(cs, c)
		}
		r.AddChecks(cs)
		r.Repeat, r.Seed = "weir load http://127.0.0.1:8080/ --profile retry-storm --limit 10/s,burst=20 --seed 7", 7
		return r
	}
	local := storm(gates(20, func() gate { return bucket(10, 20) }))
	central := storm(gates(1, func() gate { return bucket(10, 20) }))
	central.tell, central.back = roundUp, obey
	hostile := storm(gates(1, func() gate { return bucket(10, 20) }))
	hostile.key = func(c int) uint32 { return uint32(c % 15) }
	hostile.edit = func(e *Event) {
		if e.Client == 3 {
			e.Verdict, e.Class, e.Status = Failed, ConnReset, 0
		}
	}
	names := Names{Key: func(i uint32) string {
		if i == 0 {
			return "=cmd()\x1b[31m\u202eevil\x00 a name that is far too long for its column"
		}
		return "k-" + string(rune('a'+i))
	}}
	late := make([]Event, 0, 3000)
	for i := range 3000 {
		v := Admitted
		if i%4 == 0 {
			v = Dropped
		}
		late = append(late, at(float64(i), float64(i)+1, v))
	}
	return map[string]*Result{
		"local":      checks(run(Setup{Promise: tenPerSecond, Start: start}, local.run()), "refused_share<5%", "p99<200ms"),
		"central":    checks(run(Setup{Promise: tenPerSecond, Start: start}, central.run()), "worst_excess<=0"),
		"hostile":    run(Setup{Promise: tenPerSecond, Names: names}, hostile.run()),
		"edge":       run(Setup{Promise: window600}, edgeTraffic(fixedWindow(600, 60*sec))),
		"not-judged": run(Setup{}, late),
		"empty":      run(Setup{Promise: tenPerSecond}, nil),
	}
}

func TestViews(t *testing.T) {
	for name, r := range goldenRuns() {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Width: 100, Plot: true}); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".txt", b.Bytes())
	}
	r := goldenRuns()["local"]
	var b bytes.Buffer
	if err := WriteText(&b, r, TextOptions{Width: 50, Color: true, Plot: true}); err != nil {
		t.Fatal(err)
	}
	golden(t, "local-narrow-colour.txt", b.Bytes())
	for name, write := range map[string]func(*bytes.Buffer) error{
		"local.json":        func(b *bytes.Buffer) error { return WriteJSON(b, r) },
		"local.junit.xml":   func(b *bytes.Buffer) error { return WriteJUnit(b, r) },
		"hostile.csv":       func(b *bytes.Buffer) error { return WriteCSV(b, goldenRuns()["hostile"]) },
		"hostile.junit.xml": func(b *bytes.Buffer) error { return WriteJUnit(b, goldenRuns()["hostile"]) },
	} {
		b.Reset()
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
}

// TestViewsAreSafeToPrint: no byte of a hostile name may steer the terminal.
func TestViewsAreSafeToPrint(t *testing.T) {
	r := goldenRuns()["hostile"]
	r.Name, r.Repeat = "\x1b]0;title\a", "weir load \u2066\x1b[2J"
	r.Notes = append(r.Notes, "\u202enote")
	var b bytes.Buffer
	for _, err := range []error{WriteText(&b, r, TextOptions{Plot: true}), WriteCSV(&b, r), WriteJUnit(&b, r)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range b.String() {
		if c < 0x20 && c != '\n' || c == 0x7f || c == '\u202e' || c == '\u2066' {
			t.Fatalf("%U is in the output", c)
		}
	}
}

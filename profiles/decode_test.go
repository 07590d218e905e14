package profiles

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestDecode(t *testing.T) {
	p, err := Decode("orders.yaml", []byte(`
about: two kinds of callers
duration: 2m
populations:
  - name: people
    clients: 1.5k
    keys: per-client
    arrivals: {kind: constant, rate: 600/m}
  - name: robots
    clients: 4
    keys: {kind: zipf, count: 1M, s: 1.1, prefix: bot-}
    arrivals:
      kind: closed
      think: 100ms
      think_jitter: 20%
    behaviour: full-jitter:100ms,10s
    max_attempts: 5
    cost: 3
    routes:
      - POST /v1/orders
      - {path: /v1/list, weight: 30%, cost: 2}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Profile{
		Name: "orders", About: "two kinds of callers", Duration: 2 * time.Minute,
		Populations: []Population{
			{Name: "people", Clients: 1500, Keys: Keys{Kind: KeyEach}, Arrivals: Arrivals{Kind: Constant, Rate: 10}},
			{
				Name: "robots", Clients: 4,
				Keys:      Keys{Kind: KeyZipf, Count: 1_000_000, S: 1.1, Prefix: "bot-"},
				Arrivals:  Arrivals{Kind: Closed, Think: 100 * time.Millisecond, ThinkJitter: 0.2},
				Behaviour: "full-jitter:100ms,10s", MaxAttempts: 5,
				Cost:   []Cost{{3, 1}},
				Routes: []Route{{"POST", "/v1/orders", 1, 0}, {"", "/v1/list", 0.3, 2}},
			},
		},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

// Each file of testdata/bad has a golden file beside it with the errors and
// hints that it earns.
func TestBadFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d bad files (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Decode(filepath.Base(file), data)
			if err == nil {
				t.Fatalf("decoded to %+v", p)
			}
			got := printed(err)
			golden := strings.TrimSuffix(file, ".yaml") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func printed(err error) string {
	var b strings.Builder
	var all Errors
	if !errors.As(err, &all) {
		var one *Error
		if !errors.As(err, &one) {
			return "untyped: " + err.Error()
		}
		all = Errors{one}
	}
	for _, e := range all {
		fmt.Fprintln(&b, e)
		if e.Hint != "" {
			fmt.Fprintln(&b, "  hint:", e.Hint)
		}
	}
	return b.String()
}

func TestNesting(t *testing.T) {
	for name, text := range map[string]string{
		"brackets":  strings.Repeat("[", 500_000),
		"across":    strings.Repeat("[\n", 400_000),
		"dashes":    strings.Repeat("- ", 400_000),
		"questions": strings.Repeat("? ", 400_000),
		"anchors":   "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
		"size":      strings.Repeat("# 45678\n", MaxBytes/8+1),
	} {
		if _, err := Decode(name, []byte(text)); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range order {
		f.Add(Source(name))
	}
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds in testdata/bad: ", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode("fuzz.yaml", data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Msg == "" || p != nil {
				t.Fatalf("not an *Error: %v", err)
			}
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("decoded and not valid: %v", err)
		}
		again, err := Decode("fuzz.yaml", p.Marshal())
		if err != nil {
			t.Fatalf("marshalled to what does not decode: %v\n%s", err, p.Marshal())
		}
		if diff := cmp.Diff(p, again); diff != "" {
			t.Fatalf("not the same after a round trip:\n%s\n%s", diff, p.Marshal())
		}
	})
}

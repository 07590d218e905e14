package inspect

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// fixture is state as a writer left it, and what it means. Fixtures are in
// testdata/fixtures, one file a layout, named after it.
type fixture struct {
	About   string
	Layout  string // that is forced; "" lets Identify find it
	Now     int64
	Limit   string // told; "" for none
	Entries []struct {
		Key, Type, Text, Hex string
		PTTL                 int64
		Fields               map[string]string
		Members              [][2]any
		Items                []string
	}
	Want struct {
		ID, Rule, Sure            string
		Used, Remaining, Capacity *int64
		Next                      map[string]string // cost to wait: a duration, "never" or "unknown"
		Full                      string            // from now
		Problems, Others          []string
	}
}

func (f *fixture) entries(t *testing.T) []Entry {
	t.Helper()
	var out []Entry
	for _, w := range f.Entries {
		e := Entry{Key: w.Key, Type: w.Type, TTL: time.Duration(w.PTTL) * time.Millisecond, Idle: Unknown, Bytes: Unknown, Slot: -1, At: f.Now,
			Text: []byte(w.Text), Fields: w.Fields, Len: int64(len(w.Text) + len(w.Fields) + len(w.Members) + len(w.Items))}
		if w.PTTL < 0 {
			e.TTL = time.Duration(w.PTTL)
		}
		if w.Hex != "" {
			text, err := hex.DecodeString(strings.Join(strings.Fields(w.Hex), ""))
			if err != nil {
				t.Fatal(err)
			}
			e.Text, e.Len = text, int64(len(text))
		}
		for _, m := range w.Members {
			e.Members = append(e.Members, Member{Name: m[0].(string), Score: m[1].(float64)})
		}
		e.Members = append(e.Members, items(w.Items)...)
		out = append(out, e)
	}
	return out
}

// readFixtures calls fn for each, by the layout that it is of.
func readFixtures(t *testing.T, fn func(t *testing.T, l *Layout, f *fixture)) {
	t.Helper()
	files, err := filepath.Glob("testdata/fixtures/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var list []fixture
		d := json.NewDecoder(strings.NewReader(string(text)))
		d.DisallowUnknownFields()
		if err := d.Decode(&list); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		l := Find(Builtin(), name)
		if l == nil {
			t.Fatalf("%s is of no layout", file)
		}
		for i := range list {
			t.Run(name+"/"+list[i].About, func(t *testing.T) { fn(t, l, &list[i]) })
		}
	}
}

func TestFixtures(t *testing.T) {
	readFixtures(t, func(t *testing.T, l *Layout, f *fixture) {
		entries := f.entries(t)
		var told *limit.Spec
		if f.Limit != "" {
			s, err := limit.ParseSpec(f.Limit)
			if err != nil {
				t.Fatal(err)
			}
			told = &s
		}
		sure, others := l.Sure, []string{}
		if f.Layout == "" {
			i := slices.IndexFunc(entries, func(e Entry) bool { return e.Exists() })
			found := Identify(&entries[i], Builtin(), f.Now)
			if len(found) == 0 {
				t.Fatal("nobody wrote it")
			}
			best := preferred(found, told)
			if best.Layout != l {
				t.Fatalf("%s wrote it", best.Layout.Name)
			}
			sure = best.Sure
			for _, c := range found {
				others = append(others, c.Layout.Name)
			}
			if len(entries) > 1 {
				if keys := best.Together(entries[i].Key, f.Now, told); len(keys) != len(entries) || keys[0] != entries[0].Key {
					t.Errorf("the keys that belong together are %q", keys)
				}
			}
		}
		r, err := Decode(l, entries, f.Now, told)
		if err != nil {
			t.Fatal(err)
		}
		w := f.Want
		same(t, "used", r.Used, w.Used)
		same(t, "remaining", r.Remaining, w.Remaining)
		same(t, "capacity", r.Capacity, w.Capacity)
		if w.ID != "" && r.ID != w.ID || w.Rule != "" && r.Rule != w.Rule || w.Sure != "" && sure.String() != w.Sure {
			t.Errorf("id %q, rule %q, %s", r.ID, r.Rule, sure)
		}
		for cost, want := range w.Next {
			n, _ := strconv.ParseInt(cost, 10, 64)
			if got := waitText(r.Wait(n)); got != want {
				t.Errorf("a call of %d passes in %s, want %s", n, got, want)
			}
		}
		if w.Full != "" {
			want, err := time.ParseDuration(w.Full)
			if err != nil {
				t.Fatal(err)
			}
			if r.FullAt == nil || *r.FullAt-f.Now != int64(want) {
				t.Errorf("full in %s, want %s", fullText(&r), want)
			}
		}
		var problems []string
		for _, p := range r.Problems {
			problems = append(problems, p.ID)
		}
		if !slices.Equal(problems, w.Problems) {
			t.Errorf("problems %q, want %q", r.Problems, w.Problems)
		}
		for _, name := range w.Others {
			if !slices.Contains(others, name) {
				t.Errorf("others are %q, without %s", others, name)
			}
		}
		if text := strings.Join(r.Sentences(1), " "); strings.ContainsAny(text, "\n\x1b") || text == "" {
			t.Errorf("%q", text)
		} else {
			t.Log(text)
		}
	})
}

func same(t *testing.T, what string, got, want *int64) {
	t.Helper()
	switch {
	case want == nil:
	case got == nil:
		t.Errorf("%s is not known, want %d", what, *want)
	case *got != *want:
		t.Errorf("%s %d, want %d", what, *got, *want)
	}
}

func waitText(d time.Duration, known bool) string {
	switch {
	case !known:
		return "no limit"
	case d == limit.Never:
		return "never"
	case d == limit.Unknown:
		return "unknown"
	}
	return d.String()
}

func fullText(r *Reading) string {
	if r.FullAt == nil {
		return "unknown"
	}
	return time.Duration(*r.FullAt - r.Now).String()
}

// Whoever adds a layout adds its fixtures.
func TestEveryLayoutHasFixtures(t *testing.T) {
	have := map[string]bool{}
	readFixtures(t, func(_ *testing.T, l *Layout, _ *fixture) { have[l.Name] = true })
	for _, l := range Builtin() {
		if !have[l.Name] {
			t.Errorf("testdata/fixtures/%s.json is missing", l.Name)
		}
		if _, err := limit.ParseSpec(l.Example); err != nil {
			t.Errorf("%s: the example %q: %v", l.Name, l.Example, err)
		}
		if l.About == "" || l.Checked == "" || l.Language == "" || l.TTL.Means == "" || l.TTL.Missing == "" || l.Needs == "" {
			t.Errorf("%s says too little", l.Name)
		}
	}
}

package inspect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// recording is what a writer did with one customer, call by call: the state
// that each call found, and whether it passed.
type recording struct {
	Layout, Limit string
	Steps         []struct {
		fixture
		Cost   int64
		Passed bool
		After  int64  // unix ns when it had answered; 0 for the time of the state
		Left   *int64 // ms to wait, of a writer that refuses nobody
	}
}

// The writer's next answer is what the state is decoded for: of every recorded
// call it is to be known beforehand.
func TestRecordings(t *testing.T) {
	dir := "testdata/recorded"
	if d := os.Getenv("WEIR_RECORDINGS"); d != "" {
		dir = d // longer ones than are kept
	}
	files, err := filepath.Glob(dir + "/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var rec recording
			if err := json.Unmarshal(text, &rec); err != nil {
				t.Fatal(err)
			}
			l, err := Named(Builtin(), rec.Layout)
			if err != nil {
				t.Fatal(err)
			}
			var told *limit.Spec
			if rec.Limit != "" {
				s, err := limit.ParseSpec(rec.Limit)
				if err != nil {
					t.Fatal(err)
				}
				told = &s
			}
			passed := 0
			for i := range rec.Steps {
				s := &rec.Steps[i]
				entries := s.entries(t)
				for j := range entries {
					if _, ok := l.Match(&entries[j], s.Now); !ok {
						t.Fatalf("step %d: %s wrote %q, which does not fit it", i, l.Name, entries[j].Key)
					}
				}
				r, err := Decode(l, entries, s.Now, told)
				if err != nil {
					t.Fatalf("step %d: %v", i, err)
				}
				wait, known := r.Wait(s.Cost)
				switch {
				case !known:
					t.Fatalf("step %d: nothing is known of %+v: %q", i, entries, r.Problems)
				case s.Left != nil:
					if off := wait - time.Duration(max(*s.Left, 0))*time.Millisecond; off < -2*time.Millisecond || off > 2*time.Millisecond {
						t.Errorf("step %d: the wait is %s, and was %d ms: %+v", i, wait, *s.Left, entries)
					}
				case s.Passed && wait > time.Duration(max(s.After-s.Now, 0)), s.Passed && wait < 0, !s.Passed && wait == 0:
					t.Errorf("step %d at %d: a call of %d waits %s, and passed: %v: %+v", i, s.Now, s.Cost, wait, s.Passed, entries)
				case s.Passed && wait == 0 && (r.Remaining == nil || *r.Remaining < s.Cost):
					t.Errorf("step %d: less than %d remains, and that passed", i, s.Cost)
				}
				if s.Passed {
					passed++
				}
			}
			t.Logf("%d answers, %d of them passed, none foretold wrong", len(rec.Steps), passed)
			if s := rec.Steps[0]; s.Left == nil && (passed == 0 || passed == len(rec.Steps)) {
				t.Error("all answers are the same")
			}
		})
	}
}

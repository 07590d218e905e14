package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/inspect"
	"github.com/weir-cli/weir/limit"
)

// larder is a source that knows what is kept, and what was told.
type larder struct {
	*Tape
	b *Buckets
}

func (l larder) Buckets() *Buckets { return l.b }

func readings() *Buckets {
	spec, _ := limit.ParseSpec("10/s,burst=20")
	held, capacity, used := 4.26, int64(20), int64(7)
	layout := &inspect.Layout{Name: "weir", Writer: "weir"}
	now := int64(1_795_978_030_880_559_000)
	return &Buckets{Now: now + 250e6, Every: 500 * time.Millisecond,
		Readings: []inspect.Reading{
			{Layout: layout, Sure: inspect.Certain, ID: "k-1", Rule: "default", Now: now, Algorithm: "token-bucket", Limit: &spec, LimitFrom: "state",
				Held: &held, Capacity: &capacity, Entries: []inspect.Entry{{Key: "rl:{k-1}:default", Type: "hash", TTL: 1600 * time.Millisecond}}},
			{Layout: layout, Sure: inspect.Guess, Now: now, Used: &used,
				Entries: []inspect.Entry{{Key: "evil\x1b[2J\u202e", Type: "string", TTL: inspect.NoTTL}}},
		},
		Missing: []string{"k-77", "k-\x1b]0;78"}, Strange: []string{"session:1"}}
}

// What is kept stands in rows that go on by themselves, beside what was told,
// and in sentences below.
func TestKept(t *testing.T) {
	tape, _ := openRun(t, false)
	for _, size := range [][2]int{{80, 24}, {60, 16}, {160, 45}} {
		m := newModel(larder{tape, readings()}, Options{View: Bucket})
		m.w, m.h = size[0], size[1]
		fits(t, m.View(), size[0], size[1])
		if size[0] == 80 {
			golden(t, "kept-80x24.txt", m.screen().plainText())
		}
		m = key(m, "down")
		if text := m.screen().plainText(); size[1] > 20 && !strings.Contains(text, "2 of 2") {
			t.Errorf("the second is not chosen:\n%s", text)
		}
		fits(t, m.View(), size[0], size[1])
	}
	m := newModel(larder{tape, &Buckets{Missing: []string{"k-7"}}}, Options{View: Bucket})
	if text := m.screen().plainText(); !strings.Contains(text, "There is no state") || !strings.Contains(text, "k-7") {
		t.Errorf("nothing is kept:\n%s", text)
	}
	m = newModel(larder{tape, nil}, Options{View: Bucket})
	if text := m.screen().plainText(); !strings.Contains(text, "told to wait") {
		t.Errorf("where nothing is read, what was told is missing:\n%s", text)
	}
}

// A bucket refills between two looks as its limit says, and not beyond it.
func TestKeptRefills(t *testing.T) {
	r := &readings().Readings[0]
	for after, want := range map[int64]float64{0: 4.26, 100e6: 5.26, 1e9: 14.26, 10e9: 20, -5e9: 4.26} {
		if left, of, known := keptLeft(r, r.Now+after); left != want || of != 20 || !known {
			t.Errorf("%d ns later: %v of %v, %v", after, left, of, known)
		}
	}
}

package tui

import (
	"strings"
	"testing"
)

// Words of neighbouring marks keep out of each other's way, and the newest is
// whole. The rows are 40 columns.
func TestWordsOfMarks(t *testing.T) {
	for _, tc := range []struct {
		name  string
		list  []word
		rows  int
		want  []string
		whole bool
	}{
		{"apart", []word{{8, "jitter"}, {20, "backoff"}}, 1,
			[]string{"        ▲ jitter    ▲ backoff"}, true},
		{"cut without a second row", []word{{8, "behaviour storm"}, {20, "rate × 2"}}, 1,
			[]string{"        ▲ behaviou… ▲ rate × 2"}, false},
		{"whole with one", []word{{8, "behaviour storm"}, {20, "rate × 2"}}, 2,
			[]string{"        ▲           ▲ rate × 2", "        behaviour storm"}, true},
		{"three in a row", []word{{8, "rate × 2"}, {10, "rate × 4"}, {12, "rate × 8"}}, 2,
			[]string{"        ▲ ▲ ▲ rate × 8", " rate × 2 rate × 4"}, true},
		{"the newest at the edge, left of its mark", []word{{8, "behaviour storm"}, {35, "rate × 16"}}, 1,
			[]string{"        ▲ behaviour sto… rate × 16 ▲"}, false},
		{"the newest at the edge, below its mark", []word{{8, "behaviour storm"}, {35, "behaviour give-up"}}, 2,
			[]string{"        ▲ behaviour storm          ▲", "                       behaviour give-up"}, true},
		{"two in one column", []word{{8, "first"}, {8, "second"}}, 2,
			[]string{"        ▲ second", "        first"}, true},
		{"wider than the screen", []word{{8, strings.Repeat("x", 50)}}, 2,
			[]string{"        ▲", strings.Repeat("x", 39) + "…"}, false},
		{"wide letters", []word{{8, "限流器超时"}, {14, "日本"}}, 2,
			[]string{"        ▲     ▲ 日本", "        限流器超时"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newCanvas(40, tc.rows)
			words, whole := placeFlags(tc.list, 40, tc.rows)
			drawFlags(c, 0, tc.list, words)
			if got := strings.TrimRight(c.plainText(), "\n"); got != strings.Join(tc.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", got, strings.Join(tc.want, "\n"))
			}
			if whole != tc.whole {
				t.Errorf("whole: %v", whole)
			}
		})
	}
}

// Two levels in the lowest row have one line with both names.
func TestLevelsOfOneRow(t *testing.T) {
	c := newCanvas(60, 4)
	p := &chart{name: "admitted", shape: solid, cursor: -1, values: []float64{400},
		levels: []level{{"bound 50/s", 50, bounded, '─'}, {"promise 10/s", 10, promised, '┄'}}}
	p.draw(c, 400)
	if got := c.plainText(); !strings.Contains(got, "────── bound 50/s, promise 10/s ─\n") || strings.Contains(got, "┄") {
		t.Errorf("got\n%s", got)
	}
}

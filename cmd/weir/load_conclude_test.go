package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weir-cli/weir/report"
)

// A report that scrolls the answer away says it again; nothing else does.
func TestAnswerStaysInSight(t *testing.T) {
	r := &report.Result{Verdict: report.Held, Totals: report.Totals{Offered: 7, Admitted: 7}}
	for _, c := range []struct {
		name   string
		tty    bool
		height int
		out    output
		times  int
	}{
		{"a low terminal", true, 5, output{format: "text"}, 2},
		{"a high one", true, 500, output{format: "text"}, 1},
		{"one that does not know", true, 0, output{format: "text"}, 1},
		{"a pipe", false, 5, output{format: "text"}, 1},
		{"a file", true, 5, output{format: "text", file: "r.txt"}, 1},
		{"JSON", true, 5, output{format: "json"}, 0},
	} {
		a, _, _ := testApp("NO_COLOR=1")
		a.stdoutTTY, a.height = c.tty, func() int { return c.height }
		var b bytes.Buffer
		if err := renderResult(a, &b, r, &c.out, &console{}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "HELD "); n != c.times {
			t.Errorf("%s: the answer stands there %d times, want %d\n%s", c.name, n, c.times, &b)
		}
		if c.times == 2 && !strings.HasPrefix(b.String()[strings.LastIndex(b.String(), "HELD"):], "HELD    admitted 7 of 7") {
			t.Errorf("%s: ends in %s", c.name, &b)
		}
	}
}

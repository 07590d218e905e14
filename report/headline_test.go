package report

import (
	"strings"
	"testing"
)

// One key that broke its promise is no keys.
func TestHeadlineCountsKeys(t *testing.T) {
	for broken, want := range map[int64]string{1: "; 1 key broke the promise, worst k-1 with 75", 2: "; 2 keys broke the promise, worst k-1 with 75"} {
		r := &Result{Verdict: Broken, Totals: Totals{Offered: 78, Admitted: 78},
			Bound: &Bound{Key: "k-1", Admitted: 75, Allows: 22.3, Ratio: 3.4, KeysJudged: 3, KeysBroken: broken}}
		if got := Headline(r); !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

package report

import (
	"strings"
	"testing"
)

// The answer says how the prediction compares, before the figures.
func TestPredictionInAnswer(t *testing.T) {
	for measured, want := range map[int64]string{
		79:  "PREDICT a limiter that keeps 10/s,burst=20 admits 79 of 2,380; this one admitted\n        as many.\n",
		316: "this one admitted\n        237 more.\n",
		70:  "this one admitted\n        9 fewer.\n",
	} {
		r := &Result{Prediction: &Prediction{Limit: "10/s,burst=20", Totals: Totals{Offered: 2380, Admitted: 79}}}
		r.Totals.Admitted = measured
		var b strings.Builder
		if err := WriteAnswer(&b, r, TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("measured %d:\n%s", measured, b.String())
		}
	}
}

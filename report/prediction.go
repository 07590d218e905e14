package report

import "fmt"

// Prediction is what the same plan did in virtual time against a limiter that
// keeps the promise for every key: what should have happened.
type Prediction struct {
	Limit    string  `json:"limit"`
	AnswerMS float64 `json:"answer_ms"` // how long simulated answers took
	Totals   Totals  `json:"totals"`
	Peak10ms int64   `json:"peak_10ms"` // most retries due in 10 ms
	Jain     float64 `json:"jain"`
}

// NewPrediction takes from a simulated result what can be held against a
// measured one.
func NewPrediction(simulated *Result, limit string, answerMS float64) *Prediction {
	return &Prediction{Limit: limit, AnswerMS: answerMS, Totals: simulated.Totals,
		Peak10ms: simulated.Herd.Peak10ms, Jain: simulated.Fairness.Jain}
}

// against says how the prediction compares with what was measured.
func (p *Prediction) against(measured *Totals) string {
	s := fmt.Sprintf("a limiter that keeps %s admits %s of %s", Clean(p.Limit), Count(p.Totals.Admitted), Count(p.Totals.Offered))
	switch d := measured.Admitted - p.Totals.Admitted; {
	case d > 0:
		return s + fmt.Sprintf("; this one admitted %s more.", Count(d))
	case d < 0:
		return s + fmt.Sprintf("; this one admitted %s fewer.", Count(-d))
	}
	return s + "; this one admitted as many."
}

func (t *text) prediction(r *Result) {
	p := r.Prediction
	if p == nil {
		return
	}
	b := table{head: []string{"figure", "predicted", "measured", "difference"}}
	row := func(name string, predicted, measured int64) {
		diff := "0"
		if d := measured - predicted; d != 0 {
			diff = fmt.Sprintf("%+d", d)
			if predicted != 0 {
				diff += fmt.Sprintf(" (%+.1f%%)", 100*float64(d)/float64(predicted))
			}
		}
		b.add(name, Count(predicted), Count(measured), diff)
	}
	row("offered", p.Totals.Offered, r.Totals.Offered)
	row("admitted", p.Totals.Admitted, r.Totals.Admitted)
	row("refused", p.Totals.Refused, r.Totals.Refused)
	row("retries", p.Totals.Retries, r.Totals.Retries)
	row("calls given up", p.Totals.Abandoned, r.Totals.Abandoned)
	row("dropped", p.Totals.Dropped, r.Totals.Dropped)
	row("peak in 10 ms", p.Peak10ms, r.Herd.Peak10ms)
	t.wrapped("", "", fmt.Sprintf("Predicted for a limiter that keeps %s and answers in %s:", Clean(p.Limit), ms(p.AnswerMS)+" ms"))
	b.write(t)
}

package main

import (
	"context"
	"time"

	"github.com/weir-cli/weir/report"
	"github.com/weir-cli/weir/sim"
)

// predictFor simulates the run that was measured and puts the prediction
// into its result.
func (o *loadOptions) predictFor(ctx context.Context, r *loadRun, result *report.Result) error {
	answer := o.answer
	if answer == 0 {
		if result.Latency.FromSent.Count == 0 {
			// Answers that take no time would let a storm go round for ever.
			result.Notes = append(result.Notes, "nothing was predicted: no answer came to tell how long one takes; --answer-time does")
			return nil
		}
		answer = time.Duration(result.Latency.FromSent.Mean * float64(time.Millisecond))
	}
	p, err := sim.Predict(ctx, sim.Prediction{Plan: r.plan, Limit: r.spec, Limits: r.limits, Answer: answer,
		Connections: r.http.Connections, MaxAttempts: r.attempts, DropAfter: r.dropAfter})
	if err != nil {
		return internalError(err)
	}
	if p.Interrupted {
		return errInterrupted
	}
	result.Prediction = report.NewPrediction(p, r.promise.Text, float64(answer)/1e6)
	return nil
}

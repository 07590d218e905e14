package main

import (
	"fmt"
	"io"

	"github.com/weir-cli/weir/report"
)

// conclude writes the result and turns it into an exit code. runErr is what
// went wrong beside it.
func (o *loadOptions) conclude(r *report.Result, runErr error) error {
	err := o.out.write(o.app, func(w io.Writer) error { return o.render(w, r) })
	switch {
	case runErr != nil:
		return runErr
	case err != nil:
		return err
	case r.Interrupted:
		return errInterrupted
	}
	return verdictError(r)
}

func (o *loadOptions) render(w io.Writer, r *report.Result) error {
	return renderResult(w, r, o.out.format, report.TextOptions{Width: o.app.width(), Color: o.console.color(o.app) && o.out.toStdout(), Plot: true})
}

// renderResult writes a result document in one of its forms.
func renderResult(w io.Writer, r *report.Result, format string, t report.TextOptions) error {
	switch format {
	case "json":
		return report.WriteJSON(w, r)
	case "csv":
		return report.WriteCSV(w, r)
	case "junit":
		return report.WriteJUnit(w, r)
	}
	return report.WriteText(w, r, t)
}

// verdictError is the exit code that a finished run has earned.
func verdictError(r *report.Result) error {
	t := r.Totals
	if t.Failed > 0 && t.Admitted+t.Refused == 0 {
		worst, n := "", int64(0)
		for class, count := range r.Errors {
			if count > n {
				worst, n = class, count
			}
		}
		return reachError(fmt.Errorf("no attempt was answered as admitted or refused: %d of %d failed, most with %s", t.Failed, t.Offered, worst),
			"check the URL with: curl -i URL")
	}
	if r.Sender.Trust == report.Bad {
		return untrustedError("the sender could not keep its plan: "+r.Sender.Why, "lower --rate or --clients, or raise --connections or --threads")
	}
	for _, c := range r.Checks {
		if !c.Pass {
			return errCheckFailed
		}
	}
	return nil
}

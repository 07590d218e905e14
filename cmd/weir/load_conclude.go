package main

import (
	"bytes"
	"fmt"
	"io"

	"github.com/weir-cli/weir/report"
)

// conclude writes the result and turns it into an exit code. runErr is what
// went wrong beside it.
func (o *loadOptions) conclude(r *report.Result, runErr error) error {
	err := o.out.write(o.app, func(w io.Writer) error { return renderResult(o.app, w, r, o.out, o.console) })
	if o.tui {
		o.console.afterwards(o.app, r, o.out)
	}
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

// renderResult writes a result document in one of its forms. Text that fills
// the terminal ends with the answer again, since its beginning is out of sight.
func renderResult(a *app, w io.Writer, r *report.Result, out *output, c *console) error {
	switch out.format {
	case "json":
		return report.WriteJSON(w, r)
	case "csv":
		return report.WriteCSV(w, r)
	case "junit":
		return report.WriteJUnit(w, r)
	}
	t := report.TextOptions{Width: a.width(), Color: c.color(a) && out.toStdout(), Plot: true}
	var text bytes.Buffer
	if err := report.WriteText(&text, r, t); err != nil {
		return err
	}
	lines := bytes.Count(text.Bytes(), []byte("\n"))
	if height := a.height(); a.stdoutTTY && out.toStdout() && height > 0 && lines >= height {
		text.WriteByte('\n')
		if err := report.WriteAnswer(&text, r, t); err != nil {
			return err
		}
	}
	_, err := text.WriteTo(w)
	return err
}

// failedHint says what to do when every attempt failed, most of them as class.
func failedHint(class string, statuses map[string]int64) string {
	switch class {
	case "connect-refused":
		return "nothing listens there: is it up, and is the port right?"
	case "connect-timeout", "unreachable":
		return "no way leads there: check the host, and what filters traffic to it"
	case "timeout":
		return "the answers took longer than --timeout"
	case "tls-failed":
		return "give its certificate with --ca FILE, or --insecure to do without"
	case "bad-status":
		status, most := "", int64(0)
		for s, n := range statuses {
			if n > most || n == most && s < status {
				status, most = s, n
			}
		}
		return fmt.Sprintf("most answers were %s: look at one with curl -i; --admitted and --refused say which statuses count", status)
	}
	return "look at an answer with curl -i"
}

// verdictError is the exit code that a finished run has earned.
func verdictError(r *report.Result) error {
	t := r.Totals
	if t.Failed > 0 && t.Admitted+t.Refused == 0 {
		worst, n := "", int64(0)
		for class, count := range r.Errors {
			if count > n || count == n && class < worst {
				worst, n = class, count
			}
		}
		return reachError(fmt.Errorf("no attempt was answered as admitted or refused: %s of %s failed, most with %s", report.Count(t.Failed), report.Count(t.Offered), worst),
			failedHint(worst, r.Status))
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

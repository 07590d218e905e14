package report

import "fmt"

// reducedCount counts answers that say that who decided has less to give for
// now. Times are ns since the start of the run.
type reducedCount struct {
	n           int64
	first, last int64 // of their Sent and Done; 0 when n is
}

func (r *reducedCount) add(e *Event) {
	if r.n == 0 || e.Sent < r.first {
		r.first = e.Sent
	}
	r.last = max(r.last, e.Done)
	r.n++
}

// findReduced reports that part of the run met a limiter that was not itself.
// Who is admitted meanwhile is not told so: what says it are refusals.
func findReduced(e *evidence) *Finding {
	r := &e.reduced
	if r.n == 0 {
		return nil
	}
	text := fmt.Sprintf("%s, from %s s to %s s, say that the service had less to give than usual, such as by the problem type temporary-reduced-capacity. Gateways of weir say so while their store does not answer: they then refuse, or grant shares of their own beside what the store had granted.",
		many(r.n, "answer"), secondsText(seconds(r.first)), secondsText(seconds(r.last)))
	if e.r.Verdict == Broken {
		text += " Such shares come on top of what the store had granted, and may be what was too much: compare the times."
	}
	return &Finding{Severity: Medium, Text: text + " Look at the store, and at the fail mode of the rule.",
		Evidence: map[string]any{"answers": r.n, "from_s": seconds(r.first), "to_s": seconds(r.last), "of": e.r.Totals.Offered}}
}

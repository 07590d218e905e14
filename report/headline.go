package report

import (
	"fmt"
	"slices"
	"strconv"
)

// Headline is the answer of a result with its verdict, where it has one.
func Headline(r *Result) string {
	switch r.Verdict {
	case Held:
		return "HELD " + headline(r)
	case Broken:
		return "BROKEN " + headline(r)
	}
	return headline(r)
}

// headline is the answer in a sentence or two: held or broken, by how much,
// and what that usually is.
func headline(r *Result) string {
	t := &r.Totals
	got := fmt.Sprintf("admitted %s of %s", Count(t.Admitted), Count(t.Offered))
	b := r.Bound
	if b == nil && r.Model != nil {
		return simulatedLine(r, got)
	}
	if b == nil {
		return fmt.Sprintf("%s (%s)%s. No limit was given to judge by; add one with --limit.",
			got, percent(ratio(float64(t.Admitted), float64(t.Offered))), unrefused(r))
	}
	if b.KeysJudged != 1 {
		got += fmt.Sprintf(" on %s keys", Count(b.KeysJudged))
	}
	if r.Verdict == Held {
		return heldLine(r, got)
	}
	who := ""
	if b.KeysJudged != 1 {
		keys := "keys"
		if b.KeysBroken == 1 {
			keys = "key"
		}
		who = fmt.Sprintf("; %s %s broke the promise, worst %s with %s", Count(b.KeysBroken), keys, Clean(b.Key), Count(b.Admitted))
	}
	// What comes through at a window's edge is little over the whole run.
	long := b.Ratio >= 1.05 && !r.found("window-edge")
	s := ""
	switch {
	case long && who == "":
		s = fmt.Sprintf("%s, %s times what the promise allows (%s in %s s)", got, times(b.Ratio), amount(b.Allows), amount(b.OverS))
	case long:
		s = fmt.Sprintf("%s%s, %s times what it allows (%s in %s s)", got, who, times(b.Ratio), amount(b.Allows), amount(b.OverS))
	default:
		s = got + who
		length := int64((b.WorstInterval.ToS - b.WorstInterval.FromS) * 1e9)
		s += fmt.Sprintf("; %s of them within %s, where the promise allows %s", Count(b.WorstAdmitted), span(length), amount(b.WorstAllows))
	}
	if why := usually(r); why != "" {
		s += "; " + why
	}
	return s + unrefused(r) + "."
}

// simulatedLine is the answer of a simulated run that no promise judges.
func simulatedLine(r *Result, got string) string {
	switch {
	case r.Model.Answer != "":
		return r.Model.Answer
	case r.Totals.Offered > 0:
		return fmt.Sprintf("%s (%s).", got, percent(ratio(float64(r.Totals.Admitted), float64(r.Totals.Offered))))
	}
	return "the figures are those of the part that ran."
}

func heldLine(r *Result, got string) string {
	b := r.Bound
	s := got
	switch {
	case r.Totals.Admitted == 0:
		s += "; nothing came through, so the promise was not put to the test"
	case b.KeysJudged == 1:
		s += fmt.Sprintf(", where the promise allows %s in %s s", amount(b.Allows), amount(b.OverS))
	default:
		s += fmt.Sprintf("; the promise of %s held on each", Clean(b.Promise))
	}
	if !b.Tested && r.Totals.Admitted > 0 {
		s += "; nothing asked for more than it allows, so that proves little"
	}
	for _, f := range r.Findings {
		switch f.ID {
		case "under-admits":
			s += "; less came through than was promised"
		case "refusals-counted":
			s += "; refused attempts seem to use up the limit"
		}
	}
	return s + unrefused(r) + "."
}

// refusing are the statuses besides 429 that limiters are known to refuse with.
var refusing = []string{"403", "420", "430", "503", "509", "529"}

// unrefused speaks of a run of which some came through, none was refused and
// many failed with one such status: an outage, or a limiter that refuses with
// another status than 429, as nginx does with 503 unless told otherwise.
func unrefused(r *Result) string {
	t := &r.Totals
	if t.Refused > 0 || t.Admitted == 0 || 10*t.Failed < t.Offered || r.found("refusals-as-failures") {
		return ""
	}
	most, n := "", int64(0)
	for _, s := range refusing {
		if r.Status[s] > n {
			most, n = s, r.Status[s]
		}
	}
	if n < hiddenMin || 2*n < t.Failed {
		return ""
	}
	return fmt.Sprintf("; nothing was refused and %s answers were failures with status %s: if that is how the limiter refuses, say --refused 429,%s", Count(n), most, most)
}

func (r *Result) found(id string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.ID == id })
}

// times writes a ratio to one decimal, or two when it is close to 1.
func times(v float64) string {
	if v < 1.5 {
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// usually is the cause that the findings point at.
func usually(r *Result) string {
	for _, f := range r.Findings {
		switch f.ID {
		case "local-counters":
			return fmt.Sprintf("this is what %v separate local counters do", f.Evidence["n"])
		case "never-refused":
			return "nothing was refused"
		case "window-edge":
			if at, ok := f.Evidence["edge_s"].(float64); ok {
				return fmt.Sprintf("this is what a fixed window does at its edge (%s s)", secondsText(at))
			}
		}
	}
	return ""
}

package report

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Findings about what refusals say, how clients come back, and the sender.

// A herd is at least herdPeak retries in 10 ms that are herdOverMean times the
// mean.
const (
	herdPeak     = 50
	herdOverMean = 20
)

func findHerd(e *evidence) *Finding {
	h := e.r.Herd
	if h.Peak10ms < herdPeak || h.OverMean < herdOverMean {
		return nil
	}
	text := fmt.Sprintf("%s retries came due inside the 10 ms at %s s, %s times the mean.",
		Count(h.Peak10ms), secondsText(h.AtS), amount(h.OverMean))
	ev := map[string]any{"peak_10ms": h.Peak10ms, "at_s": h.AtS, "over_mean": h.OverMean, "retries": h.Retries}
	if wait, n := usualWait(e.r.RetryAfter.Values); n > 0 {
		text += fmt.Sprintf(" %s refusals asked for the same wait of %s s.", Count(n), wait)
		ev["usual_wait_s"], ev["told"] = wait, n
	}
	text += " Clients that are refused together and told the same wait return together. Spread the returns: jitter in the client, or a Retry-After that differs from answer to answer."
	return &Finding{Severity: Medium, Text: text, Evidence: ev}
}

// usualWait is the most frequent wait; the shorter one of equals.
func usualWait(values map[string]int64) (wait string, n int64) {
	for w, c := range values {
		if w != "other" && (c > n || c == n && (len(w) < len(wait) || len(w) == len(wait) && w < wait)) {
			wait, n = w, c
		}
	}
	return wait, n
}

// dishonestMin and dishonestShare: so many obedient retries must have been
// refused with nobody else let in, and such a share of all judged ones.
const (
	dishonestMin   = 10
	dishonestShare = 0.2
)

func findDishonest(e *evidence) *Finding {
	share := ratio(float64(e.alone), float64(e.alone+e.kept))
	if e.alone < dishonestMin || share < dishonestShare {
		return nil
	}
	return &Finding{Severity: High,
		Text: fmt.Sprintf("%s obedient retries waited as long as they were told and were refused again, although nobody was let in on their key in the meantime: %s of those whose hint can be judged. Usual causes: Retry-After rounded down, computed from another process's state, or refusals that push the wait out. Round up, and answer from the state that decides.",
			Count(e.alone), percent(share)),
		Evidence: map[string]any{"refused": e.alone, "admitted": e.kept, "share": round(share, 4)}}
}

func findMissing(e *evidence) *Finding {
	missing, refused := e.r.RetryAfter.Missing, e.r.Totals.Refused
	share := ratio(float64(missing), float64(refused))
	if missing == 0 || share < 0.01 {
		return findResetOnly(e)
	}
	return &Finding{Severity: Medium,
		Text: fmt.Sprintf("%s of %s refusals (%s) do not say when to come back. Clients then guess, mostly too early. Send Retry-After with every refusal but those that withhold it on purpose, as a rule that guards logins may.",
			Count(missing), Count(refused), percent(share)),
		Evidence: map[string]any{"missing": missing, "refused": refused, "share": round(share, 4)}}
}

// findResetOnly is the milder case: the wait is there, in a field that few
// clients read.
func findResetOnly(e *evidence) *Finding {
	share := ratio(float64(e.resetOnly), float64(e.r.Totals.Refused))
	if e.resetOnly == 0 || share < 0.01 {
		return nil
	}
	return &Finding{Severity: Low,
		Text: fmt.Sprintf("%s of %s refusals (%s) have no Retry-After; when to come back stands in the field %s alone, which few client libraries read. Send both.",
			Count(e.resetOnly), Count(e.r.Totals.Refused), percent(share), e.resetName),
		Evidence: map[string]any{"reset_only": e.resetOnly, "field": e.resetName, "refused": e.r.Totals.Refused, "share": round(share, 4)}}
}

func findUnparseable(e *evidence) *Finding {
	n := e.r.RetryAfter.Invalid
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("%s refusals carry a Retry-After that is neither a number of seconds nor a date", Count(n))
	ev := map[string]any{"invalid": n}
	if e.badText != "" {
		text += fmt.Sprintf(", such as %q", Clean(e.badText))
		ev["example"] = Clean(e.badText)
	}
	return &Finding{Severity: Medium, Text: text + ". Clients ignore it or fail on it. Send whole seconds (RFC 9110, 10.2.3).", Evidence: ev}
}

func findSuspect(e *evidence) *Finding {
	n := e.r.RetryAfter.Suspect
	if n == 0 {
		return nil
	}
	text := fmt.Sprintf("%s refusals carry a wait that could be read but looks wrong", Count(n))
	ev := map[string]any{"suspect": n}
	if e.suspectText != "" {
		text += fmt.Sprintf(", such as %q", Clean(e.suspectText))
		ev["example"] = Clean(e.suspectText)
		if e.suspectUnit != "" {
			text += " (read as " + Clean(e.suspectUnit) + ")"
			ev["unit"] = e.suspectUnit
		}
	}
	return &Finding{Severity: Low, Text: text + ". Usual causes: milliseconds or a point in time where seconds are expected, a date in the past, two fields that disagree. Send whole seconds from now.", Evidence: ev}
}

func findTooLong(e *evidence) *Finding {
	share := ratio(float64(e.tooLong), float64(e.r.RetryAfter.Seen))
	if e.tooLong < 5 || share < 0.1 {
		return nil
	}
	return &Finding{Severity: Medium,
		Text: fmt.Sprintf("%s refusals (%s of those with a hint) ask for more than %s, up to %s, although by then the whole limit is free again. Clients that obey lose what they were promised. Answer with the time until the same request would pass.",
			Count(e.tooLong), percent(share), span(e.judge.tooLong), span(e.hintLongest)),
		Evidence: map[string]any{"refusals": e.tooLong, "share": round(share, 4), "enough_s": seconds(e.judge.tooLong), "longest_s": seconds(e.hintLongest)}}
}

func findStatus(e *evidence) *Finding {
	var parts []string
	others := map[string]int64{}
	var total int64
	for s, n := range e.r.RefusedStatuses {
		if s != "429" {
			others[s] = n
			total += n
			parts = append(parts, s)
		}
	}
	if total == 0 {
		return nil
	}
	sort.Slice(parts, func(i, j int) bool {
		a, _ := strconv.Atoi(parts[i])
		b, _ := strconv.Atoi(parts[j])
		return a < b
	})
	return &Finding{Severity: Low,
		Text: fmt.Sprintf("%s refusals came with status %s instead of 429. Clients and proxies take 503 for an outage and 403 for a ban, and retry or give up accordingly. Answer 429 Too Many Requests (RFC 6585, 4).",
			Count(total), strings.Join(parts, ", ")),
		Evidence: map[string]any{"statuses": others, "refusals": total}}
}

// hiddenMin and hiddenShare: so many failures must read like refusals, and
// such a share of what was offered.
const (
	hiddenMin   = 10
	hiddenShare = 0.01
)

// findHidden looks for refusals that were not counted as such, because their
// status is not among those of --refused.
func findHidden(e *evidence) *Finding {
	var total int64
	codes := make([]string, 0, len(e.hinted))
	for s, n := range e.hinted {
		total += n
		codes = append(codes, s)
	}
	if total < hiddenMin || float64(total) < hiddenShare*float64(e.r.Totals.Offered) {
		return nil
	}
	sort.Strings(codes) // three digits each
	all := codes
	for s := range e.r.RefusedStatuses {
		if !slices.Contains(all, s) {
			all = append(slices.Clone(all), s)
		}
	}
	if !slices.Contains(all, "429") {
		all = append(slices.Clone(all), "429")
	}
	slices.Sort(all)
	text := fmt.Sprintf("%s answers with status %s were counted as failures, but look like refusals: they say when to come back, or are 429. If that is how the limiter refuses, count them with --refused %s",
		Count(total), strings.Join(codes, ", "), strings.Join(all, ","))
	if !slices.Contains(codes, "429") {
		text += "; and let it answer 429 Too Many Requests (RFC 6585, 4)"
	}
	return &Finding{Severity: Medium, Text: text + ".",
		Evidence: map[string]any{"statuses": e.hinted, "failures": total}}
}

func findLate(e *evidence) *Finding {
	s := e.r.Sender
	if s.Trust == Good {
		return nil
	}
	severity := Medium
	if s.Trust == Bad {
		severity = High
	}
	return &Finding{Severity: severity,
		Text: fmt.Sprintf("the sender did not keep its plan: %s. What is said about rates and latency holds for what was sent, not for what was planned. Use a lower rate, fewer connections, or a machine with idle CPUs.", s.Why),
		Evidence: map[string]any{"trust": string(s.Trust), "late_p99_ms": s.LateMS.P99, "dropped": e.r.Totals.Dropped,
			"planned": e.r.Totals.Planned}}
}

// secondsText writes an instant in seconds without needless digits.
func secondsText(s float64) string { return strconv.FormatFloat(round(s, 3), 'f', -1, 64) }

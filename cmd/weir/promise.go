package main

import (
	"errors"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// parseLimit reads --limit; an empty text is no promise.
func parseLimit(text string) (limit.Spec, *report.Promise, error) {
	if text == "" {
		return limit.Spec{}, nil, nil
	}
	spec, err := limit.ParseSpec(text)
	if err != nil {
		hint := "--limit 10/s,burst=20"
		var se *limit.SpecError
		if errors.As(err, &se) && se.Hint != "" {
			hint = "--limit " + se.Hint
		}
		return spec, nil, usageError(err, hint)
	}
	p := promiseOf(spec)
	return spec, &p, nil
}

// parsePromise reads --limit of a verb that judges by it.
func parsePromise(text string) (limit.Spec, *report.Promise, error) {
	spec, p, err := parseLimit(text)
	if err == nil && p != nil && p.Concurrent > 0 {
		return spec, nil, usagef("--limit 10/s,burst=20", "--limit %s cannot be judged: no count of admitted calls over time proves or breaks a limit on concurrent ones", text)
	}
	return spec, p, err
}

// promiseOf is what a limit promises its callers. Counts per window are taken
// at their word, for any window and not just the aligned ones: that is how
// those who are given the number read it.
func promiseOf(s limit.Spec) report.Promise {
	p := report.Promise{Text: s.String(), Units: s.Rate.Units, Per: int64(s.Rate.Per)}
	switch s.Algorithm {
	case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
		p.Burst = s.Burst
	case limit.LeakyQueue:
		// One call is let go at once beside those that wait.
		p.Burst = s.Queue + 1
	case limit.FixedWindow, limit.SlidingLog, limit.SlidingCounter:
		p = report.Promise{Text: p.Text, Limit: s.Limit, Window: int64(s.Window)}
	case limit.Concurrency:
		p = report.Promise{Text: p.Text, Concurrent: s.Limit}
	}
	return p
}

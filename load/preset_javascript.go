package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

var jsPresets = []preset{
	{name: "aws-sdk-js-v3", attempts: 3, own: awsQuota, rule: presetRule(awsJS),
		about: "2 retries after up to 100, 200ms (500ms, 1s on a 429), or Retry-After if longer; retry quota"},
	{name: "got", attempts: 3, rule: presetRule(got),
		about: "2 retries after 1, 2s plus up to 100ms, or Retry-After"},
	{name: "axios-retry", attempts: 4, rule: presetRule(axios),
		about: "3 retries at once, or after Retry-After"},
	{name: "ky", attempts: 3, rule: presetRule(ky),
		about: "2 retries after 0.3, 0.6s; on 413, 429, 503 after Retry-After or a reset field"},
	{name: "p-retry", attempts: 11, rule: presetRule(pRetry),
		about: "10 retries after 1, 2, 4, ... 512s"},
	{name: "undici", attempts: 6, rule: presetRule(undici),
		about: "5 retries after 0.5, 1, 2, 4, 8s, or Retry-After, never more than 30s"},
	{name: "octokit-throttling", attempts: 2, rule: presetRule(octokitThrottling),
		about: "1 retry: Retry-After or 60s, or the reset plus 1s when nothing remains"},
	{name: "octokit-retry", attempts: 4, rule: presetRule(octokitRetry),
		about: "3 retries after 1, 4, 9s; reads no header"},
}

// numeric says whether JavaScript's Number() reads the text.
func (h retryAfter) numeric() bool { return h.kind >= digitsText && h.kind <= hexText }

// awsJS is the standard strategy of the AWS SDK for JavaScript v3, whose
// waits are whole milliseconds.
func awsJS(o Outcome, _ *Memory, r *Rand) step {
	s := status(o)
	if !lost(o) && !oneOf(s, 429, 500, 502, 503, 504) {
		return step{}
	}
	base := 100 * time.Millisecond
	if s == 429 {
		base = 500 * time.Millisecond
	}
	d := doubled(base, o.Attempt, 20*time.Second)
	own := time.Duration(r.Int64n(int64(d/time.Millisecond))) * time.Millisecond
	hint, from := awsJSHint(o.Answer)
	if hint > own {
		return header(jsTimer(hint), from)
	}
	return again(own)
}

func awsJSHint(a *dialect.Answer) (time.Duration, dialect.Source) {
	h := readRetryAfter(a)
	switch {
	case h.kind == digitsText || h.kind == decimalText || h.date():
		return h.wait, dialect.RetryAfter
	case h.kind == otherText:
		// Two lines joined by a proxy: "date GMT, 120". The number wins.
		raw := trim(a.Retry.Raw[:min(int(a.Retry.RawLen), len(a.Retry.Raw))])
		for i := range raw {
			if tail := raw[i:]; len(tail) > 6 && string(tail[:6]) == " GMT, " {
				if n, ok := readNumber(tail[6:]); ok && (n.kind == digitsText || n.kind == decimalText) {
					return n.wait, dialect.RetryAfter
				}
			}
		}
	case h.kind == noText && a != nil && a.Milli.Has && a.Milli.Source == dialect.AmzRetryAfter:
		return a.Milli.Wait, dialect.AmzRetryAfter
	}
	return 0, dialect.NoSource
}

// got is sindresorhus/got with no request timeout, so that no Retry-After is
// too long for it, except for the timer.
func got(o Outcome, _ *Memory, r *Rand) step {
	s := status(o)
	switch {
	case lost(o):
		// Its list of error codes has no certificate errors and no broken HTTP.
		if o.Class == report.TLSFailed || o.Class == report.Malformed {
			return step{}
		}
	case !oneOf(s, 408, 413, 429, 500, 502, 503, 504, 521, 522, 524):
		return step{}
	default:
		h := readRetryAfter(o.Answer)
		switch {
		case h.numeric() && h.wait != 0:
			return header(jsTimer(h.wait), dialect.RetryAfter)
		case h.date():
			return header(max(time.Millisecond, jsTimer(h.wait)), dialect.RetryAfter)
		case s == 413: // without a usable Retry-After; 0 counts as none
			return step{}
		}
	}
	d := doubled(time.Second, o.Attempt, longestWait/2)
	return again(jsTimer(d + upTo(r, 100*time.Millisecond)))
}

// axios is softonic/axios-retry with noDelay, its default. axios reports a
// timeout as an abort, which is not tried again.
func axios(o Outcome, _ *Memory, _ *Rand) step {
	if lost(o) {
		if timedOut(o) {
			return step{}
		}
		return again(0)
	}
	if s := status(o); s != 429 && (s < 500 || s > 599) {
		return step{}
	}
	h := readRetryAfter(o.Answer)
	if (h.numeric() || h.date()) && h.wait > 0 {
		return header(jsTimer(h.wait), dialect.RetryAfter)
	}
	return again(0)
}

// ky is sindresorhus/ky. A Retry-After that is there but malformed means the
// normal delay: the reset fields are looked at only when it is missing.
func ky(o Outcome, _ *Memory, _ *Rand) step {
	s := status(o)
	if lost(o) && timedOut(o) || !lost(o) && !oneOf(s, 408, 413, 429, 500, 502, 503, 504) {
		return step{}
	}
	const longest = (1<<31 - 1) * time.Millisecond
	if oneOf(s, 413, 429, 503) {
		h := readRetryAfter(o.Answer)
		switch h.kind {
		case digitsText, imfDate, rfc850Date, asctimeDate:
			return header(min(h.wait, longest), dialect.RetryAfter)
		case noText:
			if a := o.Answer; a != nil && a.Reset.Has && (a.Reset.Unit == dialect.Seconds || a.Reset.Unit == dialect.UnixSeconds) &&
				(a.Reset.Source == dialect.RateLimitReset || a.Reset.Source == dialect.XRateLimitReset) {
				return header(min(a.Reset.Wait, longest), a.Reset.Source)
			}
		}
	}
	return again(doubled(300*time.Millisecond, o.Attempt, longest))
}

// pRetry is sindresorhus/p-retry and tim-kos/node-retry without randomize.
func pRetry(o Outcome, _ *Memory, _ *Rand) step {
	if !thrown(o) {
		return step{}
	}
	return again(jsTimer(doubled(time.Second, o.Attempt, longestWait)))
}

// undici is nodejs/undici's RetryHandler, which comes back before a longer
// Retry-After has passed. Its error codes have no timeouts.
func undici(o Outcome, _ *Memory, _ *Rand) step {
	if lost(o) {
		if !oneOf(o.Class, report.ConnectRefused, report.ConnReset, report.ClosedEarly, report.Unreachable, report.UnknownHost) {
			return step{}
		}
	} else if !oneOf(status(o), 429, 500, 502, 503, 504) {
		return step{}
	}
	h := readRetryAfter(o.Answer)
	switch {
	case h.numeric() && h.wait >= 0, h.date() && h.wait > 0:
		return header(min(h.wait, 30*time.Second), dialect.RetryAfter)
	}
	return again(doubled(500*time.Millisecond, o.Attempt, 30*time.Second))
}

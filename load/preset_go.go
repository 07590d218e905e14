package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

var goPresets = []preset{
	{name: "go-retryablehttp", attempts: 5, rule: presetRule(goRetryable),
		about: "4 retries after 1, 2, 4, 8s; Retry-After of a 429 or 503 replaces that, uncapped"},
	{name: "aws-sdk-go-v2", attempts: 3, own: awsQuota, rule: presetRule(awsGo),
		about: "2 retries after up to 2s, up to 4s; not on a bare 429; retry quota"},
	{name: "gax-go", rule: presetRule(gax),
		about: "full jitter 1s,30s on 429 and 503, for as long as the caller waits"},
	{name: "cenkalti-backoff", within: 15 * time.Minute, rule: presetRule(cenkalti),
		about: "0.5s growing by 1.5 to 60s, +-50%, for 15 minutes"},
}

// goRetryable is hashicorp/go-retryablehttp: DefaultRetryPolicy and
// DefaultBackoff. A certificate that does not check out is not tried again.
func goRetryable(o Outcome, _ *Memory, _ *Rand) step {
	if lost(o) {
		if o.Class == report.TLSFailed {
			return step{}
		}
		return again(doubled(time.Second, o.Attempt, 30*time.Second))
	}
	s := status(o)
	if s != 429 && (s < 500 || s == 501) {
		return step{}
	}
	if s == 429 || s == 503 {
		// A whole number from 0 (ParseInt takes a sign), or Go's RFC1123
		// layout, whose zone may be any name; everything else is ignored.
		h := readRetryAfter(o.Answer)
		switch h.kind {
		case digitsText, signedText, imfDate, utcDate:
			if h.wait >= 0 {
				return header(h.wait, dialect.RetryAfter)
			}
		}
	}
	return again(doubled(time.Second, o.Attempt, 30*time.Second))
}

// awsGo is aws-sdk-go-v2 aws/retry: standard mode, ExponentialJitterBackoff.
func awsGo(o Outcome, _ *Memory, r *Rand) step {
	if !lost(o) && !oneOf(status(o), 500, 502, 503, 504) {
		return step{}
	}
	if o.Attempt > 4 { // log2(20): from there on the maximum, without jitter
		return again(20 * time.Second)
	}
	return again(upTo(r, time.Second<<max(o.Attempt, 1)))
}

// gax is googleapis/gax-go: Backoff with its defaults. Which codes are tried
// again is each call's own setting; these two are the usual ones.
func gax(o Outcome, _ *Memory, r *Rand) step {
	if !lost(o) && !oneOf(status(o), 429, 503) {
		return step{}
	}
	return again(upTo(r, doubled(time.Second, o.Attempt, 30*time.Second)))
}

// cenkalti is cenkalti/backoff v4: ExponentialBackOff. The jitter comes after
// the cap, so that a wait can reach 90 s.
func cenkalti(o Outcome, _ *Memory, r *Rand) step {
	if !thrown(o) {
		return step{}
	}
	d := 500 * time.Millisecond
	for n := 1; n < o.Attempt && d < time.Minute; n++ {
		if d >= 40*time.Second {
			d = time.Minute
		} else {
			d = d * 3 / 2
		}
	}
	return again(between(r, d-d/2, d+d/2))
}

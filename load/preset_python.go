package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

var pythonPresets = []preset{
	{name: "urllib3", attempts: 11, rule: presetRule(urllib3),
		about: "up to 10 retries at once on 413, 429, 503 that carry Retry-After, or after that wait; errors at once"},
	{name: "requests", attempts: 1, rule: giveUp{},
		about: "never tries again"},
	{name: "aws-standard", attempts: 3, own: awsQuota, rule: presetRule(botoStandard),
		about: "botocore standard: 2 retries after up to 1s, up to 2s; not on a bare 429; retry quota"},
	{name: "botocore-legacy", attempts: 5, rule: presetRule(botoLegacy),
		about: "4 retries after up to 1, 2, 4, 8s; reads no header"},
	{name: "google-api-core", within: 120 * time.Second, rule: presetRule(googleCore),
		about: "full jitter 1s,60s on 429, 500, 503, for 120s"},
	{name: "openai", attempts: 3, rule: stainless{longest: 120 * time.Second, stop: true},
		about: "2 retries after 0.5s, 1s less up to a quarter; obeys hints up to 120s, gives up above"},
	{name: "anthropic", attempts: 3, rule: stainless{longest: 60 * time.Second},
		about: "2 retries after 0.5s, 1s less up to a quarter; obeys hints up to 60s, ignores longer ones"},
	{name: "stripe", attempts: 3, rule: presetRule(stripe),
		about: "2 retries after 0.5s, 0.5 to 1s; on a 429 only when stripe-should-retry says so"},
	{name: "slack-sdk", attempts: 2, rule: presetRule(slack),
		about: "1 retry after Retry-After plus up to 1s"},
}

// urllib3 is urllib3's Retry() with its defaults: no status list, a backoff
// factor of 0, Retry-After respected.
func urllib3(o Outcome, _ *Memory, _ *Rand) step {
	if lost(o) {
		return again(0)
	}
	if !oneOf(status(o), 413, 429, 503) {
		return step{}
	}
	h := readRetryAfter(o.Answer)
	switch {
	case h.kind == noText:
		return step{}
	case h.kind == digitsText || h.date() && o.Answer.Retry.Unit == dialect.HTTPDate:
		if h.wait <= 0 {
			return again(0) // counts as no header: the backoff, which is 0
		}
		return header(min(h.wait, 6*time.Hour), dialect.RetryAfter)
	}
	return step{} // InvalidHeader leaves the call
}

// botoStandard is botocore's standard retry mode.
func botoStandard(o Outcome, _ *Memory, r *Rand) step {
	if !lost(o) && !oneOf(status(o), 500, 502, 503, 504) {
		return step{}
	}
	return again(upTo(r, doubled(time.Second, o.Attempt, 20*time.Second)))
}

// botoLegacy is botocore's legacy retry mode, which has no cap.
func botoLegacy(o Outcome, _ *Memory, r *Rand) step {
	if !lost(o) && !oneOf(status(o), 429, 500, 502, 503, 504, 509) {
		return step{}
	}
	return again(upTo(r, doubled(time.Second, o.Attempt, longestWait)))
}

// googleCore is google.api_core.retry.Retry with if_transient_error, which
// knows no read timeouts. RetryInfo in the body is not looked at.
func googleCore(o Outcome, _ *Memory, r *Rand) step {
	if lost(o) && o.Class == report.Timeout || !lost(o) && !oneOf(status(o), 429, 500, 503) {
		return step{}
	}
	return again(upTo(r, doubled(time.Second, o.Attempt, time.Minute)))
}

// stainless is the base client that the OpenAI and Anthropic SDKs share.
type stainless struct {
	longest time.Duration // hints up to this are obeyed
	stop    bool          // longer ones end the call, before x-should-retry is read
}

func (b stainless) next(o Outcome, _ *Memory, r *Rand) step {
	hint, from := b.hint(o.Answer)
	if b.stop && hint > b.longest {
		return step{}
	}
	if !lost(o) {
		should := dialect.Tri(0)
		if o.Answer != nil {
			should = o.Answer.Should
		}
		s := status(o)
		if should < 0 || should == 0 && s < 500 && !oneOf(s, 408, 409, 429) {
			return step{}
		}
	}
	if hint > 0 && hint <= b.longest {
		return header(hint, from)
	}
	d := doubled(500*time.Millisecond, o.Attempt, 8*time.Second)
	return again(between(r, d-d/4, d))
}

// hint takes retry-after-ms, then Retry-After as a float or a date.
func (stainless) hint(a *dialect.Answer) (time.Duration, dialect.Source) {
	if a == nil {
		return 0, dialect.NoSource
	}
	if a.Milli.Has && a.Milli.Source == dialect.RetryAfterMS {
		return a.Milli.Wait, dialect.RetryAfterMS
	}
	h := readRetryAfter(a)
	if h.kind == hexText || h.kind == otherDate && a.Retry.Unit != dialect.HTTPDate {
		return 0, dialect.NoSource
	}
	return h.wait, dialect.RetryAfter
}

// stripe is the Stripe SDKs. Retry-After is not read.
func stripe(o Outcome, _ *Memory, r *Rand) step {
	if !lost(o) {
		should := dialect.Tri(0)
		if o.Answer != nil {
			should = o.Answer.Should
		}
		if s := status(o); should < 0 || should == 0 && s < 500 && s != 409 {
			return step{}
		}
	}
	d := doubled(500*time.Millisecond, o.Attempt, 5*time.Second)
	return again(max(500*time.Millisecond, between(r, d/2, d)))
}

// slack is slack_sdk with its rate-limit handler switched on beside the
// default one for connection errors. A fraction or a date raises.
func slack(o Outcome, _ *Memory, r *Rand) step {
	if lost(o) {
		if timedOut(o) {
			return step{}
		}
		return again(plus(doubled(500*time.Millisecond, o.Attempt, longestWait), upTo(r, time.Second)))
	}
	if status(o) != 429 {
		return step{}
	}
	h := readRetryAfter(o.Answer)
	switch {
	case h.kind == noText:
		return again(time.Second + upTo(r, time.Second))
	case (h.kind == digitsText || h.kind == signedText) && h.wait >= 0:
		return header(plus(h.wait, upTo(r, time.Second)), dialect.RetryAfter)
	}
	return step{}
}

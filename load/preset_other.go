package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

var otherPresets = []preset{
	{name: "okhttp", attempts: 2, rule: presetRule(okhttp),
		about: "1 retry at once: a 408, or a 503 with Retry-After: 0; never a 429"},
	{name: "resilience4j", attempts: 3, rule: presetRule(resilience4j),
		about: "2 retries after 0.5s"},
	{name: "failsafe", attempts: 3, rule: presetRule(failsafe),
		about: "2 retries at once"},
	{name: "curl-retry", attempts: 4, rule: presetRule(curl),
		about: "curl --retry 3: after 1, 2, 4s, or Retry-After, at most 6h"},
	{name: "grpc", attempts: 4, most: 5, rule: presetRule(grpc),
		own:   purse{kind: halfPurse, ratio: token / 10, start: 10 * token, max: 10 * token},
		about: "3 retries after 100, 200, 400ms +-20%, throttled: the policy of gRPC's own example"},
	{name: "envoy", attempts: 2, rule: presetRule(envoy),
		about: "retry_on 5xx: 1 retry after up to 25ms; never a 429"},
	{name: "envoy-ratelimited", attempts: 2, rule: presetRule(envoyRateLimited),
		about: "retry_on 5xx,envoy-ratelimited with reset headers: up to half later than a hint of at most 300s"},
}

// okhttp is RetryAndFollowUpInterceptor. A Retry-After that is not all digits
// counts as a very long one.
func okhttp(o Outcome, _ *Memory, _ *Rand) step {
	h := readRetryAfter(o.Answer)
	zero := h.kind == digitsText && h.wait == 0
	switch status(o) {
	case 408:
		if h.kind == noText {
			return again(0)
		}
	case 503:
	default:
		return step{}
	}
	if !zero {
		return step{}
	}
	return header(0, dialect.RetryAfter)
}

// resilience4j is RetryConfig.ofDefaults, around a caller that throws on a
// bad status.
func resilience4j(o Outcome, _ *Memory, _ *Rand) step {
	if !thrown(o) {
		return step{}
	}
	return again(500 * time.Millisecond)
}

// failsafe is RetryPolicy.ofDefaults, around a caller that throws on a bad
// status.
func failsafe(o Outcome, _ *Memory, _ *Rand) step {
	if !thrown(o) {
		return step{}
	}
	return again(0)
}

// curl is curl --retry 3. A refused connection is no reason for it to try
// again; a timeout is, and a name that was not found.
func curl(o Outcome, _ *Memory, _ *Rand) step {
	own := doubled(time.Second, o.Attempt, 10*time.Minute)
	if lost(o) {
		if timedOut(o) || o.Class == report.UnknownHost {
			return again(own)
		}
		return step{}
	}
	if !oneOf(status(o), 408, 429, 500, 502, 503, 504, 522, 524) {
		return step{}
	}
	h := readRetryAfter(o.Answer)
	wait := time.Duration(0)
	switch {
	case h.kind == digitsText || h.kind == decimalText:
		wait = h.wait.Truncate(time.Second) // it stops reading at the point
	case h.date():
		wait = h.wait
	}
	if wait > 0 {
		return header(min(wait, 6*time.Hour), dialect.RetryAfter)
	}
	return again(own)
}

// grpc is the policy printed in gRPC proposal A6; gRPC has none by default.
// Pushback comes in a trailer, which is not read here.
func grpc(o Outcome, _ *Memory, r *Rand) step {
	if !grpcUnavailable(o) {
		return step{}
	}
	d := doubled(100*time.Millisecond, o.Attempt, time.Second)
	return again(between(r, d-d/5, d+d/5))
}

// envoy is a route with retry_on 5xx and the default back-off.
func envoy(o Outcome, _ *Memory, r *Rand) step {
	if !lost(o) && status(o) < 500 {
		return step{}
	}
	return again(upTo(r, doubled(25*time.Millisecond, o.Attempt, 250*time.Millisecond)))
}

// envoyRateLimited adds envoy-ratelimited and rate_limited_retry_back_off
// with Retry-After and the X-RateLimit-Reset field; the first that gives at
// most 300 s is used, and only ever lengthened.
func envoyRateLimited(o Outcome, m *Memory, r *Rand) step {
	if status(o) != 429 {
		return envoy(o, m, r)
	}
	const longest = 300 * time.Second
	if h := readRetryAfter(o.Answer); h.kind == digitsText && h.wait > 0 && h.wait <= longest {
		return header(between(r, h.wait, h.wait+h.wait/2), dialect.RetryAfter)
	}
	if a := o.Answer; a != nil && a.Reset.Has && a.Reset.Source == dialect.XRateLimitReset && a.Reset.Wait > 0 && a.Reset.Wait <= longest {
		return header(between(r, a.Reset.Wait, a.Reset.Wait+a.Reset.Wait/2), a.Reset.Source)
	}
	return again(upTo(r, doubled(25*time.Millisecond, o.Attempt, 250*time.Millisecond)))
}

package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
)

// octokitThrottling is @octokit/plugin-throttling with callbacks that agree
// once. It tells a secondary limit by the message; here, a limit with
// something remaining is one.
func octokitThrottling(o Outcome, _ *Memory, _ *Rand) step {
	if s := status(o); s != 403 && s != 429 {
		return step{}
	}
	a := o.Answer
	if a != nil && a.HasRemaining && a.Remaining == 0 {
		if !a.Reset.Has {
			return again(0) // no reset reads as 1970
		}
		whole := plus(a.Reset.Wait, time.Second-1) / time.Second * time.Second
		return header(jsTimer(plus(whole, time.Second)), a.Reset.Source)
	}
	h := readRetryAfter(a)
	if status(o) == 403 && h.kind == noText && (a == nil || !a.Limited) {
		return step{} // an ordinary permission error
	}
	if h.numeric() && h.wait != 0 {
		return header(jsTimer(h.wait), dialect.RetryAfter)
	}
	return again(time.Minute)
}

// octokitRetry is @octokit/plugin-retry. A lost connection arrives there as
// status 500.
func octokitRetry(o Outcome, _ *Memory, _ *Rand) step {
	if s := status(o); !lost(o) && (s < 400 || oneOf(s, 400, 401, 403, 404, 410, 422, 451)) {
		return step{}
	}
	n := time.Duration(min(max(o.Attempt, 1), 10_000))
	return again(n * n * time.Second)
}

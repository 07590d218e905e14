package dialect

import (
	"strings"
	"testing"
	"time"
)

// TestLimited is the question "was I limited?", by status and evidence, with
// what the body adds.
func TestLimited(t *testing.T) {
	type want struct {
		limited bool
		should  Tri
		wait    time.Duration
		floor   time.Duration
		notes   Notes
	}
	const shopify = `{"errors":[{"message":"Throttled","extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":410,"actualQueryCost":null,"throttleStatus":{"maximumAvailable":2000.0,"currentlyAvailable":150,"restoreRate":100.0}}}}`
	for _, c := range []struct {
		name   string
		status int
		lines  []string
		body   string
		want   want
	}{
		{"plain 200", 200, nil, `{"data":1}`, want{false, 0, none, 0, 0}},
		{"bare 429", 429, nil, "", want{true, 0, none, 0, 0}},
		{"429 in text", 429, []string{"Retry-After: 60"}, "Retry later\n", want{true, 0, 60 * sec, 0, 0}},
		{"429 with plenty left", 429, []string{"X-RateLimit-Remaining: 50"}, "", want{true, 0, none, 0, 0}},
		{"200 with nothing left", 200, []string{"X-RateLimit-Limit: 9", "X-RateLimit-Remaining: 0"}, "", want{false, 0, none, 0, 0}},
		{"stripe limit", 429, []string{"Stripe-Rate-Limited-Reason: endpoint-concurrency"}, `{"error":{"type":"invalid_request_error","code":"rate_limit"}}`, want{true, 0, none, 0, 0}},
		{"stripe lock", 429, nil, `{"error":{"type":"invalid_request_error","code":"lock_timeout"}}`, want{false, 0, none, 0, NotLimited}},
		{"stripe lock code with a reason", 429, []string{"Stripe-Rate-Limited-Reason: global-rate"}, `{"error":{"code":"lock_timeout"}}`, want{true, 0, none, 0, 0}},
		{"stripe orders", 429, []string{"stripe-should-retry: true"}, "", want{true, 1, none, 0, 0}},
		{"stripe of old", 400, nil, `{"error":{"code":"rate_limit"}}`, want{true, 0, none, 0, 0}},
		{"should not retry", 429, []string{"X-Should-Retry: false"}, "", want{true, -1, none, 0, 0}},
		{"azure lock", 429, []string{"Retry-After: 5"}, `{"error":{"code":"RetryableErrorDueToAnotherOperation"}}`, want{false, 0, 5 * sec, 0, NotLimited}},
		{"openai, no money", 429, nil, `{"error":{"type":"insufficient_quota","code":"insufficient_quota"}}`, want{false, -1, none, 0, NotLimited}},
		{"openai, an order beside it", 429, []string{"x-should-retry: true"}, `{"error":{"code":"insufficient_quota"}}`, want{false, 1, none, 0, NotLimited}},
		{"anthropic, spend limit", 429, nil, `{"type":"error","error":{"type":"rate_limit_error","details":{"error_code":"enforced_spend_limit_reached"}}}`, want{false, -1, none, 0, NotLimited}},
		{"google, quota of nothing", 429, nil, `{"error":{"message":"Quota exceeded for metric x, limit: 0, model y","status":"RESOURCE_EXHAUSTED"}}`, want{false, -1, none, 0, NotLimited}},
		{"google, small quota", 429, nil, `{"error":{"message":"Quota exceeded, limit: 0.5","status":"RESOURCE_EXHAUSTED"}}`, want{true, 0, none, 30 * sec, 0}},
		{"google RetryInfo", 429, nil, `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"12.500s"}]}}`, want{true, 0, 12500 * ms, 30 * sec, 0}},
		{"google of old", 403, nil, `{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}`, want{true, 0, none, 30 * sec, 0}},
		{"anthropic, overload", 529, nil, `{"type":"error","error":{"type":"overloaded_error"}}`, want{false, 0, none, 0, OverloadNotLimit | Reduced}},
		{"529 alone", 529, nil, "", want{false, 0, none, 0, OverloadNotLimit}},
		{"bandwidth", 509, nil, "", want{true, 0, none, 0, 0}},
		{"503 alone", 503, nil, "", want{false, 0, none, 0, 0}},
		{"503 with a wait", 503, []string{"Retry-After: 2"}, "", want{false, 0, 2 * sec, 0, OverloadNotLimit}},
		{"503 with an unreadable wait", 503, []string{"Retry-After: x"}, "", want{false, 0, none, 0, OverloadNotLimit | Malformed | BadRetryAfter}},
		{"apisix", 503, []string{"X-RateLimit-Limit: 2", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 58.31"}, "", want{true, 0, 58310 * ms, 0, 0}},
		{"503 with some left", 503, []string{"X-RateLimit-Limit: 2", "X-RateLimit-Remaining: 1"}, "", want{false, 0, none, 0, 0}},
		{"graph", 503, []string{"x-ms-throttle-scope: Tenant_Application/ReadWrite/a/b", "Retry-After: 4"}, "", want{true, 0, 4 * sec, 0, 0}},
		{"s3", 503, nil, `<?xml version="1.0"?><Error><Code>SlowDown</Code><Message>sample</Message></Error>`, want{true, 0, none, 0, 0}},
		{"nginx's page", 503, nil, "<html><head><title>503 Service Temporarily Unavailable</title></head></html>", want{true, 0, none, 0, Guessed}},
		{"nginx's page, with a wait", 503, []string{"Retry-After: 30"}, "<html><head><title>503 Service Temporarily Unavailable</title></head></html>", want{false, 0, 30 * sec, 0, OverloadNotLimit}},
		{"problem type", 429, []string{"Retry-After: 37"}, `{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","violated-policies":["burst"]}`, want{true, 0, 37 * sec, 0, 0}},
		{"problem type of capacity", 503, []string{"Retry-After: 37"}, `{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"}`, want{false, 0, 37 * sec, 0, OverloadNotLimit | Reduced}},
		{"403 alone", 403, nil, "", want{false, 0, none, 0, 0}},
		{"403 of permissions", 403, []string{"x-ratelimit-remaining: 10"}, `{"message":"Resource not accessible"}`, want{false, 0, none, 0, 0}},
		{"403 with a wait", 403, []string{"Retry-After: 7"}, "", want{true, 0, 7 * sec, 0, 0}},
		{"github, primary", 403, []string{"x-ratelimit-remaining: 0", "x-ratelimit-reset: 1773483300"}, "", want{true, 0, 900 * sec, 0, 0}},
		{"github, secondary by text", 403, nil, `{"message":"You have exceeded a secondary rate limit. (sample)"}`, want{true, 0, none, 60 * sec, 0}},
		{"github, secondary by link", 403, nil, `{"message":"sample","documentation_url":"https://docs.github.com/x#about-secondary-rate-limits"}`, want{true, 0, none, 60 * sec, 0}},
		{"tyk quota", 403, nil, `{"error":"Quota exceeded"}`, want{true, 0, none, 0, 0}},
		{"a waf's page", 403, nil, "<html><body>Request blocked (sample)</body></html>", want{false, 0, none, 0, 0}},
		{"dynamodb", 400, nil, `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"sample"}`, want{true, 0, none, 0, 0}},
		{"aws by header", 400, []string{"x-amzn-ErrorType: ThrottlingException:http://internal.example/"}, "", want{true, 0, none, 0, 0}},
		{"aws, another error", 400, []string{"x-amzn-ErrorType: ValidationException"}, `{"__type":"ValidationException"}`, want{false, 0, none, 0, 0}},
		{"shopify graphql", 200, nil, shopify, want{true, 0, 2600 * ms, 0, 0}},
		{"shopify graphql, never", 200, nil, strings.Replace(shopify, "410", "4100", 1), want{true, -1, none, 0, 0}},
		{"shopify graphql, no rate", 200, nil, strings.Replace(shopify, "100.0", "0.0", 1), want{true, 0, none, 0, 0}},
		{"shopify graphql, good", 200, nil, `{"data":{},"extensions":{"cost":{"requestedQueryCost":1,"throttleStatus":{"currentlyAvailable":1,"restoreRate":100.0}}}}`, want{false, 0, none, 0, 0}},
		{"github graphql", 200, []string{"x-ratelimit-remaining: 0", "x-ratelimit-reset: 1773482460"}, `{"errors":[{"type":"RATE_LIMITED","message":"sample"}]}`, want{true, 0, 60 * sec, 0, 0}},
		{"github graphql, data first", 200, nil, "\n{ \"data\": null, \"errors\": [{\"type\":\"RATE_LIMITED\"}]}", want{true, 0, none, 0, 0}},
		{"other JSON with such a code", 200, nil, `{"log":[{"errors":1,"code":"THROTTLED"}]}`, want{false, 0, none, 0, 0}},
		{"graphql, another error", 200, nil, `{"errors":[{"message":"no such field","extensions":{"code":"BAD_INPUT"},"retry_after":4}]}`, want{false, 0, none, 0, 0}},
		{"graph batch", 200, nil, `{"responses":[{"id":"1","status":429,"headers":{"Retry-After":"10"}}]}`, want{true, 0, 10 * sec, 0, 0}},
		{"slack is not here", 200, nil, `{"ok":false,"error":"ratelimited"}`, want{false, 0, none, 0, 0}},
		{"grpc", 200, []string{"grpc-status: 8", "grpc-retry-pushback-ms: 250"}, "", want{true, 0, 250 * ms, 0, 0}},
		{"grpc, told to stop", 200, []string{"grpc-status: 8", "grpc-retry-pushback-ms: -1"}, "", want{true, -1, none, 0, 0}},
		{"envoy grpc", 200, []string{"grpc-status: 14", "x-envoy-ratelimited: true"}, "", want{true, 0, none, 0, 0}},
		{"envoy, own status", 418, []string{"x-envoy-ratelimited: true"}, "", want{true, 0, none, 0, 0}},
		{"envoy, local text", 503, nil, "local_rate_limited", want{true, 0, none, 0, 0}},
		{"cloudflare, edge", 429, nil, "error code: 1015", want{true, 0, none, 0, 0}},
		{"cloudflare, edge in JSON", 429, []string{"Retry-After: 30"}, `{"retry_after":30,"error_code":1015}`, want{true, 0, 30 * sec, 0, 0}},
		{"twilio", 429, []string{"Twilio-Concurrent-Requests: 101"}, `{"code":20429,"status":429}`, want{true, 0, none, 0, 0}},
		{"wait in words", 429, nil, `{"error":{"message":"Token limit reached, try again in 2.411s (sample)","code":"rate_limit_exceeded"}}`, want{true, 0, 2411 * ms, 0, 0}},
		{"wait in words, minutes", 429, nil, `{"detail":"Throttled. Try again in 6m0s."}`, want{true, 0, 6 * time.Minute, 0, 0}},
		{"wait in words, django", 429, nil, `{"detail":"Request was throttled. Expected available in 46 seconds."}`, want{true, 0, 46 * sec, 0, 0}},
		{"words give way to a header", 429, []string{"Retry-After: 3"}, `{"message":"try again in 9s"}`, want{true, 0, 3 * sec, 0, 0}},
		{"body of milliseconds", 429, nil, `{"retryAfterMs": 1500}`, want{true, 0, 1500 * ms, 0, 0}},
		{"body that is cut", 429, nil, `{"retry_after": 40`, want{true, 0, none, 0, 0}},
		{"body that is nonsense", 429, nil, `{"retry_after": "soon"}`, want{true, 0, none, 0, Malformed}},
		{"body of null", 429, nil, `{"retry_after": null}`, want{true, 0, none, 0, 0}},
		{"body of three years", 429, nil, `{"retry_after": 99999999.5}`, want{true, 0, 99999999500 * ms, 0, TooLong}},
		{"kept within the first bytes", 429, nil, `{"pad":"` + strings.Repeat("x", BodyMax) + `","retry_after":5}`, want{true, 0, none, 0, 0}},
		{"hubspot lock", 423, nil, `{"message":"locked"}`, want{false, 0, none, 0, 0}},
		{"413 that passes", 413, []string{"Retry-After: 9"}, "", want{false, 0, 9 * sec, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answer(t, c.status, c.body, c.lines...)
			got := want{a.Limited, a.Should, none, a.Floor, a.Notes}
			if a.Wait.Has {
				got.wait = a.Wait.Wait
			}
			if got != c.want {
				t.Errorf("got  %+v %q\nwant %+v %q", got, got.notes.Strings(), c.want, c.want.notes.Strings())
			}
		})
	}
}

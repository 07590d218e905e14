package dialect

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

var wireSeeds = []struct{ head, body string }{
	{"Retry-After: 0.5", ""}, {"Retry-After: -1", ""}, {"Retry-After: 0\nRetry-After: 120", ""}, {"Retry-After: 99999999999999999999", ""},
	{"Retry-After: Saturday, 14-Mar-26 10:00:05 GMT", ""}, {"Retry-After: Sat Mar 14 10:00:05 2026\nAge: 7", ""},
	{"Retry-After: 60000\nRateLimit-Policy: \"p\";q=10;w=60\nRateLimit: \"p\";r=0;t=5", `{"retry_after": 40.5}`},
	{"X-RateLimit-Reset: 1773482460000\nX-RateLimit-Remaining: 0\nX-RateLimit-Reset-After: 2.5", ""},
	{"X-RateLimit-Reset: 2026-03-14T10:00:10Z\nX-RateLimit-Limit: -1\nX-RateLimit-Remaining: -1", ""},
	{"ratelimit-limit: 100;w=21600\nratelimit-remaining: 98;w=21600", ""}, {"ratelimit-limit: ;w=21600", ""},
	{"RateLimit: limit=10, remaining=0, reset=5\nRateLimit-Policy: 10;w=1, 10;w=60", ""},
	{"x-ratelimit-limit: 10, 10;w=1;name=\"per-ip\", 1000;window=3600\nx-ratelimit-reset: 1", ""},
	{"retry-after-ms: 2411\nx-ms-retry-after-ms: 1\nx-amz-retry-after: 5\nX-Retry-In: 1m1.5s\nx-ratelimit-reset-tokens: 6m0s", ""},
	{"zendesk-ratelimit-a: total=100; remaining=0; resets=41\nX-Shopify-Shop-Api-Call-Limit: 40/40\nX-HubSpot-RateLimit-Interval-Milliseconds: 10000", ""},
	{"x-ms-ratelimit-remaining-resource: A/B;0,A/C;9\nX-RateLimit: {\"limit\":5,\"until\":\"2026-03-14T10:00:10Z\"}\nX-RateLimit-FillRate: 3", ""},
	{"x-should-retry: false\ngrpc-retry-pushback-ms: -1\ngrpc-status: 8\nx-envoy-ratelimited: true", ""},
	{"", `{"errors":[{"extensions":{"code":"THROTTLED"}}],"extensions":{"cost":{"requestedQueryCost":410,"throttleStatus":{"maximumAvailable":2e3,"currentlyAvailable":150,"restoreRate":0.001}}}}`},
	{"", `{"error":{"details":[{"retryDelay":"12.500s"}],"message":"try again in 2.4s, limit: 0"}}`},
	{"X-RateLimit-Limit-999999d: 5\nX-RateLimit-Remaining-5h: 0", ""}, {"", `{"data":null,"errors":[{"type":"RATE_LIMITED","retry_after":1e3}]}`},
	{"", `<Error><Code>SlowDown</Code></Error>`}, {"", "local_rate_limited"}, {"", `{"a":"\`}, {"", `{"__type":"x#Throttling:y"}`},
}

// FuzzRead: whatever the bytes, Read keeps its promises (see broken), reads
// the same twice, and does not write to its input.
func FuzzRead(f *testing.F) {
	for _, s := range wireSeeds {
		for _, status := range []uint16{200, 429, 503, 403} {
			f.Add(status, dateLine+"\n"+s.head, []byte(s.body), noon*int64(time.Second))
		}
	}
	f.Fuzz(func(t *testing.T, status uint16, head string, body []byte, now int64) {
		lines := splitLines(head)
		resp := Response{Status: int(status), Fields: fieldsOf(lines...), Body: body, Now: now}
		was := bytes.Clone(body)
		var a, b Answer
		Read(&a, resp)
		if msg := broken(&a); msg != "" {
			t.Fatalf("%s: %+v", msg, a)
		}
		b.Policies[0].NameLen, b.Wait.Raw[0], b.Should = 200, 'x', -1
		Read(&b, resp)
		if a != b {
			t.Fatalf("read twice:\n%+v\n%+v", a, b)
		}
		if !bytes.Equal(was, body) || len(lines) > 0 && !slicesEqual(fieldsOf(lines...), resp.Fields) {
			t.Fatal("the input was written to")
		}
		// Dropping what is not Interesting changes nothing.
		var kept []Field
		for _, fl := range resp.Fields {
			if Interesting(fl.Name) {
				kept = append(kept, fl)
			}
		}
		resp.Fields = kept
		Read(&b, resp)
		if a != b {
			t.Fatalf("without dull fields:\n%+v\n%+v", a, b)
		}
		for _, h := range []*Hint{&a.Wait, &a.Retry} {
			if strings.ContainsFunc(h.Text(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Fatalf("text %q", h.Text())
			}
		}
	})
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

func slicesEqual(a, b []Field) bool {
	for i := range a {
		if !bytes.Equal(a[i].Name, b[i].Name) || !bytes.Equal(a[i].Value, b[i].Value) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestInteresting(t *testing.T) {
	for _, n := range []string{
		"Date", "age", "RETRY-AFTER", "Retry-After-short", "retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after", "X-Retry-In",
		"RateLimit", "Ratelimit-Policy", "ratelimit-limit", "RateLimit-ResetTime", "X-RateLimit-Limit-Minute", "x-rate-limit", "x-rate-limit-reset",
		"X-App-Rate-Limit", "X-AI-RateLimit-Limit-gpt", "anthropic-ratelimit-requests-reset", "Fastly-RateLimit-Reset", "Zendesk-RateLimit-x",
		"x-ms-ratelimit-remaining-resource", "X-HubSpot-RateLimit-Daily", "X-Shopify-Shop-Api-Call-Limit", "x-should-retry", "Stripe-Should-Retry",
		"stripe-rate-limited-reason", "x-envoy-ratelimited", "x-amzn-errortype", "grpc-status", "grpc-retry-pushback-ms", "RequestLimit-a-RetryAfter",
		"x-ms-throttle-scope",
	} {
		if !Interesting([]byte(n)) {
			t.Errorf("%s is not interesting", n)
		}
	}
	for _, n := range []string{
		"", "x", "X-", "Server", "Content-Type", "Content-Length", "Connection", "Cache-Control", "ETag", "Vary", "Allow", "Accept-Ranges", "Set-Cookie",
		"Strict-Transport-Security", "X-Request-Id", "X-Frame-Options", "X-Content-Type-Options", "X-Powered-By", "X-Accelerate-Limit", "Referrer-Policy",
		"X-Corporate-Limit", "Ratelimited", "X-RateLimiter", "Transfer-Encoding", "Retry", "X-Cache", "Via",
	} {
		if Interesting([]byte(n)) {
			t.Errorf("%q is interesting", n)
		}
	}
}

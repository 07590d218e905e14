package dialect

import (
	"strings"
	"testing"
)

var benches = []struct {
	name   string
	status int
	body   string
	lines  []string
}{
	{"plain", 200, "ok", []string{"Server: nginx", dateLine, "Content-Type: text/plain", "Content-Length: 2", "Connection: keep-alive", "Cache-Control: no-store"}},
	{"plain-json-4k", 200, `{"items":[` + strings.Repeat(`{"id":12345,"name":"some sample name"},`, 120) + `{}]}`, []string{"Server: nginx", dateLine, "Content-Type: application/json", "Content-Length: 4000", "Connection: keep-alive", "Cache-Control: no-store"}},
	{"bare-429", 429, "", []string{"Server: nginx", dateLine, "Content-Type: text/plain", "Content-Length: 0", "Connection: keep-alive", "X-Request-Id: 1"}},
	{"retry-after", 429, "", []string{"Server: nginx", dateLine, "Content-Length: 0", "Retry-After: 30"}},
	{"retry-after-date", 429, "", []string{dateLine, "Content-Length: 0", "Retry-After: Sat, 14 Mar 2026 10:00:05 GMT"}},
	{"x-ratelimit", 200, "", []string{dateLine, "Content-Length: 0", "X-RateLimit-Limit: 5000", "X-RateLimit-Remaining: 4999", "X-RateLimit-Reset: 1773483300"}},
	{"draft-11", 429, "", []string{dateLine, "Content-Length: 0", "Retry-After: 2", `RateLimit-Policy: "default";q=20;w=60`, `RateLimit: "default";r=0;t=2`}},
	{"draft-11-ok", 200, "", []string{dateLine, "Content-Length: 0", `RateLimit-Policy: "default";q=20;w=60`, `RateLimit: "default";r=9;t=2`}},
	{"openai-body", 429, `{"error":{"message":"Token limit reached, try again in 2.411s","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, []string{
		dateLine, "retry-after: 3", "retry-after-ms: 2411", "x-ratelimit-limit-requests: 500", "x-ratelimit-limit-tokens: 30000", "x-ratelimit-remaining-requests: 499",
		"x-ratelimit-remaining-tokens: 120", "x-ratelimit-reset-requests: 120ms", "x-ratelimit-reset-tokens: 6m0s",
	}},
}

func BenchmarkRead(b *testing.B) {
	for _, c := range benches {
		b.Run(c.name, func(b *testing.B) {
			var a Answer
			resp := Response{Status: c.status, Fields: fieldsOf(c.lines...), Body: []byte(c.body), Now: noon * 1e9}
			b.ReportAllocs()
			for b.Loop() {
				Read(&a, resp)
			}
		})
	}
}

func BenchmarkInteresting(b *testing.B) {
	fields := fieldsOf(benches[0].lines...)
	for b.Loop() {
		for i := range fields {
			Interesting(fields[i].Name)
		}
	}
}

// TestReadDoesNotAllocate covers every kind of field and body there is a seed
// for, not only the common ones.
func TestReadDoesNotAllocate(t *testing.T) {
	var a Answer
	check := func(name string, resp Response) {
		if n := testing.AllocsPerRun(20, func() { Read(&a, resp) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
	for _, c := range benches {
		check(c.name, Response{Status: c.status, Fields: fieldsOf(c.lines...), Body: []byte(c.body), Now: noon * 1e9})
	}
	for _, s := range wireSeeds {
		check(s.head+s.body, Response{Status: 429, Fields: fieldsOf(append(splitLines(s.head), dateLine)...), Body: []byte(s.body), Now: noon * 1e9})
	}
}

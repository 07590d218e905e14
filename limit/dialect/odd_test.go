package dialect

import "testing"

// TestUnreadable: values of no sense are noted and count for nothing.
func TestUnreadable(t *testing.T) {
	for _, c := range []struct {
		line  string
		notes Notes
	}{
		{"X-RateLimit-Limit: many", Malformed},
		{"X-RateLimit-Limit: many, 100;w=60", Malformed},
		{"X-RateLimit-Limit:", Malformed},
		{"X-RateLimit-Limit: 20:1,100:120", Malformed},
		{"X-RateLimit-Limit: {}", Malformed},
		{"X-RateLimit-Limit: ;w=", Malformed},
		{"X-RateLimit-Remaining: few", Malformed},
		{"X-RateLimit-Remaining:", Malformed},
		{"X-RateLimit-Used: -3", Malformed},
		{"X-RateLimit-Interval-Seconds: 0", Malformed},
		{"X-RateLimit-FillRate: fast", Malformed},
		{"X-RateLimit-Retry-After: later", Malformed},
		{"X-Shopify-Shop-Api-Call-Limit: 40", Malformed},
		{"X-Shopify-Shop-Api-Call-Limit: 4/-1", Malformed},
		{"zendesk-ratelimit-a: total", Malformed},
		{"zendesk-ratelimit-a:", Malformed},
		{"x-ms-ratelimit-remaining-resource: A/B", Malformed},
		{"x-should-retry: maybe", Malformed},
		{"X-Retry-In: 5", Malformed},
		{"X-Retry-In: 5 parsecs", Malformed},
		{"RateLimit:", Malformed},
		{"RateLimit-Policy:", Malformed},
		{"RateLimit-Policy: ;w=60", NoLimitNumber},
		{`RateLimit-Policy: "p";w=60`, NoLimitNumber},
		{`RateLimit-Policy: "p";q=-1`, Unlimited},
		{"RateLimit: limit=1.5, reset=?1", Malformed},
		{"RateLimit: remaining=-1, limit=-1, reset=500000000", Malformed | Unlimited},
		{`RateLimit: "p";r=-1`, Unlimited},
		{"X-RateLimit-Reset: 2026-03-14T25:00Z", Malformed},
		{"X-RateLimit-Reset: 2026-13-14T10:00Z", Malformed},
		{"X-RateLimit-Reset: 2026-03-14T10:00:00 Mars", Malformed},
		{"X-RateLimit-Reset: 2026-03-14T10:00:00+1", Malformed},
		{"X-RateLimit-Reset: Sat, 14 Mar 2026 10:00 2027", Malformed},
		{"X-RateLimit-Reset: Sat, 14 Mar 10:00:00 10:00:00", Malformed},
		{"X-RateLimit-Reset: Sat, 14 Mar 2026 10:00:61 GMT", Malformed},
		{"X-RateLimit-Reset: Sat, 14 Mar 20266 10:00:00 GMT", Malformed},
		{"X-RateLimit-Reset: GMT Sat, 14 Mar 2026 10:00:00", Malformed},
		{"X-RateLimit-Reset: Xyz, 14 Mar 2026 10:00:00 GMT", Malformed},
	} {
		a := answer(t, 429, "", c.line)
		if a.Notes != c.notes || a.Wait.Has || a.Limit != 0 || a.Remaining != 0 || a.HasRemaining {
			t.Errorf("%s: notes %q, %+v", c.line, a.Notes.Strings(), a)
		}
	}
}

// TestOdd is values that say something in spite of their form.
func TestOdd(t *testing.T) {
	for _, c := range []struct {
		line             string
		limit, remaining int64
		notes            Notes
	}{
		{"RateLimit-Policy: 10;w=1, 10;w=60", 10, 0, Inconsistent},
		{"RateLimit-Policy: 10", 10, 0, Malformed},
		{`RateLimit-Policy: "p";q=5;w=0`, 5, 0, Malformed},
		{`RateLimit-Policy: "p";q=5;pk=7`, 5, 0, Malformed},
		{"RateLimit-Policy: burst;q=5;w=9", 5, 0, 0},
		{"X-RateLimit-Limit: 100, 200", 100, 0, Duplicate},
		{"X-RateLimit-Limit: 100, x;w=5", 100, 0, Malformed},
		{"X-RateLimit-Remaining: 7, 3", 0, 3, Duplicate},
		{"X-RateLimit-Remaining: 3, 7", 0, 3, Duplicate},
		{"X-RateLimit-Limit: 1000000000000000000000000", bigWhole, 0, 0},
		{"zendesk-ratelimit-a: total=9; remaining=4; resets=soon", 9, 4, Malformed},
		{"X-Shopify-Shop-Api-Call-Limit: 50/40", 40, 0, 0},
		{"x-ratelimit-limit-15min: 9", 9, 0, 0},
		{"X-RateLimit-Monthly-Limit: 9", 9, 0, 0},
	} {
		a := answer(t, 200, "", c.line)
		if a.Limit != c.limit || a.Remaining != c.remaining || a.Notes != c.notes {
			t.Errorf("%s: limit %d, remaining %d, notes %q", c.line, a.Limit, a.Remaining, a.Notes.Strings())
		}
	}
}

func TestPeriods(t *testing.T) {
	for name, want := range map[string]int64{
		"second": 1, "Minute": 60, "hourly": 3600, "day": 86400, "monthly": 30 * 86400, "year": 365 * 86400,
		"10s": 10, "15m": 900, "15min": 900, "5h": 18000, "7d": 7 * 86400, "999999d": 10 * 365 * 86400, "5x": 0, "tokens": 0, "": 0, "h": 0,
	} {
		if got := periodOf([]byte(name)); int64(got/sec) != want {
			t.Errorf("%q: %v, want %d s", name, got, want)
		}
	}
	for text, want := range map[string]int64{"1h2m3s": 3723e9, "8.64s": 864e7, "12ms": 12e6, "5µs": 5e3, "7us": 7e3, "3ns": 3, "1.5d": 1296e11, "99999999d": int64(MaxWait)} {
		if got, ok := readDuration([]byte(text)); !ok || int64(got) != want {
			t.Errorf("%q: %v %v, want %d", text, got, ok, want)
		}
	}
}

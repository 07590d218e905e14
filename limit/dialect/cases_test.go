package dialect

import (
	"slices"
	"testing"
	"time"
)

// want is what a row expects. wait -1 is no wait; notes are the exact set.
type want struct {
	wait   time.Duration
	source Source
	unit   Unit
	notes  Notes
}

const none = time.Duration(-1)

// TestRetryAfterInTheField is values that were met, each standing for a kind.
func TestRetryAfterInTheField(t *testing.T) {
	const bad = Malformed | BadRetryAfter
	const date = "Sat, 14 Mar 2026 10:00:05 GMT"
	for _, c := range []struct {
		name   string
		status int
		body   string
		lines  []string
		want   want
	}{
		{"half a second", 429, "", []string{"Retry-After: 0.5"}, want{500 * ms, RetryAfter, Seconds, NotWhole}},
		{"two and nothing", 429, "", []string{"Retry-After: 2.0"}, want{2 * sec, RetryAfter, Seconds, NotWhole}},
		{"finer than a nanosecond", 429, "", []string{"Retry-After: 0.0000000001"}, want{1, RetryAfter, Seconds, NotWhole}},
		{"negative", 429, "", []string{"Retry-After: -1"}, want{none, 0, 0, bad}},
		{"zero", 429, "", []string{"Retry-After: 0"}, want{0, RetryAfter, Seconds, 0}},
		{"two lines", 429, "", []string{"Retry-After: 0", "Retry-After: 120"}, want{120 * sec, RetryAfter, Seconds, Duplicate}},
		{"two lines, larger first", 429, "", []string{"retry-after: 120", "RETRY-AFTER: 0"}, want{120 * sec, RetryAfter, Seconds, Duplicate}},
		{"joined by a proxy", 429, "", []string{"Retry-After: 0,120"}, want{120 * sec, RetryAfter, Seconds, Duplicate}},
		{"date and number joined", 429, "", []string{"Retry-After: " + date + ", 7"}, want{7 * sec, RetryAfter, Seconds, Duplicate}},
		{"one of two lines unreadable", 429, "", []string{"Retry-After: soon", "Retry-After: 9"}, want{9 * sec, RetryAfter, Seconds, Malformed | Duplicate}},
		{"a unit", 429, "", []string{"Retry-After: 5s"}, want{none, 0, 0, bad}},
		{"empty", 429, "", []string{"Retry-After:"}, want{none, 0, 0, bad}},
		{"a sign", 429, "", []string{"Retry-After: +5"}, want{none, 0, 0, bad}},
		{"an exponent", 429, "", []string{"Retry-After: 1e3"}, want{none, 0, 0, bad}},
		{"hexadecimal", 429, "", []string{"Retry-After: 0x10"}, want{none, 0, 0, bad}},
		{"no whole part", 429, "", []string{"Retry-After: .5"}, want{none, 0, 0, bad}},
		{"quoted", 429, "", []string{`Retry-After: "5"`}, want{none, 0, 0, bad}},
		{"leading zeros and tabs", 429, "", []string{"Retry-After: \t005 "}, want{5 * sec, RetryAfter, Seconds, 0}},
		{"date", 429, "", []string{"Retry-After: " + date}, want{5 * sec, RetryAfter, HTTPDate, 0}},
		{"RFC 850 date", 429, "", []string{"Retry-After: Saturday, 14-Mar-26 10:00:05 GMT"}, want{5 * sec, RetryAfter, HTTPDate, 0}},
		{"asctime date", 429, "", []string{"Retry-After: Sat Mar 14 10:00:05 2026"}, want{5 * sec, RetryAfter, HTTPDate, 0}},
		{"past date", 429, "", []string{"Retry-After: Sat, 14 Mar 2026 09:00:00 GMT"}, want{0, RetryAfter, HTTPDate, Past}},
		{"UTC for GMT", 429, "", []string{"Retry-After: Sat, 14 Mar 2026 10:00:30 UTC"}, want{30 * sec, RetryAfter, HTTPDate, NotHTTPDate}},
		{"an offset", 429, "", []string{"Retry-After: Sat, 14 Mar 2026 11:00:05 +0100"}, want{5 * sec, RetryAfter, HTTPDate, NotHTTPDate}},
		{"JavaScript's date", 429, "", []string{"Retry-After: Sat Mar 14 2026 10:00:10 GMT+0000 (Coordinated Universal Time)"}, want{10 * sec, RetryAfter, HTTPDate, NotHTTPDate}},
		{"ISO date", 429, "", []string{"Retry-After: 2026-03-14T10:00:05Z"}, want{5 * sec, RetryAfter, ISOTime, NotHTTPDate}},
		{"another zone's name", 429, "", []string{"Retry-After: Sat, 14 Mar 2026 10:00:05 EST"}, want{none, 0, 0, bad}},
		{"a day that is none", 429, "", []string{"Retry-After: Sat, 31 Feb 2026 10:00:05 GMT"}, want{none, 0, 0, bad}},
		{"503", 503, "", []string{"Retry-After: 2"}, want{2 * sec, RetryAfter, Seconds, OverloadNotLimit}},
		{"above the cap", 429, "", []string{"Retry-After: 2147484"}, want{2147484 * sec, RetryAfter, Seconds, TooLong}},
		{"a day", 429, "", []string{"Retry-After: 86400"}, want{86400 * sec, RetryAfter, Seconds, TooLong}},
		{"no overflow", 429, "", []string{"Retry-After: 99999999999999999999"}, want{MaxWait, RetryAfter, Seconds, TooLong}},
		{"10^30", 429, "", []string{"Retry-After: 1000000000000000000000000000000"}, want{MaxWait, RetryAfter, Seconds, TooLong}},
		{"a unix time", 429, "", []string{"Retry-After: 1773482460"}, want{MaxWait, RetryAfter, Seconds, TooLong | LikelyUnix}},
		{"a wait beyond the window, no more", 429, "", []string{"Retry-After: 3", `RateLimit-Policy: "p";q=20;w=2`}, want{3 * sec, RetryAfter, Seconds, 0}},
		{"milliseconds, it seems", 429, "", []string{"Retry-After: 60000", `RateLimit-Policy: "p";q=10;w=60`}, want{60000 * sec, RetryAfter, Seconds, LikelyMillis}},
		{"longer in the body", 429, `{"retry_after": 40.5}`, []string{"Retry-After: 1"}, want{40500 * ms, Body, Seconds, Disagree}},
		{"rounded up from the body", 429, `{"retry_after": 2.731}`, []string{"Retry-After: 3"}, want{3 * sec, RetryAfter, Seconds, 0}},
		{"rounded down from the body", 429, `{"retry_after": 2.731}`, []string{"Retry-After: 2"}, want{2731 * ms, Body, Seconds, Disagree}},
		{"not on a 200", 200, "", []string{"Retry-After: 0"}, want{none, 0, 0, 0}},
		{"a poll interval", 202, "", []string{"Retry-After: 5"}, want{none, 0, 0, 0}},
		{"before a redirect", 302, "", []string{"Retry-After: 5"}, want{5 * sec, RetryAfter, Seconds, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answer(t, c.status, c.body, c.lines...)
			check(t, a, c.want)
			if c.want.notes&BadRetryAfter != 0 && (a.Retry.Source != RetryAfter || a.Retry.Has) {
				t.Errorf("the unreadable hint is not shown: %+v", a.Retry)
			}
		})
	}
}

func check(t *testing.T, a *Answer, w want) {
	t.Helper()
	if w.wait == none {
		if a.Wait.Has {
			t.Errorf("wait %v from %v, want none", a.Wait.Wait, a.Wait.Source)
		}
	} else if !a.Wait.Has || a.Wait.Wait != w.wait || a.Wait.Source != w.source || a.Wait.Unit != w.unit {
		t.Errorf("wait %v %v from %q in %v, want %v from %q in %v", a.Wait.Has, a.Wait.Wait, a.Wait.Source, a.Wait.Unit, w.wait, w.source, w.unit)
	}
	if a.Notes != w.notes {
		t.Errorf("notes %q, want %q", a.Notes.Strings(), w.notes.Strings())
	}
}

// TestServersClock: a date is compared with Date, not with the local clock.
func TestServersClock(t *testing.T) {
	fields := []string{dateLine, "Retry-After: Sat, 14 Mar 2026 10:00:05 GMT"}
	for _, skew := range []int64{-60, 0, 86400 * 400} {
		var a Answer
		Read(&a, Response{Status: 429, Fields: fieldsOf(fields...), Now: (noon + skew) * 1e9})
		if a.Wait.Wait != 5*sec {
			t.Errorf("a clock off by %d s: wait %v, want 5s", skew, a.Wait.Wait)
		}
	}
	var a Answer
	Read(&a, Response{Status: 429, Fields: fieldsOf(fields[1]), Now: noon*1e9 + 250e6})
	if a.Wait.Wait != 4750*ms {
		t.Errorf("without Date: wait %v, want 4.75s by the local clock", a.Wait.Wait)
	}
	Read(&a, Response{Status: 429, Fields: fieldsOf("Date: yesterday", fields[1]), Now: noon * 1e9})
	if a.Wait.Wait != 5*sec {
		t.Errorf("with an unreadable Date: wait %v, want 5s", a.Wait.Wait)
	}
	Read(&a, Response{Status: 503, Fields: fieldsOf(dateLine, "Age: 3", fields[1]), Now: noon * 1e9})
	if a.Wait.Wait != 2*sec {
		t.Errorf("from a cache for 3 s: wait %v, want 2s", a.Wait.Wait)
	}
}

func TestYearsOfTwoDigits(t *testing.T) {
	for _, c := range []struct {
		date     string
		now, out int
	}{
		{"Saturday, 14-Mar-26 10:00:05 GMT", 2026, 2026},
		{"Sunday, 06-Nov-94 08:49:37 GMT", 2026, 1994},
		{"Sunday, 06-Nov-75 08:49:37 GMT", 2026, 2075},
		{"Sunday, 06-Nov-77 08:49:37 GMT", 2026, 1977},
		{"Sunday, 06-Nov-01 08:49:37 GMT", 2099, 2101},
	} {
		now := instantOf(time.Date(c.now, 3, 14, 10, 0, 0, 0, time.UTC).UnixNano())
		got, _, http, ok := readDate([]byte(c.date), now)
		if year := time.Unix(got.sec, 0).UTC().Year(); !ok || !http || year != c.out {
			t.Errorf("%s in %d: year %d (%v, %v), want %d", c.date, c.now, year, http, ok, c.out)
		}
	}
}

// TestDatesAgainstTime compares the calendar with the standard library's.
func TestDatesAgainstTime(t *testing.T) {
	for d := time.Date(1, 1, 1, 23, 59, 58, 0, time.UTC); d.Year() < 9990; d = d.Add(1009*24*time.Hour + 13*time.Second) {
		for _, layout := range []string{"Mon, 02 Jan 2006 15:04:05 GMT", time.ANSIC} {
			s := d.Format(layout)
			got, _, http, ok := readDate([]byte(s), instant{})
			if !ok || !http || got.sec != d.Unix() {
				t.Fatalf("%q: %d (%v, %v), want %d", s, got.sec, http, ok, d.Unix())
			}
		}
	}
	for _, s := range []string{"2026-03-14T10:15Z", "2026-03-14 10:15:00", "2026-03-14T11:15:00.0000000+01:00", "2026-03-14T04:45:00-0530"} {
		got, unit, _, ok := readDate([]byte(s), instant{})
		if !ok || unit != ISOTime || got != (instant{sec: noon + 900}) {
			t.Errorf("%q: %v %v", s, got, ok)
		}
	}
}

// TestResets is the encodings of a reset, each alone on a 429.
func TestResets(t *testing.T) {
	for _, c := range []struct {
		line string
		want want
	}{
		{"X-RateLimit-Reset: 1773482460", want{60 * sec, XRateLimitReset, UnixSeconds, 0}},
		{"X-RateLimit-Reset: 1773482460000", want{60 * sec, XRateLimitReset, UnixMillis, 0}},
		{"X-RateLimit-Reset: 42", want{42 * sec, XRateLimitReset, Seconds, 0}},
		{"x-rate-limit-reset: 42", want{42 * sec, XRateLimitReset, Seconds, 0}},
		{"X-RateLimit-Reset: 2026-03-14T10:00:10Z", want{10 * sec, XRateLimitReset, ISOTime, 0}},
		{"X-RateLimit-Reset: 2026-03-14T10:02Z", want{120 * sec, XRateLimitReset, ISOTime, 0}},
		{"X-Rate-Limit-Reset: 2026-03-14T10:00:10.5000000Z", want{10500 * ms, XRateLimitReset, ISOTime, 0}},
		{"X-RateLimit-Reset: Sat, 14 Mar 2026 10:00:10 UTC", want{10 * sec, XRateLimitReset, HTTPDate, 0}},
		{"X-RateLimit-Reset: 1773482402.731", want{2731 * ms, XRateLimitReset, UnixSeconds, 0}},
		{"X-RateLimit-Reset: 58.31", want{58310 * ms, XRateLimitReset, Seconds, 0}},
		{"X-RateLimit-Reset: 1773482000", want{0, XRateLimitReset, UnixSeconds, Past}},
		{"X-RateLimit-Reset: 500000000", want{none, 0, 0, Malformed}},
		{"X-RateLimit-Reset: 1773482460000000", want{none, 0, 0, Malformed}},
		{"X-RateLimit-Reset: -1", want{none, 0, 0, Unlimited}},
		{"X-RateLimit-Reset: -7", want{none, 0, 0, Malformed}},
		{"X-RateLimit-Reset-After: 2.731", want{2731 * ms, XRateLimitResetAfter, Seconds, 0}},
		{"x-ratelimit-reset-ms: 1500", want{1500 * ms, XRateLimitReset, Millis, 0}},
		{"x-ratelimit-minutely-reset: 1773482460000", want{60 * sec, XRateLimitReset, UnixMillis, 0}},
		{"RateLimit-Reset: 42", want{42 * sec, RateLimitReset, Seconds, 0}},
		{"RateLimit-Reset: 1773482460", want{60 * sec, RateLimitReset, UnixSeconds, EpochReset}},
		{"Fastly-RateLimit-Reset: 1773486000", want{3600 * sec, VendorReset, UnixSeconds, 0}},
		{"X-RateLimit-Next: 2026-03-14T10:00:22.5Z", want{22500 * ms, VendorReset, ISOTime, 0}},
		{"x-ratelimit-reset-tokens: 6m0s", want{6 * time.Minute, XRateLimitReset, DurationText, 0}},
		{"x-ratelimit-reset-requests: 120ms", want{120 * ms, XRateLimitReset, DurationText, 0}},
		{"x-ratelimit-reset-requests: 1h2m3.5s", want{3723500 * ms, XRateLimitReset, DurationText, 0}},
		{"X-RateLimit-Retry-After: 1773482460", want{60 * sec, XRateLimitRetryAfter, UnixSeconds, 0}},
		{"X-RateLimit-Retry-After: 9", want{9 * sec, XRateLimitRetryAfter, Seconds, 0}},
		{"retry-after-ms: 2411", want{2411 * ms, RetryAfterMS, Millis, 0}},
		{"retry-after-ms: 2411.5", want{2411500 * time.Microsecond, RetryAfterMS, Millis, 0}},
		{"retry-after-ms: -5", want{none, 0, 0, Malformed}},
		{"x-ms-retry-after-ms: 9", want{9 * ms, XMSRetryAfterMS, Millis, 0}},
		{"x-amz-retry-after: 1500", want{1500 * ms, AmzRetryAfter, Millis, 0}},
		{"X-Retry-In: 1m30.25s", want{90250 * ms, XRetryIn, DurationText, 0}},
		{"Retry-After-short: 7", want{7 * sec, NamedRetryAfter, Seconds, 0}},
		{"RequestLimit-PerSecond-RetryAfter: 250", want{250 * ms, NamedRetryAfter, Millis, 0}},
		{"grpc-retry-pushback-ms: 250", want{250 * ms, GRPCPushback, Millis, 0}},
		{"anthropic-ratelimit-requests-reset: 2026-03-14T10:00:04Z", want{4 * sec, VendorReset, ISOTime, 0}},
		{"anthropic-ratelimit-unified-5h-reset: 1773482410", want{10 * sec, VendorReset, UnixSeconds, 0}},
	} {
		t.Run(c.line, func(t *testing.T) { check(t, answer(t, 429, "", c.line), c.want) })
	}
}

// TestWhereCountsCameFrom: each count names its field, and a long header block
// is read to its end.
func TestWhereCountsCameFrom(t *testing.T) {
	var dull []string
	for range 100 {
		dull = append(dull, "X-Dull: 1")
	}
	for _, c := range []struct {
		lines       []string
		limit, left Source
	}{
		{[]string{`RateLimit-Policy: "p";q=10`, `RateLimit: "p";r=0;t=5`}, PolicyField, RateLimitT},
		{[]string{"RateLimit: limit=10, remaining=0, reset=5"}, RateLimitT, RateLimitT},
		{[]string{"X-RateLimit-Limit: 10", "X-RateLimit-Remaining: 0"}, LimitField, RemainingField},
		{[]string{"RateLimit-Policy: 10;w=60", "RateLimit-Remaining: 0", "RateLimit-Reset: 5"}, PolicyField, RemainingField},
		{[]string{"RateLimit-Remaining: 0", "RateLimit-Reset: 5", "RateLimit-Policy: 10;w=60"}, PolicyField, RemainingField},
		{[]string{"RateLimit-Limit: 10", "RateLimit-Remaining: 0", "RateLimit-Reset: 5", "RateLimit-Policy: 10;w=60"}, LimitField, RemainingField},
	} {
		for _, lines := range [][]string{c.lines, append(dull, c.lines...)} {
			a := answer(t, 429, "", lines...)
			if a.Limit != 10 || a.LimitFrom != c.limit || !a.HasRemaining || a.RemainingFrom != c.left {
				t.Errorf("%q: limit %d from %v, remaining %d from %v", c.lines, a.Limit, a.LimitFrom, a.Remaining, a.RemainingFrom)
			}
		}
	}
	a := answer(t, 429, "", `RateLimit: "p";r=0;t=1773482460`)
	check(t, a, want{60 * sec, RateLimitT, UnixSeconds, EpochReset})
}

// TestNumbers is what answers say about the count that is left.
func TestNumbers(t *testing.T) {
	type policy struct {
		name             string
		quota, remaining int64 // -1 unknown
		window, reset    time.Duration
	}
	for _, c := range []struct {
		name             string
		status           int
		lines            []string
		limit, remaining int64 // -1 unknown
		reset            time.Duration
		family           Family
		policies         []policy
		want             want
	}{
		{
			"docker", 200, []string{"ratelimit-limit: 100;w=21600", "ratelimit-remaining: 98;w=21600"},
			100, 98, none, FamilyA, []policy{{"", 100, 98, 21600 * sec, none}}, want{wait: none},
		}, {
			"docker without its number", 200, []string{"ratelimit-limit: ;w=21600"},
			-1, -1, none, FamilyA, []policy{{"", -1, -1, 21600 * sec, none}}, want{none, 0, 0, NoLimitNumber},
		}, {
			"unknown or unlimited", 200, []string{"x-ratelimit-limit-tokens: -1", "x-ratelimit-remaining-tokens: -1", "x-ratelimit-reset-tokens: 0"},
			-1, -1, none, FamilyX, []policy{{"tokens", -1, -1, none, none}}, want{none, 0, 0, Unlimited},
		}, {
			"unlimited on a refusal", 429, []string{"x-ratelimit-limit: -1", "x-ratelimit-remaining: -1", "x-ratelimit-reset: 0"},
			-1, -1, none, FamilyX, nil, want{none, 0, 0, Unlimited},
		}, {
			"no quota set", 403, []string{"X-RateLimit-Limit: 0", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 0"},
			-1, -1, none, FamilyX, nil, want{none, 0, 0, Unlimited},
		}, {
			"store down", 200, []string{"X-RateLimit-Remaining: -1", "X-RateLimit-Requested-Tokens: 1", "X-RateLimit-Burst-Capacity: 20", "X-RateLimit-Replenish-Rate: 10"},
			20, -1, none, FamilyX, []policy{{"fill-rate", 10, -1, sec, none}}, want{none, 0, 0, Unlimited},
		}, {
			"spring", 429, []string{"X-RateLimit-Remaining: 0", "X-RateLimit-Requested-Tokens: 1", "X-RateLimit-Burst-Capacity: 20", "X-RateLimit-Replenish-Rate: 10"},
			20, 0, none, FamilyX, []policy{{"fill-rate", 10, -1, sec, none}}, want{wait: none},
		}, {
			"draft 11", 429, []string{`RateLimit: "p";r=0;t=5`, `RateLimit-Policy: "p";q=10;w=60`},
			10, 0, 5 * sec, FamilyC, []policy{{"p", 10, 0, 60 * sec, 5 * sec}}, want{5 * sec, RateLimitT, Seconds, 0},
		}, {
			"draft 11, spaces and lines of two limiters", 429, []string{
				`RateLimit-Policy: "a"; q=5; w=60; pk=:ZmVjNTI1NjVhYTBj:`, `RateLimit: "a"; r=0; t=42;pk=:ZmVjNTI1NjVhYTBj:`,
				`RateLimit-Policy: "b"; q=50; w=3600`, `RateLimit: "b"; r=7; t=420`,
			},
			5, 0, 42 * sec, FamilyC, []policy{{"a", 5, 0, 60 * sec, 42 * sec}, {"b", 50, 7, 3600 * sec, 420 * sec}}, want{42 * sec, RateLimitT, Seconds, 0},
		}, {
			"two partitions of one policy", 429, []string{
				`RateLimit-Policy: "u";q=9;w=60;pk=:YQ==:, "u";q=8;w=60;pk=:Yg:`, `RateLimit: "u";r=3;t=9;pk=:Yg:, "u";r=0;t=4;pk=:YQ==:`,
			},
			9, 0, 4 * sec, FamilyC, []policy{{"u", 9, 0, 60 * sec, 4 * sec}, {"u", 8, 3, 60 * sec, 9 * sec}}, want{4 * sec, RateLimitT, Seconds, 0},
		}, {
			"two exhausted: the longest t", 429, []string{`RateLimit: "burst";r=0;t=4, "hourly";r=0;t=37, "free";r=1;t=99`},
			-1, 0, 37 * sec, FamilyC, []policy{{"burst", -1, 0, none, 4 * sec}, {"hourly", -1, 0, none, 37 * sec}, {"free", -1, 1, none, 99 * sec}},
			want{37 * sec, RateLimitT, Seconds, 0},
		}, {
			"none exhausted: no wait", 429, []string{`RateLimit: "p";r=50;t=5`},
			-1, 50, 5 * sec, FamilyC, []policy{{"p", -1, 50, none, 5 * sec}}, want{wait: none},
		}, {
			"t before retry-after", 429, []string{"Retry-After: 20", `RateLimit: "p";r=0;t=40`},
			-1, 0, 40 * sec, FamilyC, []policy{{"p", -1, 0, none, 40 * sec}}, want{20 * sec, RetryAfter, Seconds, Disagree},
		}, {
			"draft 07", 429, []string{"RateLimit: limit=10, remaining=0, reset=5", "RateLimit-Policy: 10;w=60"},
			10, 0, 5 * sec, FamilyB, []policy{{"", 10, 0, 60 * sec, 5 * sec}}, want{5 * sec, RateLimitReset, Seconds, 0},
		}, {
			"draft 07 alone", 429, []string{"RateLimit: limit=10, remaining=0, reset=5"},
			10, 0, 5 * sec, FamilyB, nil, want{5 * sec, RateLimitReset, Seconds, 0},
		}, {
			"draft 06", 200, []string{"RateLimit-Limit: 60", "RateLimit-Remaining: 12", "RateLimit-Reset: 25", "RateLimit-Policy: 60;w=60, 2000;w=86400"},
			60, 12, 25 * sec, FamilyA, []policy{{"", 60, 12, 60 * sec, 25 * sec}, {"", 2000, -1, 86400 * sec, none}}, want{wait: none},
		}, {
			"draft 06, policy first, old names beside it", 429, []string{"RateLimit-Policy: 5;w=60", "RateLimit-Limit: 5", "RateLimit-Remaining: 0", "RateLimit-Reset: 42", "X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1773482442", "Retry-After: 42"},
			5, 0, 42 * sec, FamilyA, []policy{{"", 5, 0, 60 * sec, 42 * sec}}, want{42 * sec, RetryAfter, Seconds, 0},
		}, {
			"draft 03", 429, []string{"RateLimit-Limit: 60, 60;w=60, 2000;w=86400", "RateLimit-Remaining: 0", "RateLimit-Reset: 25"},
			60, 0, 25 * sec, FamilyA, []policy{{"", 60, 0, 60 * sec, 25 * sec}, {"", 2000, -1, 86400 * sec, none}}, want{25 * sec, RateLimitReset, Seconds, 0},
		}, {
			"envoy", 429, []string{"x-envoy-ratelimited: true", `x-ratelimit-limit: 10, 10;w=1;name="per-ip", 1000;w=3600`, "x-ratelimit-remaining: 0", "x-ratelimit-reset: 1"},
			10, 0, 1 * sec, FamilyX, []policy{{"per-ip", 10, 0, 1 * sec, 1 * sec}, {"", 1000, -1, 3600 * sec, none}}, want{1 * sec, XRateLimitReset, Seconds, 0},
		}, {
			"two limiters, one header", 429, []string{"x-ratelimit-limit: 20", "x-ratelimit-remaining: 99"},
			20, 99, none, FamilyX, nil, want{none, 0, 0, Inconsistent},
		}, {
			"layered proxies: both shown", 429, []string{"x-ratelimit-limit: 20", "x-ratelimit-remaining: 3", "x-ratelimit-limit: 50", "x-ratelimit-remaining: 0"},
			50, 0, none, FamilyX, []policy{{"", 20, 3, none, none}, {"", 50, 0, none, none}}, want{none, 0, 0, Duplicate},
		}, {
			"a period for a limit", 429, []string{"X-Rate-Limit-Limit: 1m", "X-Rate-Limit-Remaining: 0", "X-Rate-Limit-Reset: 2026-03-14T10:00:30.0000000Z"},
			-1, 0, 30 * sec, FamilyX, []policy{{"", -1, 0, 60 * sec, 30 * sec}}, want{30 * sec, XRateLimitReset, ISOTime, NoLimitNumber},
		}, {
			"reddit", 429, []string{"X-Ratelimit-Used: 600", "X-Ratelimit-Remaining: 0.0", "X-Ratelimit-Reset: 118"},
			600, 0, 118 * sec, FamilyX, nil, want{118 * sec, XRateLimitReset, Seconds, 0},
		}, {
			"reddit with something left", 200, []string{"X-Ratelimit-Used: 3", "X-Ratelimit-Remaining: 597.0", "X-Ratelimit-Reset: 118"},
			600, 597, 118 * sec, FamilyX, nil, want{wait: none},
		}, {
			"github, secondary", 403, []string{"retry-after: 60", "x-ratelimit-limit: 5000", "x-ratelimit-remaining: 4312", "x-ratelimit-used: 688", "x-ratelimit-reset: 1773483300", "x-ratelimit-resource: core"},
			5000, 4312, 900 * sec, FamilyX, nil, want{60 * sec, RetryAfter, Seconds, 0},
		}, {
			"github, primary", 403, []string{"x-ratelimit-limit: 5000", "x-ratelimit-remaining: 0", "x-ratelimit-used: 5000", "x-ratelimit-reset: 1773483300"},
			5000, 0, 900 * sec, FamilyX, nil, want{900 * sec, XRateLimitReset, UnixSeconds, 0},
		}, {
			"discord", 429, []string{"Retry-After: 3", "X-RateLimit-Limit: 5", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1773482402.731", "X-RateLimit-Reset-After: 2.731", "X-RateLimit-Bucket: 9f1c0e7ab2d4", "X-RateLimit-Scope: user", "X-RateLimit-Global: true"},
			5, 0, 2731 * ms, FamilyX, nil, want{3 * sec, RetryAfter, Seconds, 0},
		}, {
			"openai", 429, []string{"retry-after: 3", "retry-after-ms: 2411", "x-ratelimit-limit-requests: 500", "x-ratelimit-limit-tokens: 30000", "x-ratelimit-remaining-requests: 499", "x-ratelimit-remaining-tokens: 120", "x-ratelimit-reset-requests: 120ms", "x-ratelimit-reset-tokens: 6m0s"},
			30000, 120, 360 * sec, FamilyX, []policy{{"requests", 500, 499, none, 120 * ms}, {"tokens", 30000, 120, none, 360 * sec}}, want{2411 * ms, RetryAfterMS, Millis, 0},
		}, {
			"anthropic", 429, []string{"retry-after: 18", "anthropic-ratelimit-requests-limit: 50", "anthropic-ratelimit-requests-remaining: 47", "anthropic-ratelimit-requests-reset: 2026-03-14T10:00:04Z", "anthropic-ratelimit-input-tokens-limit: 30000", "anthropic-ratelimit-input-tokens-remaining: 0", "anthropic-ratelimit-input-tokens-reset: 2026-03-14T10:00:18Z"},
			30000, 0, 18 * sec, FamilyOther, []policy{{"requests", 50, 47, none, 4 * sec}, {"input-tokens", 30000, 0, none, 18 * sec}}, want{18 * sec, RetryAfter, Seconds, 0},
		}, {
			"kong", 429, []string{"X-RateLimit-Limit-Minute: 20", "X-RateLimit-Remaining-Minute: 0", "X-RateLimit-Limit-Hour: 500", "X-RateLimit-Remaining-Hour: 455", "RateLimit-Limit: 20", "RateLimit-Remaining: 0", "RateLimit-Reset: 37", "Retry-After: 37"},
			20, 0, 37 * sec, FamilyA, []policy{{"Minute", 20, 0, time.Minute, 37 * sec}, {"Hour", 500, 455, time.Hour, none}}, want{37 * sec, RetryAfter, Seconds, 0},
		}, {
			"kong, response limits", 429, []string{"X-RateLimit-Limit-videos-minute: 5", "X-RateLimit-Remaining-videos-minute: 0"},
			5, 0, none, FamilyX, []policy{{"videos-minute", 5, 0, time.Minute, none}}, want{wait: none},
		}, {
			"hubspot", 429, []string{"X-HubSpot-RateLimit-Daily: 250000", "X-HubSpot-RateLimit-Daily-Remaining: 181220", "X-HubSpot-RateLimit-Interval-Milliseconds: 10000", "X-HubSpot-RateLimit-Max: 100", "X-HubSpot-RateLimit-Remaining: 0"},
			100, 0, none, FamilyOther, []policy{{"Daily", 250000, 181220, 24 * time.Hour, none}, {"HubSpot", 100, 0, 10 * sec, none}}, want{wait: none},
		}, {
			"zendesk", 429, []string{"Retry-After: 41", "X-Rate-Limit: 400", "X-Rate-Limit-Remaining: 212", "ratelimit-limit: 400", "ratelimit-remaining: 212", "ratelimit-reset: 41", "zendesk-ratelimit-tickets-index: total=100; remaining=0; resets=41"},
			100, 0, 41 * sec, FamilyA, []policy{{"tickets-index", 100, 0, none, 41 * sec}}, want{41 * sec, RetryAfter, Seconds, 0},
		}, {
			"gitlab", 429, []string{"RateLimit-Limit: 60", "RateLimit-Name: throttle_authenticated_api", "RateLimit-Observed: 61", "RateLimit-Remaining: 0", "RateLimit-Reset: 1773482460", "RateLimit-ResetTime: Sat, 14 Mar 2026 10:01:00 GMT", "Retry-After: 60"},
			60, 0, 60 * sec, FamilyA, nil, want{60 * sec, RetryAfter, Seconds, EpochReset},
		}, {
			"shopify", 429, []string{"X-Shopify-Shop-Api-Call-Limit: 40/40", "Retry-After: 2.0"},
			40, 0, none, FamilyOther, []policy{{"shopify", 40, 0, none, none}}, want{2 * sec, RetryAfter, Seconds, NotWhole},
		}, {
			"akamai purge", 200, []string{"X-Ratelimit-Limit-Per-Second: 50.00", "X-Ratelimit-Remaining: 49.50", "X-Ratelimit-Limit-Per-Second-Objects: 100.00", "X-Ratelimit-Remaining-Objects: 100.00"},
			50, 49, none, FamilyX, []policy{{"", 50, 49, sec, none}, {"Objects", 100, 100, sec, none}}, want{wait: none},
		}, {
			"azure", 429, []string{"Retry-After: 12", "x-ms-ratelimit-remaining-resource: Microsoft.Compute/GetVMScaleSet3Min;0,Microsoft.Compute/GetVMScaleSet30Min;914", "x-ms-ratelimit-remaining-subscription-reads: 11999"},
			-1, 0, none, FamilyOther, []policy{{"GetVMScaleSet3Min", -1, 0, none, none}, {"GetVMScaleSet30Min", -1, 914, none, none}, {"subscription-reads", -1, 11999, none, none}}, want{12 * sec, RetryAfter, Seconds, 0},
		}, {
			"atlassian cloud", 429, []string{"Retry-After: 84", "X-RateLimit-Limit: 350", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 2026-03-14T10:02Z", "X-RateLimit-NearLimit: true", "RateLimit-Reason: jira-burst-based"},
			350, 0, 120 * sec, FamilyX, nil, want{84 * sec, RetryAfter, Seconds, 0},
		}, {
			"atlassian data center", 200, []string{"X-RateLimit-Limit: 50", "X-RateLimit-Remaining: 49", "X-RateLimit-Interval-Seconds: 60", "X-RateLimit-FillRate: 10", "retry-after: 0"},
			50, 49, none, FamilyX, []policy{{"fill-rate", 10, -1, 60 * sec, none}}, want{wait: none},
		}, {
			"basecamp", 429, []string{`X-RateLimit: {"name":"Sample","period":10,"limit":50,"remaining":0,"until":"2026-03-14T10:00:07Z"}`},
			50, 0, 7 * sec, FamilyX, []policy{{"", 50, 0, 10 * sec, 7 * sec}}, want{7 * sec, XRateLimitReset, ISOTime, 0},
		}, {
			"traefik", 429, []string{"Retry-After: 2", "X-Retry-In: 1.5s"},
			-1, -1, none, NoFamily, nil, want{2 * sec, RetryAfter, Seconds, 0},
		}, {
			"apisix, two rules", 503, []string{"X-A-RateLimit-Limit: 2", "X-A-RateLimit-Remaining: 0", "X-A-RateLimit-Reset: 58.31", "X-B-RateLimit-Limit: 90", "X-B-RateLimit-Remaining: 9", "X-B-RateLimit-Reset: 100"},
			2, 0, 58310 * ms, FamilyOther, []policy{{"A", 2, 0, none, 58310 * ms}, {"B", 90, 9, none, 100 * sec}}, want{58310 * ms, VendorReset, Seconds, 0},
		}, {
			"nestjs", 200, []string{"X-RateLimit-Limit-short: 3", "X-RateLimit-Remaining-short: 2", "X-RateLimit-Reset-short: 1"},
			3, 2, sec, FamilyX, []policy{{"short", 3, 2, none, sec}}, want{wait: none},
		}, {
			"laravel: two units", 429, []string{"X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "Retry-After: 30", "X-RateLimit-Reset: 1773482430"},
			60, 0, 30 * sec, FamilyX, nil, want{30 * sec, RetryAfter, Seconds, 0},
		}, {
			"from a cache", 429, []string{"Age: 12", "X-RateLimit-Limit: 60", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 30"},
			-1, -1, none, NoFamily, nil, want{none, 0, 0, Cached},
		}, {
			"a broken field is ignored, the others stand", 429, []string{`RateLimit: "p";r=0;t=5,`, `RateLimit-Policy: "p";q=10;w=60`, "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 8"},
			-1, 0, 8 * sec, FamilyC, []policy{{"p", 10, -1, 60 * sec, none}}, want{8 * sec, XRateLimitReset, Seconds, Malformed},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := answer(t, c.status, "", c.lines...)
			check(t, a, c.want)
			num := func(has bool, n int64) int64 {
				if has {
					return n
				}
				return -1
			}
			dur := func(has bool, d time.Duration) time.Duration {
				if has {
					return d
				}
				return none
			}
			if n := num(a.HasLimit, a.Limit); n != c.limit {
				t.Errorf("limit %d, want %d", n, c.limit)
			}
			if n := num(a.HasRemaining, a.Remaining); n != c.remaining {
				t.Errorf("remaining %d, want %d", n, c.remaining)
			}
			if d := dur(a.Reset.Has, a.Reset.Wait); d != c.reset {
				t.Errorf("reset %v, want %v", d, c.reset)
			}
			if a.Family != c.family {
				t.Errorf("family %v, want %v", a.Family, c.family)
			}
			var got []policy
			for i := range a.Policies[:a.NPolicies] {
				p := &a.Policies[i]
				got = append(got, policy{p.Title(), num(p.HasQuota, p.Quota), num(p.HasRemaining, p.Remaining), dur(p.HasWindow, p.Window), dur(p.HasReset, p.Reset)})
			}
			if !slices.Equal(got, c.policies) {
				t.Errorf("policies %+v, want %+v", got, c.policies)
			}
		})
	}
}

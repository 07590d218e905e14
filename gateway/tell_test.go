package gateway

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/dialect"
)

// underRules is a verdict on a request under rules of these limits, all of
// which had their say.
type underRules struct {
	v    verdict
	hits []rules.Hit
}

func (u *underRules) add(t testing.TB, name, text string, d limit.Decision, change ...func(*rules.Rule)) {
	set := rules.FromLimit(spec(t, text), change...)
	r := set.Rules[0]
	r.Name = name
	d.Limit = capacity(r.Limits[0].Spec)
	u.hits = append(u.hits, rules.Hit{Rule: r, Limit: r.Limits[0], Subject: "k", Cost: 1})
	if r.Shadow {
		return
	}
	u.v.Hits = append(u.v.Hits, hitState{Rule: r, Limit: r.Limits[0], Subject: "k", Cost: 1, Decision: d})
	if len(u.v.Hits) == 1 || !d.OK && (u.v.OK || d.RetryAfter > u.v.RetryAfter) {
		u.v.Decision, u.v.By, u.v.Limit = d, r, r.Limits[0]
	}
}

func said(v *voice, u *underRules, wait time.Duration) string {
	h := http.Header{}
	v.tell(h, &u.v, u.hits, wait, 1e18)
	var lines []string
	for k, all := range h {
		for _, s := range all {
			lines = append(lines, k+": "+s)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "|")
}

func TestTell(t *testing.T) {
	const s = time.Second
	ok := func(left int64, reset time.Duration) limit.Decision {
		return limit.Decision{OK: true, Remaining: left, ResetAfter: reset}
	}
	no := func(wait, reset time.Duration) limit.Decision {
		return limit.Decision{RetryAfter: wait, ResetAfter: reset}
	}
	security := func(r *rules.Rule) { r.Security = true }
	shadow := func(r *rules.Rule) { r.Shadow = true }
	bucket, window := "600/m,burst=20", "fixed-window:limit=1000,window=1h"
	for _, tt := range []struct {
		why  string
		c    Config
		made func(u *underRules)
		wait time.Duration
		want string
	}{
		{"a bucket is its rate and its burst", Config{}, func(u *underRules) { u.add(t, "default", bucket, ok(19, s/10)) }, 0,
			`Ratelimit-Policy: "default";q=600;w=60, "default-burst";q=20|Ratelimit: "default-burst";r=19;t=1`},
		{"one policy when they are the same number", Config{}, func(u *underRules) { u.add(t, "default", "20/s,burst=20", ok(3, s)) }, 0,
			`Ratelimit-Policy: "default";q=20;w=1|Ratelimit: "default";r=3;t=1`},
		{"a rate over parts of a second", Config{}, func(u *underRules) { u.add(t, "default", "5/400ms,burst=9", ok(3, s)) }, 0,
			`Ratelimit-Policy: "default";q=25;w=2, "default-burst";q=9|Ratelimit: "default-burst";r=3;t=1`},
		{"a window", Config{}, func(u *underRules) { u.add(t, "hourly", window, ok(999, time.Hour)) }, 0,
			`Ratelimit-Policy: "hourly";q=1000;w=3600|Ratelimit: "hourly";r=999;t=3600`},
		{"requests in flight", Config{}, func(u *underRules) { u.add(t, "uploads", "concurrency:limit=3", ok(2, limit.Unknown)) }, 0,
			`Ratelimit-Policy: "uploads";q=3;qu="concurrent-requests"|Ratelimit: "uploads";r=2`},
		{"several: the tightest", Config{}, func(u *underRules) {
			u.add(t, "orders", bucket, ok(19, s))
			u.add(t, "hourly", window, ok(40, time.Hour))
		}, 0, `Ratelimit-Policy: "orders";q=600;w=60, "orders-burst";q=20, "hourly";q=1000;w=3600|Ratelimit: "hourly";r=40;t=3600`},
		{"a refusal: the one with the longest wait", Config{}, func(u *underRules) {
			u.add(t, "hourly", window, no(40*s, 40*s))
			u.add(t, "orders", bucket, no(s/10, 2*s))
			u.add(t, "daily", "1000000/d,burst=1000000", ok(0, s))
		}, 41 * s, `Retry-After: 41|Ratelimit-Policy: "hourly";q=1000;w=3600, "orders";q=600;w=60, "orders-burst";q=20, "daily";q=1000000;w=86400|Ratelimit: "hourly";r=0;t=41`},
		{"on trial: not a word", Config{}, func(u *underRules) {
			u.add(t, "orders", bucket, ok(19, s))
			u.add(t, "new", window, no(s, s), shadow)
		}, 0, `Ratelimit-Policy: "orders";q=600;w=60, "orders-burst";q=20|Ratelimit: "orders-burst";r=19;t=1`},
		{"a security rule that lets pass is not shown", Config{}, func(u *underRules) {
			u.add(t, "login", "5/m,burst=5", ok(0, s), security)
			u.add(t, "orders", bucket, ok(19, s))
		}, 0, `Ratelimit-Policy: "orders";q=600;w=60, "orders-burst";q=20|Ratelimit: "orders-burst";r=19;t=1`},
		{"one that refuses silences all", Config{}, func(u *underRules) {
			u.add(t, "login", "5/m,burst=5", no(3*s, s), security)
			u.add(t, "orders", bucket, no(30*s, s))
		}, 30 * s, ``},
		{"unless it may say when", Config{RetryAfter: RetryAfter{Security: true}}, func(u *underRules) {
			u.add(t, "login", "5/m,burst=5", no(3*s+1, s), security)
		}, 3*s + 1, `Retry-After: 4`},
		{"milliseconds too", Config{RetryAfter: RetryAfter{Millis: true}}, func(u *underRules) {
			u.add(t, "default", bucket, no(s/10, 2*s))
		}, s/10 + 1, `Retry-After-Ms: 101|Retry-After: 1|Ratelimit-Policy: "default";q=600;w=60, "default-burst";q=20|Ratelimit: "default-burst";r=0;t=1`},
		{"a wait that nobody knows", Config{}, func(u *underRules) { u.add(t, "uploads", "concurrency:limit=3", no(limit.Unknown, limit.Unknown)) }, limit.Unknown,
			`Ratelimit-Policy: "uploads";q=3;qu="concurrent-requests"|Ratelimit: "uploads";r=0`},
		{"the older drafts: the burst in the time to fill", Config{Dialect: dialect.Draft06}, func(u *underRules) {
			u.add(t, "orders", bucket, ok(19, s))
			u.add(t, "hourly", window, ok(999, time.Hour))
		}, 0, `Ratelimit-Limit: 20|Ratelimit-Policy: 20;w=2, 1000;w=3600|Ratelimit-Remaining: 19|Ratelimit-Reset: 1`},
		{"vendors' fields know one limit", Config{Dialect: dialect.XRateLimitDelta}, func(u *underRules) {
			u.add(t, "orders", bucket, ok(19, s))
			u.add(t, "hourly", window, ok(1, time.Hour))
		}, 0, `X-Ratelimit-Limit: 1000|X-Ratelimit-Remaining: 1|X-Ratelimit-Reset: 3600`},
		{"under no rule there is nothing to say", Config{}, func(u *underRules) { u.v.OK = true }, 0, ``},
	} {
		v := newVoice(tt.c)
		u := &underRules{}
		tt.made(u)
		want := strings.Split(tt.want, "|")
		slices.Sort(want)
		if got := said(&v, u, tt.wait); got != strings.Join(want, "|") {
			t.Errorf("%s:\n got %s\nwant %s", tt.why, got, strings.Join(want, "|"))
		}
	}
}

// What is told of a bucket, a client reads as it always did: the burst is the
// limit, what is left of it remains.
func TestTellIsRead(t *testing.T) {
	for _, style := range dialect.Styles()[:7] {
		c := Config{}
		c.Dialect, _ = dialect.ParseStyle(style)
		v := newVoice(c)
		for _, text := range []string{"10/s,burst=20", "600/m,burst=20", "7/3s,burst=2", "20/s,burst=20"} {
			d := limit.Decision{RetryAfter: 1500 * time.Millisecond, ResetAfter: 1900 * time.Millisecond}
			u := &underRules{}
			u.add(t, "default", text, d)
			h := http.Header{"Date": {time.Unix(1e9, 0).UTC().Format(http.TimeFormat)}}
			v.tell(h, &u.v, u.hits, d.RetryAfter, 1e18)
			var fields []dialect.Field
			for k, all := range h {
				fields = append(fields, dialect.Field{Name: []byte(k), Value: []byte(all[0])})
			}
			var a dialect.Answer
			dialect.Read(&a, dialect.Response{Status: 429, Fields: fields, Now: 1e18})
			if a.Notes != 0 || a.Limit != u.v.Decision.Limit || !a.HasRemaining || a.Remaining != 0 || a.Wait.Wait != 2*time.Second || a.Reset.Wait != 2*time.Second {
				t.Errorf("%s, %s: limit %d, remaining %d, wait %v, reset %v, notes %q", style, text, a.Limit, a.Remaining, a.Wait.Wait, a.Reset.Wait, a.Notes.Strings())
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	v := newVoice(Config{})
	no := limit.Decision{RetryAfter: time.Second}
	u := &underRules{}
	u.add(t, `or"ders`, "1/s,burst=2", no)
	read := func() (p struct {
		Type, Title string
		Status      int
		Violated    []string `json:"violated-policies"`
	}) {
		t.Helper()
		b := v.refusal(&u.v)
		if err := json.Unmarshal(b.bytes, &p); err != nil {
			t.Fatalf("%s: %v", b.bytes, err)
		}
		return p
	}
	if p := read(); p.Type != quotaExceeded || p.Status != 429 || !slices.Equal(p.Violated, []string{`or"ders`}) {
		t.Errorf("%+v", p)
	}
	// A gateway's own share may be used up while the limit is not.
	u.v.Hits[0].Source = FromLocalShare
	if p := read(); p.Type != reducedCapacity || p.Status != 429 || p.Violated != nil {
		t.Errorf("of a share: %+v", p)
	}
	u.v.Hits[0].Source = FromStore
	u.add(t, "fine", "1/s,burst=2", limit.Decision{OK: true})
	u.add(t, "daily", "1/s,burst=2", no)
	if p := read(); !slices.Equal(p.Violated, []string{`or"ders`, "daily"}) {
		t.Errorf("%+v", p)
	}
	u.add(t, "login", "1/s,burst=2", no, func(r *rules.Rule) { r.Security = true })
	if p := read(); p.Type != "about:blank" || p.Violated != nil || strings.Contains(string(v.refusal(&u.v).bytes), "login") {
		t.Errorf("a security rule's refusal says %+v", p)
	}
	if n := testing.AllocsPerRun(100, func() { v.phrases.of(u.hits[0].Rule, u.hits[0].Limit) }); n != 0 {
		t.Errorf("a known phrase costs %v allocations", n)
	}
}

// What is told of a refusal is the worst wait: never, then the longest that is
// known, then one that nobody knows; the same for the numbers, the wait, and the
// rule that decided.
func TestTheWorstWaitBinds(t *testing.T) {
	for _, waits := range [][2]time.Duration{{limit.Never, time.Hour}, {limit.Never, limit.Unknown}, {time.Hour, time.Second}, {time.Second, limit.Unknown}} {
		for worst := range 2 {
			var u underRules
			u.add(t, "a", "10/s,burst=20", limit.Decision{RetryAfter: waits[worst]})
			u.add(t, "b", "10/s,burst=2", limit.Decision{RetryAfter: waits[1-worst], Remaining: 2})
			want := u.hits[worst].Rule.Name
			if got := u.v.tightest(); got.Rule.Name != want {
				t.Errorf("%v: told are the numbers of %s", waits, got.Rule.Name)
			}
			if got := u.v.short(); got.Rule.Name != want {
				t.Errorf("%v: the wait is that of %s", waits, got.Rule.Name)
			}
			if d, by := together(u.v.Hits); by != worst || d.RetryAfter != waits[0] {
				t.Errorf("%v: %s decided, with a wait of %v", waits, u.v.Hits[by].Rule.Name, d.RetryAfter)
			}
		}
	}
}

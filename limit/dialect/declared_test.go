package dialect

import (
	"strings"
	"testing"
	"time"
)

// Several policies in one answer: each style writes what it can say, and the
// reader takes it to the state of the one that binds, without an oddity.
func TestDeclared(t *testing.T) {
	st := State{
		Limit: 20, Remaining: 0, RetryAfter: 1200 * ms, ResetAfter: 2 * sec, Policy: "orders-burst", Now: noon * 1e9,
	}
	all := []Declared{
		{Name: "orders", Quota: 600, Window: time.Minute},
		{Name: "orders-burst", Quota: 20},
		{Name: "daily", Quota: 10_000, Window: 24 * time.Hour},
		{Name: "uploads", Quota: 3, Unit: "concurrent-requests"},
	}
	for style, want := range map[Style]string{
		Draft11: `RateLimit-Policy: "orders";q=600;w=60, "orders-burst";q=20, "daily";q=10000;w=86400, "uploads";q=3;qu="concurrent-requests"|RateLimit: "orders-burst";r=0;t=2`,
		Draft07: `RateLimit-Policy: 600;w=60, 10000;w=86400|RateLimit: limit=20, remaining=0, reset=2`,
		Draft06: `RateLimit-Policy: 600;w=60, 10000;w=86400|RateLimit-Limit: 20|RateLimit-Remaining: 0|RateLimit-Reset: 2`,
		Draft03: `RateLimit-Limit: 20, 600;w=60, 10000;w=86400|RateLimit-Remaining: 0|RateLimit-Reset: 2`,
	} {
		st.Policies = style.Policies(all)
		var lines []string
		for _, p := range style.Append(nil, st) {
			lines = append(lines, p.Name+": "+p.Value)
		}
		if got := strings.Join(lines, "|"); got != "Retry-After: 2|"+want {
			t.Errorf("%v:\n got %s\nwant %s", style, got, want)
		}
		a := answer(t, 429, "", lines...)
		if a.Notes != 0 || !a.Limited || a.Limit != 20 || !a.HasRemaining || a.Remaining != 0 || a.Wait.Wait != 2*sec || a.Reset.Wait != 2*sec {
			t.Errorf("%v is read as %+v, notes %q", style, a, a.Notes.Strings())
		}
	}
	a := answer(t, 200, "", `RateLimit-Policy: "orders";q=600;w=60, "orders-burst";q=20`, `RateLimit: "orders-burst";r=7;t=2`)
	if a.NPolicies != 2 || a.Limit != 20 || a.Remaining != 7 || a.Policies[0].Quota != 600 || a.Policies[0].Window != time.Minute || a.Notes != 0 {
		t.Errorf("a rate and its burst are read as %+v, notes %q", a, a.Notes.Strings())
	}
}

// Two policies of one quota have one name in the older drafts, and a wait that
// nobody knows has no t.
func TestDeclaredOdd(t *testing.T) {
	all := []Declared{{Quota: 10, Window: sec}, {Quota: 10, Window: time.Minute}, {Quota: -1, Window: -1}}
	st := State{OK: true, Limit: 10, Remaining: 3, ResetAfter: -2, Policies: Draft11.Policies(all)}
	if got := Draft07.Policies(all); got != "10;w=1" {
		t.Errorf("integer policies %q", got)
	}
	if got := Silent.Policies(all) + GitHub.Policies(all); got != "" {
		t.Errorf("styles without policies write %q", got)
	}
	pairs := Draft11.Append(nil, st)
	if got := pairs[0].Value; got != `"default";q=10;w=1, "default";q=10;w=60, "default";q=0` {
		t.Errorf("named policies %s", got)
	}
	if got := pairs[1].Value; got != `"default";r=3` {
		t.Errorf("state %s", got)
	}
}

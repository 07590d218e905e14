package dialect

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
)

func TestStyleNames(t *testing.T) {
	for i, n := range Styles() {
		s, err := ParseStyle(n)
		if err != nil || s.String() != n || s != Style(i) {
			t.Errorf("%s: %v %v", n, s, err)
		}
	}
	if s, err := ParseStyle(""); err != nil || s.String() != "draft-11" {
		t.Errorf("the default is %v, %v", s, err)
	}
	if _, err := ParseStyle("draft-99"); err == nil || !strings.Contains(err.Error(), `"draft-99"`) {
		t.Errorf("unknown style: %v", err)
	}
}

func TestStyles(t *testing.T) {
	st := State{Limit: 10, Remaining: 0, RetryAfter: 1200 * ms, ResetAfter: 59 * sec, Window: time.Minute, Policy: `per "key"`, Now: noon * 1e9}
	never := st
	never.RetryAfter = -1
	for _, c := range []struct {
		style string
		st    State
		want  string
	}{
		{"draft-11", st, `Retry-After: 2|RateLimit-Policy: "per \"key\"";q=10;w=60|RateLimit: "per \"key\"";r=0;t=2`},
		{"draft-11", never, `RateLimit-Policy: "per \"key\"";q=10;w=60|RateLimit: "per \"key\"";r=0;t=59`},
		{"draft-11", State{OK: true, Limit: 5, Remaining: 4, Policy: "é"}, `RateLimit-Policy: "??";q=5|RateLimit: "??";r=4;t=0`},
		{"draft-07", st, `Retry-After: 2|RateLimit-Policy: 10;w=60|RateLimit: limit=10, remaining=0, reset=2`},
		{"draft-06", st, `Retry-After: 2|RateLimit-Policy: 10;w=60|RateLimit-Limit: 10|RateLimit-Remaining: 0|RateLimit-Reset: 2`},
		{"draft-03", st, `Retry-After: 2|RateLimit-Limit: 10, 10;w=60|RateLimit-Remaining: 0|RateLimit-Reset: 2`},
		{"x-ratelimit", st, `Retry-After: 2|X-RateLimit-Limit: 10|X-RateLimit-Remaining: 0|X-RateLimit-Reset: 1773482459`},
		{"x-ratelimit-delta", st, `Retry-After: 2|X-RateLimit-Limit: 10|X-RateLimit-Remaining: 0|X-RateLimit-Reset: 59`},
		{"github", st, `Retry-After: 2|X-RateLimit-Limit: 10|X-RateLimit-Remaining: 0|X-RateLimit-Reset: 1773482459|X-RateLimit-Used: 10|X-RateLimit-Resource: per--key-`},
		{"retry-after", st, `Retry-After: 2`},
		{"retry-after", never, ``},
		{"retry-after", State{OK: true, RetryAfter: sec}, ``},
		{"none", st, ``},
	} {
		s, err := ParseStyle(c.style)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range s.Append(nil, c.st) {
			got = append(got, p.Name+": "+p.Value)
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.style, strings.Join(got, "|"), c.want)
		}
	}
}

// TestWriteRead: what a style writes, Read understands, to the same numbers.
func TestWriteRead(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	up := func(d time.Duration) time.Duration { return (d + sec - 1) / sec * sec }
	for i := range 4000 {
		st := State{
			OK:         r.IntN(2) == 0,
			Limit:      1 + r.Int64N(1<<r.IntN(40)),
			RetryAfter: 1 + time.Duration(r.Int64N(int64(23*time.Hour))),
			Policy:     []string{"", "p", `a "b" \c`, "per-key, burst; 10"}[r.IntN(4)],
			Now:        noon*1e9 + r.Int64N(1e9)*int64(r.IntN(2)),
		}
		st.ResetAfter = st.RetryAfter + time.Duration(r.Int64N(int64(1000*sec)))
		st.Remaining = r.Int64N(st.Limit + 1)
		if r.IntN(3) > 0 {
			st.Window = up(st.RetryAfter) + time.Duration(1+r.IntN(1000))*sec
		}
		if st.OK {
			st.RetryAfter = 0
		} else {
			st.Remaining = 0
			if r.IntN(8) == 0 {
				st.RetryAfter = -1
			}
		}
		for _, name := range Styles() {
			s, _ := ParseStyle(name)
			pairs := s.Append(nil, st)
			lines := []string{dateLine}
			for _, p := range pairs {
				lines = append(lines, p.Name+": "+p.Value)
			}
			status := 200
			if !st.OK {
				status = 429
			}
			var a Answer
			Read(&a, Response{Status: status, Fields: fieldsOf(lines...), Now: st.Now})
			fail := func(what string, got, want any) {
				t.Fatalf("%d, %s: %s is %v, want %v\n%+v\n%s\nnotes %q", i, name, what, got, want, st, strings.Join(lines, "\n"), a.Notes.Strings())
			}
			if msg := broken(&a); msg != "" || a.Notes != 0 {
				fail("oddity", msg, "none")
			}
			if want := !st.OK && st.RetryAfter >= 0 && s != Silent; a.Retry.Has != want {
				fail("Retry-After present", a.Retry.Has, want)
			} else if want && (a.Wait.Wait != up(st.RetryAfter) || a.Retry.Wait != a.Wait.Wait) {
				fail("the wait", a.Wait.Wait, up(st.RetryAfter))
			}
			if st.OK && a.Wait.Has || a.Limited == st.OK {
				fail("limited", a.Limited, !st.OK)
			}
			counts := s < RetryAfterOnly
			if a.HasLimit != counts || a.HasRemaining != counts || counts && (a.Limit != st.Limit || a.Remaining != st.Remaining) {
				fail("limit, remaining", fmt.Sprint(a.Limit, a.Remaining), fmt.Sprint(st.Limit, st.Remaining))
			}
			if counts {
				want := up(st.ResetAfter)
				if s <= Draft03 && !st.OK && st.RetryAfter >= 0 {
					want = up(st.RetryAfter)
				}
				// A unix second is read against Date, which cuts the fraction.
				slack := time.Duration(0)
				if s == XRateLimit || s == GitHub {
					slack = sec
				}
				if !a.Reset.Has || a.Reset.Wait < want || a.Reset.Wait > want+slack {
					fail("reset", a.Reset.Wait, want)
				}
			}
			if s <= Draft03 && st.Window > 0 {
				if a.NPolicies != 1 || a.Policies[0].Window != st.Window || a.Policies[0].Quota != st.Limit || a.Policies[0].Remaining != st.Remaining {
					fail("policy", fmt.Sprintf("%+v", a.Policies[:a.NPolicies]), "one")
				}
			}
			if s == Draft11 {
				name := st.Policy
				if name == "" {
					name = "default"
				}
				if got := a.Policies[0].Title(); got != name {
					fail("name", got, name)
				}
			}
			for _, p := range pairs {
				if strings.HasPrefix(p.Name, "RateLimit") && s != Draft07 {
					if _, err := httpsfv.UnmarshalList([]string{p.Value}); err != nil {
						fail(p.Name, p.Value, err)
					}
				}
			}
		}
	}
}

func TestWriteExtremes(t *testing.T) {
	const big = 1<<63 - 1
	for _, name := range Styles() {
		s, _ := ParseStyle(name)
		for _, st := range []State{
			{Limit: big, Remaining: big, RetryAfter: big, ResetAfter: big, Window: big, Now: big},
			{Limit: -big, Remaining: -big, RetryAfter: -big, ResetAfter: -big, Window: -big, Now: -big},
		} {
			for _, p := range s.Append(nil, st) {
				if strings.Contains(p.Value, "-") {
					t.Errorf("%s: %s: %s is negative", name, p.Name, p.Value)
				}
			}
		}
	}
}

func TestText(t *testing.T) {
	a := answer(t, 429, "", "Retry-After: 5\x1b[2J\r\né "+strings.Repeat("x", 100))
	if got := a.Retry.Text(); !strings.HasPrefix(got, `5\x1b[2J\r\n\u00e9 xxx`) || int(a.Retry.RawLen) != RawMax {
		t.Errorf("text %q", got)
	}
	if got := (Malformed | LikelyMillis).Strings(); !slices.Equal(got, []string{noteNames[0], noteNames[7]}) {
		t.Errorf("notes %q", got)
	}
	if Notes(0).Strings() != nil {
		t.Error("no notes is not nil")
	}
	if 1<<len(noteNames) != noteEnd {
		t.Errorf("%d note names for notes below %d", len(noteNames), noteEnd)
	}
	seen := map[string]bool{}
	for s := Source(1); s < sources; s++ {
		if n := s.String(); n == "" || seen[n] {
			t.Errorf("source %d is named %q", s, n)
		} else {
			seen[n] = true
		}
	}
	for u := Unit(1); u < units; u++ {
		if n := u.String(); n == "" || seen[n] {
			t.Errorf("unit %d is named %q", u, n)
		}
	}
	if Source(200).String() != "source-200" || Unit(200).String() != "unit-200" || Style(200).String() != "style-200" || Family(200).String() != "family-200" {
		t.Error("values out of range have no text")
	}
}

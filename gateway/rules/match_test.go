package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// hits is what a request is under, in short.
func hits(s *Set, r Request, now int64) string {
	var out []string
	for _, h := range s.Match(nil, r, now) {
		out = append(out, fmt.Sprintf("%s %s %v x%d", h.Rule.Name, h.Subject, h.Limit.Spec.Burst+h.Limit.Spec.Limit, h.Cost))
	}
	return strings.Join(out, "; ")
}

func day(s string) int64 {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		panic(err)
	}
	return t.UnixNano()
}

func TestMatch(t *testing.T) {
	s := mustParse(t, shop)
	now := day("2030-01-01")
	const all = "; everybody all 400 x1"
	tests := []struct {
		name string
		r    Request
		now  int64
		want string
	}{
		{"the default", Request{Key: "k-1", Address: "192.0.2.1", Method: "GET", Path: "/v1/x"}, now, "requests k-1 20 x1" + all},
		{"the plan", Request{Key: "k-1", Plan: "gold", Address: "10.1.1.1", Method: "GET", Path: "/v1/x"}, now, "requests k-1 200 x1" + all},
		{"an unknown plan", Request{Key: "k-1", Plan: "tin", Address: "10.2.1.1", Method: "GET", Path: "/v1/x"}, now, "requests k-1 100 x1" + all},
		{"the longest range", Request{Key: "k-1", Address: "10.1.1.1", Method: "GET", Path: "/v1/x"}, now, "requests k-1 120 x1" + all},
		{"IPv4 in IPv6", Request{Key: "k-1", Address: "::ffff:10.1.1.1", Method: "GET", Path: "/v1/x"}, now, "requests k-1 120 x1" + all},
		{"a range as caller", Request{Key: "k-1", Address: "2001:db8:1:2::/64", Method: "GET", Path: "/v1/x"}, now, "requests k-1 80 x1" + all},
		{"a range too wide", Request{Key: "k-1", Address: "2001::/16", Method: "GET", Path: "/v1/x"}, now, "requests k-1 20 x1" + all},
		{"a zone", Request{Key: "k-1", Address: "2001:db8::1%eth0", Method: "GET", Path: "/v1/x"}, now, "requests k-1 80 x1" + all},
		{"no address", Request{Key: "k-1", Address: "unix", Method: "GET", Path: "/v1/x"}, now, "requests k-1 20 x1" + all},
		{"its override, over its own limit", Request{Key: "k-7", Plan: "gold", Method: "GET", Path: "/v1/x"}, now, "requests k-7 90 x1" + all},
		{"its own limit, over its plan's", Request{Key: "k-7", Plan: "gold", Method: "GET", Path: "/v1/x"}, day("2030-01-03"), "requests k-7 160 x1" + all},
		{"an override", Request{Key: "k-9", Method: "GET", Path: "/v1/x"}, now, "requests k-9 40 x1" + all},
		{"an override that ends", Request{Key: "k-9", Method: "GET", Path: "/v1/x"}, day("2030-06-01"), "requests k-9 20 x1" + all},
		{"nobody known", Request{Address: "10.1.1.1", Method: "GET", Path: "/v1/x"}, now, "requests 10.1.1.1 120 x1" + all},
		{"a dear route", Request{Key: "k-1", Method: "POST", Path: "/v1/export"}, now, "requests k-1 20 x10" + all},
		{"by another method", Request{Key: "k-1", Method: "GET", Path: "/v1/export"}, now, "requests k-1 20 x1" + all},
		{"a free route", Request{Key: "k-1", Method: "GET", Path: "/v1/health"}, now, "everybody all 400 x1"},
		{"HEAD is GET", Request{Key: "k-1", Method: "HEAD", Path: "/v1/health"}, now, "everybody all 400 x1"},
		{"another path", Request{Key: "k-1", Method: "GET", Path: "/"}, now, "everybody all 400 x1"},
		{"a route's own root", Request{Key: "k-1", Method: "GET", Path: "/v1"}, now, "requests k-1 20 x1" + all},
		{"two rules", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/login"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"an encoded slash in braces", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/users/a/b/password", Kept: "/v1/users/a\x00b/password"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"an encoded slash between words", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/login", Kept: "/v1\x00login"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"an encoded slash into a free route", Request{Key: "k-1", Method: "GET", Path: "/v1/health", Kept: "/v1\x00health"}, now, "requests k-1 20 x1" + all},
		{"an encoded slash out of a dear route", Request{Key: "k-1", Method: "POST", Path: "/v1/export", Kept: "/v1\x00export"}, now, "requests k-1 20 x10" + all},
		{"a segment in braces", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/users/7/password"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"in lower case", Request{Key: "k-1", Address: "192.0.2.1", Method: "post", Path: "/v1/login"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"a spelling", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "//v1/./users/..//login/"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"a matrix parameter", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/login;x"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"a matrix parameter in the middle", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1;a=1;b/login;"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"dots before a semicolon", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/health/..;/login"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"a matrix parameter into a free route", Request{Key: "k-1", Method: "GET", Path: "/v1/health;x"}, now, "requests k-1 20 x1" + all},
		{"a matrix parameter out of a dear route", Request{Key: "k-1", Method: "POST", Path: "/v1/export;x"}, now, "requests k-1 20 x10" + all},
		{"backslashes", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: `\v1\login`}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"everything at once", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: `/v1\x;/..;y/login;a/b`, Kept: "/v1\\x;/..;y/login;a\x00b"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"dots that the upstream keeps", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/users/../password"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"dots into a free route", Request{Key: "k-1", Method: "GET", Path: "/v1/x/../health"}, now, "requests k-1 20 x1" + all},
		{"dots out of a route", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/../x"}, now, "requests k-1 20 x1" + all},
		{"another case of a security rule", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: "/v1/LogIn"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"another case of another rule", Request{Key: "k-1", Method: "POST", Path: "/V1/export"}, now, "everybody all 400 x1"},
		{"a long way round", Request{Key: "k-1", Address: "192.0.2.1", Method: "POST", Path: strings.Repeat("/a", 500) + strings.Repeat("/..", 600) + "/v1/login"}, now, "requests k-1 20 x1; login 192.0.2.1 5 x1" + all},
		{"no path", Request{Key: "k-1", Method: "GET"}, now, "everybody all 400 x1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := hits(s, tt.r, tt.now); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A security rule counts a path in the case that it is written in and in any
// other, at the higher cost.
func TestSecurityCostsInAnyCase(t *testing.T) {
	s := mustParse(t, "version: 1\nrules:\n- {name: a, per: key, security: true, limits: [{default: true, limit: \"9/s,burst=9\"}], cost: {/dear: 5, /free: 0}}\n")
	for path, want := range map[string]int64{"/dear": 5, "/DEAR": 5, "/Free": 1, "/other": 1} {
		if got := s.Match(nil, Request{Key: "k", Path: path}, 0); len(got) != 1 || got[0].Cost != want {
			t.Errorf("%s: %+v, want cost %d", path, got, want)
		}
	}
	if got := s.Match(nil, Request{Key: "k", Path: "/free"}, 0); len(got) != 0 {
		t.Errorf("the free route is counted: %+v", got)
	}
}

func TestSubjects(t *testing.T) {
	text := "version: 1\nrules:\n"
	for _, per := range pers {
		text += "- {name: by-" + per + ", per: " + per + ", route: [GET /a/*, '/a/{b}/c'], limits: [{default: true, limit: 1/s}]}\n"
	}
	s := mustParse(t, text)
	if got, want := hits(s, Request{Key: "k", Plan: "p", Address: "192.0.2.1", Method: "GET", Path: "/a/1/c"}, 0),
		"by-key k 1 x1; by-plan p 1 x1; by-address 192.0.2.1 1 x1; by-route /a/{b}/c 1 x1; by-all all 1 x1"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := hits(s, Request{Method: "GET", Path: "/a"}, 0), "by-key  1 x1; by-plan  1 x1; by-address  1 x1; by-route GET /a/* 1 x1; by-all all 1 x1"; got != want {
		t.Errorf("nobody at all: got %s, want %s", got, want)
	}
}

func TestMostSpecificRoute(t *testing.T) {
	s := mustParse(t, `version: 1
rules:
- name: a
  per: key
  limits: [{default: true, limit: 1/s}]
  cost: {/*: 2, /a/*: 3, GET /a/*: 4, '/a/{x}': 5, '/{x}/b': 6, /a/b: 7, PUT /a/b: 8, '/a/{x}/c': 9, /: 10}
`)
	for path, want := range map[string]int64{
		"DELETE /z": 2, "DELETE /a": 3, "GET /a": 4, "GET /a/x": 5, "PUT /z/b": 6, "GET /a/b": 7, "PUT /a/b": 8,
		"PUT /a/b/c": 9, "PUT /a/b/c/d": 3, "HEAD /a/b/c/d": 4, "GET /": 10,
	} {
		method, path, _ := strings.Cut(path, " ")
		if got := s.Match(nil, Request{Key: "k", Method: method, Path: path}, 0); got[0].Cost != want {
			t.Errorf("%s %s costs %d, want %d", method, path, got[0].Cost, want)
		}
	}
}

// Overlap and covering are told from patterns alone, and must agree with what
// the patterns match.
func TestRoutesAgreeWithWhatTheyMatch(t *testing.T) {
	var routes []Route
	for _, method := range []string{"", "GET ", "HEAD ", "POST "} {
		for _, path := range []string{"/", "/*", "/a", "/a/*", "/{x}", "/{x}/*", "/a/b", "/a/{x}", "/{x}/b", "/{x}/b/*", "/a/b/*"} {
			r, wrong := parseRoute(method + path)
			if wrong != "" {
				t.Fatal(wrong)
			}
			routes = append(routes, r)
		}
	}
	var requests []string
	for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
		for _, path := range []string{"/", "/a", "/c", "/a/b", "/a/c", "/c/b", "/c/c", "/a/b/c", "/c/b/c", "/a/c/c", "/c/c/c"} {
			requests = append(requests, method+" "+path)
		}
	}
	for _, a := range routes {
		for _, b := range routes {
			both, all := false, true
			for _, q := range requests {
				var p path
				method, text, _ := strings.Cut(q, " ")
				p.read(text, false)
				x, y := a.matches(method, &p, false), b.matches(method, &p, false)
				both = both || x && y
				all = all && (x || !y)
			}
			if got := overlap(&a, &b); got != both {
				t.Errorf("overlap(%v, %v) is %v", &a, &b, got)
			}
			if got := covers(&a, &b); got != all {
				t.Errorf("covers(%v, %v) is %v", &a, &b, got)
			}
			if covers(&a, &b) && !covers(&b, &a) && before(a, b) < 0 {
				t.Errorf("%v comes before %v, which is more specific", &a, &b)
			}
		}
	}
}

func TestAtMostSixteenAtOnce(t *testing.T) {
	file := func(n int, route func(i int) string) string {
		text := "version: 1\nrules:\n"
		for i := range n {
			text += fmt.Sprintf("- {name: r-%d, per: key, route: %s, limits: [{default: true, limit: 1/s}]}\n", i, route(i))
		}
		return text
	}
	mustParse(t, file(MaxAtOnce, func(int) string { return "/*" }))
	mustParse(t, file(MaxRules, func(i int) string { return fmt.Sprintf("/a%d/*", i) }))
	_, err := Parse([]byte(file(MaxAtOnce+1, func(int) string { return "/*" })), "f")
	if err == nil || !strings.Contains(err.Error(), "17 rules may apply") {
		t.Errorf("got %v", err)
	}
	s := mustParse(t, file(MaxAtOnce, func(i int) string { return fmt.Sprintf("[/%d/*, '/{x}/%d']", i, i) }))
	if got := len(s.Match(nil, Request{Path: "/3/5"}, 0)); got != 2 {
		t.Errorf("%d rules, want 2", got)
	}
}

func TestFromLimitIsForEverybody(t *testing.T) {
	spec := limit.Spec{Rate: limit.Rate{Units: 10, Per: time.Second}, Burst: 20}
	s := FromLimit(spec, func(r *Rule) { r.OnFailure = limit.FailClosed })
	if got, want := hits(s, Request{Key: "k"}, 0)+hits(s, Request{Address: "192.0.2.1"}, 0), "default k 20 x1default 192.0.2.1 20 x1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s.Version != 0 || s.Rules[0].OnFailure != limit.FailClosed || len(s.Limits()) != 1 || s.Limits()[0].Spec != spec {
		t.Errorf("set %+v", s)
	}
}

func TestMatchDoesNotAllocate(t *testing.T) {
	s := mustParse(t, shop)
	dst := make([]Hit, 0, MaxAtOnce)
	r := Request{Key: "k-9", Plan: "tin", Address: "2001:db8::1", Method: "POST", Path: "/v1/users/7/password"}
	if n := testing.AllocsPerRun(100, func() { dst = s.Match(dst[:0], r, 0) }); n != 0 || len(dst) != 3 {
		t.Errorf("%v allocations, %d hits", n, len(dst))
	}
}

// many is a file with n overrides.
func many(n int) []byte {
	var b strings.Builder
	b.WriteString(shop)
	for i := range n {
		fmt.Fprintf(&b, "  - key: customer-%d\n    rule: requests\n    limit: 20/s,burst=40\n    reason: asked for by support\n    expires: 2030-06-01\n", i)
	}
	return []byte(b.String())
}

func BenchmarkMatch(b *testing.B) {
	for _, n := range []int{0, MaxOverrides - 2} {
		b.Run(fmt.Sprintf("%d overrides", n), func(b *testing.B) {
			s, err := Parse(many(n), "f")
			if err != nil {
				b.Fatal(err)
			}
			dst := make([]Hit, 0, MaxAtOnce)
			r := Request{Key: "customer-77777", Plan: "tin", Address: "10.1.2.3", Method: "POST", Path: "/v1/orders/1234"}
			b.ReportAllocs()
			for b.Loop() {
				dst = s.Match(dst[:0], r, 0)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	text := many(MaxOverrides - 2)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := Parse(text, "f"); err != nil {
			b.Fatal(err)
		}
	}
}

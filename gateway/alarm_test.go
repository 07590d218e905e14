package gateway

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// scene is an alarm on a clock that the test moves.
type scene struct {
	*alarm
	now    int64
	in     SourceCounts
	timers map[int64][]func()
	lines  []string
}

func newScene(gateways int) *scene {
	s := &scene{now: int64(time.Hour), timers: map[int64][]func(){}}
	s.alarm = &alarm{
		gateways: gateways, nodes: map[string]*silence{}, failures: map[string]int{},
		say:     func(line string) { s.lines = append(s.lines, line) },
		instead: func() string { return "MEANWHILE" },
		stoodIn: func() SourceCounts { return s.in },
		clock:   func() int64 { return s.now },
		after: func(d time.Duration, do func()) func() bool {
			s.timers[s.now+int64(d)] = append(s.timers[s.now+int64(d)], do)
			return func() bool { return true }
		},
	}
	return s
}

// pass lets d pass, in steps of a millisecond, and returns what was said.
func (s *scene) pass(d time.Duration) []string {
	for end := s.now + int64(d); ; s.now += int64(time.Millisecond) {
		for len(s.timers[s.now]) > 0 {
			do := s.timers[s.now][0]
			s.timers[s.now] = s.timers[s.now][1:]
			do()
		}
		if s.now >= end {
			break
		}
	}
	said := s.lines
	s.lines = nil
	return said
}

func TestAlarm(t *testing.T) {
	const ms = time.Millisecond
	s := newScene(20)
	want := func(what string, got []string, lines ...string) {
		t.Helper()
		if d := cmp.Diff(strings.Join(lines, "\n"), strings.Join(got, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	all := func(node, kind string, open bool) {
		for g := range 20 {
			s.breaker(g, node, kind, open)
		}
	}

	s.failed("", "timeout")
	s.breaker(6, "", "timeout", true)
	want("the first is told at once", s.pass(0), "store: does not answer gateway 7 of 20 (timeout: no answer in time). MEANWHILE")
	for g := range 6 {
		s.breaker(g, "", "refused", true)
	}
	want("others wait", s.pass(999*ms))
	want("and are summed up", s.pass(ms), "store: does not answer 7 of 20 gateways (refused: nobody listens there)")
	s.in = SourceCounts{Admitted: 1000, Refused: 5}
	s.failed("127.0.0.1:6379", "refused")
	for g := range 7 {
		s.breaker(g, "", "", false)
	}
	want("nor is the end told too early", s.pass(900*ms))
	want("it is told once", s.pass(time.Hour), "store: answers again after 1.0 s, in which 1,000 requests were admitted without it and 5 refused")

	all("10.0.0.1:7000", "refused", true)
	want("all at once", s.pass(time.Minute), "store 10.0.0.1:7000: does not answer 20 of 20 gateways (refused: nobody listens there)")
	all("10.0.0.1:7000", "", false)
	all("10.0.0.1:7000", "", true)
	want("back and gone again before a line", s.pass(time.Minute))
	all("10.0.0.1:7000", "", false)
	all("10.0.0.2:7000", "loading", true)
	want("two nodes", s.pass(time.Minute),
		"store 10.0.0.1:7000: answers again after 120.0 s, in which 0 requests were admitted without it and 0 refused",
		"store 10.0.0.2:7000: does not answer 20 of 20 gateways (loading)")
	all("10.0.0.2:7000", "", false)
	s.pass(time.Minute)

	for n := range 100 {
		s.breaker(0, fmt.Sprintf("10.0.1.%d:1", n), "refused", true)
	}
	if got := s.pass(time.Minute); len(got) != mostAlarms+1 || !strings.HasSuffix(got[mostAlarms], " 92 other nodes") {
		t.Errorf("a hundred nodes: %q", got)
	}

	s = newScene(20)
	for range 1234 {
		s.failed("", "wrong-type")
	}
	s.failed("", "timeout")
	want("failures that open nothing", s.pass(time.Hour),
		"store: checks that failed, though no breaker opened: timeout: no answer in time × 1, wrong-type × 1,234. Fail modes decided on them")
	s.failed("", "timeout")
	s.breaker(0, "", "timeout", true)
	s.stop()
	s.breaker(1, "", "timeout", true)
	s.failed("n", "timeout")
	want("stopped", s.pass(time.Hour))
	var none *alarm
	none.breaker(0, "", "", true)
	none.failed("", "")
	none.stop()
}

func TestStandInText(t *testing.T) {
	rule := func(name string, m limit.FailMode) *rules.Rule { return &rules.Rule{Name: name, OnFailure: m} }
	for _, tt := range []struct {
		rules []*rules.Rule
		want  string
	}{
		{[]*rules.Rule{rule("a", limit.FailLocal), rule("b", limit.FailLocal)}, "each of 20 gateways admits its share of the limit (local)"},
		{[]*rules.Rule{rule("a", limit.FailOpen)}, "everything is admitted (open)"},
		{[]*rules.Rule{rule("a", limit.FailClosed), rule("b", limit.FailLocal), rule("c", limit.FailClosed)},
			"each of 20 gateways admits its share of the limit (local) for b; everything is refused (closed) for a, c"},
		{[]*rules.Rule{rule("a", limit.FailOpen), rule("b", limit.FailOpen), rule("c", limit.FailOpen), rule("d", limit.FailOpen), rule("e", limit.FailOpen), rule("f", limit.FailOpen), rule("g", limit.FailOpen), rule("h", limit.FailLocal)},
			"each of 20 gateways admits its share of the limit (local) for h; everything is admitted (open) for a, b, c, d, e, 2 more"},
		{[]*rules.Rule{{Name: "a", Shadow: true}}, "everything is admitted, as always: no rule is enforced"},
	} {
		if got := standInText(&rules.Set{Rules: tt.rules}, 20); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := standInText(&rules.Set{Rules: []*rules.Rule{rule("a", limit.FailLocal)}}, 1); !strings.Contains(got, "the only one") {
		t.Error(got)
	}
}

// On a real server: its end is told, and its return.
func TestAlarmOnRedis(t *testing.T) {
	r := redistest.Server(t)
	var mu sync.Mutex
	var lines []string
	said := func(text string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(strings.Join(lines, "\n"), text)
		}
	}
	f := onRedis(t, r, Config{Gateways: 3, Limit: spec(t, "1/h,burst=20"), StoreTimeout: 2 * time.Second, OnFailure: limit.FailClosed,
		Breaker: limit.BreakerRule{Failures: 2, Every: 20 * time.Millisecond},
		Notice:  func(l string) { mu.Lock(); lines = append(lines, l); mu.Unlock() }})
	askAt(f, 0, "k", f.now(), 1)
	r.Kill()
	for i := range 12 {
		askAt(f, i%3, "k", f.now(), 1)
	}
	until(t, "line about the end", said("everything is refused (closed)"))
	r.Restart()
	until(t, "line about the return", func() bool {
		for g := range 3 {
			askAt(f, g, "k", f.now(), 1)
		}
		return said("store: answers again after ")()
	})
	mu.Lock()
	defer mu.Unlock()
	if !strings.HasPrefix(lines[0], "store: does not answer ") {
		t.Errorf("%q", lines)
	}
}

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/weir-cli/weir/report"
)

// played is an act cut short, with what it tells.
func played(t *testing.T, act act, d time.Duration) (*report.Result, string) {
	t.Helper()
	a, _, _ := testApp()
	a.now = time.Now
	act.profile.Duration, act.latency = d, act.latency/5 // as much traffic in less time
	r, err := act.play(t.Context(), a, &console{quiet: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	act.tell(&out, r, 80)
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line); n > 80 { // with its newline
			t.Errorf("%d columns: %s", n, line)
		}
	}
	t.Logf("%s\n%s", act.title, &out)
	return r, out.String()
}

// Every act of the story tells what it is there to tell. A machine that is
// busy with other things may not get it told the first time, and needs longer;
// but what is promised never breaks.
func TestDemoActs(t *testing.T) {
	acts, tries := demoActs(), 4
	if len(acts) != 4 {
		t.Fatalf("%d acts, want 4", len(acts))
	}
	for try, d := 1, time.Second; ; try, d = try+1, 2*d {
		r, told := played(t, acts[0], d)
		if r.Verdict == report.Broken && strings.Contains(told, "20 separate buckets") {
			break
		}
		if try == tries {
			t.Errorf("separate buckets: %s", told)
			break
		}
	}
	held := func(act act, d time.Duration) *report.Result {
		r, told := played(t, act, d)
		if r.Verdict != report.Held {
			t.Errorf("%s: %s\n%s", act.title, r.Verdict, told)
		}
		return r
	}
	held(acts[1], time.Second)
	if testing.Short() { // as under the race detector, which is too slow to compare peaks
		held(acts[2], time.Second)
		held(acts[3], time.Second)
		return
	}
	for try, d := 1, 1500*time.Millisecond; ; try, d = try+1, 2*d {
		together := held(acts[2], d).Herd.Peak10ms
		apart := held(acts[3], d).Herd.Peak10ms
		if together >= 3*apart && apart > 0 {
			break
		}
		if try == tries {
			t.Errorf("a peak of %d, and of %d with jitter: it should have taken the herd apart", together, apart)
			break
		}
	}
}

// What is hardly over is not called a multiple.
func TestBrokenBy(t *testing.T) {
	for want, b := range map[string]report.Bound{"by 2.0": {Ratio: 1.003, WorstExcess: 2}, "1.1 times over": {Ratio: 1.1, WorstExcess: 9},
		"19.5 times over": {Ratio: 19.5, WorstExcess: 300}, "by 0.4": {Ratio: 0.9, WorstExcess: 0.4}} {
		if got := brokenBy(&b); got != want {
			t.Errorf("%+v: %q, want %q", b, got, want)
		}
	}
}

package load

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/report"
)

// A caller's story, at instants in milliseconds.
func TestBreaker(t *testing.T) {
	down := failed(1, report.ConnectRefused, 0)
	type at struct {
		now   int64
		o     Outcome
		wait  time.Duration // -1 is no retry
		open  bool
		story string
	}
	run := func(t *testing.T, text string, steps []at) {
		b := mustParse(t, text)
		m, r := &Memory{}, NewRand(1, 0, 0)
		for _, s := range steps {
			now := s.now * int64(ms)
			wait, retry := b.After(s.o, now, m, &r)
			if !retry {
				wait = -1
			}
			if _, open := m.OpenUntil(now); wait != s.wait || open != s.open {
				t.Fatalf("at %d ms, %s: wait %v open %v, want %v %v", s.now, s.story, wait, open, s.wait, s.open)
			}
		}
	}
	run(t, "fixed:10ms+breaker:3,1s", []at{
		{0, down, 10 * ms, false, "the first failure"},
		{10, down, 10 * ms, false, "the second"},
		{20, down, 1000 * ms, true, "the third opens it; its retry becomes the probe"},
		{500, down, -1, true, "a failure from before is refused a retry and does not count"},
		{500, admitted(1), -1, true, "nor does a late success close it"},
		{1020, down, 1000 * ms, true, "the probe fails: open again at once"},
		{2020, admitted(2), -1, false, "the probe passes: closed"},
		{2030, down, 10 * ms, false, "counting starts from nothing"},
		{2040, down, 10 * ms, false, ""},
		{2050, refused(1), 10 * ms, false, "a refusal is an answer"},
		{2060, down, 10 * ms, false, "so the row was broken"},
		{2070, down, 10 * ms, false, ""},
		{2080, down, 1000 * ms, true, ""},
	})
	run(t, "storm+breaker:2,1s,refusals", []at{
		{0, refused(1), 0, false, ""},
		{0, refused(2), 1000 * ms, true, "with the flag refusals open it"},
		{1000, admitted(3), -1, false, ""},
	})
	run(t, "fixed:5s+breaker:1,1s", []at{
		{0, down, 5000 * ms, true, "a retry that leaves after the open time keeps its wait"},
		{0, refused(1), 5000 * ms, true, "and takes no probe's place"},
	})
	run(t, "give-up+breaker:1,1s", []at{
		{0, down, -1, true, "it opens for the caller's next calls as well"},
		{999, admitted(1), -1, true, ""},
		{1000, admitted(1), -1, false, ""},
	})
}

// A probe that the cap forbids is not reserved.
func TestBreakerBeyondTheCap(t *testing.T) {
	b := mustParse(t, "storm+breaker:1,1m")
	m, r := &Memory{}, NewRand(1, 0, 0)
	down := failed(1, report.ConnReset, 0)
	if d := Decide(b, down, 0, m, &r, Limits{MaxWait: time.Second}); !d.Capped || d.Retry {
		t.Fatalf("%+v, want capped", d)
	}
	if d := Decide(b, down, 1, m, &r, Limits{}); !d.Retry || d.Wait != time.Minute-1 {
		t.Fatalf("%+v, want the probe", d)
	}
}

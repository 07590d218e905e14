package load

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/report"
)

// purseStep is one attempt of a caller and what it was told.
type purseStep struct {
	o     Outcome
	times int
	retry bool
}

func runPurse(t *testing.T, b string, steps []purseStep) *Memory {
	t.Helper()
	beh := mustParse(t, b)
	m, r := &Memory{}, NewRand(1, 0, 0)
	for i, s := range steps {
		for n := range max(s.times, 1) {
			if d := Decide(beh, s.o, 0, m, &r, Limits{MaxWait: time.Minute}); d.Retry != s.retry {
				t.Fatalf("step %d, time %d: tries again: %v, want %v (%d millionths left)", i, n, d.Retry, s.retry, m.Tokens)
			}
		}
	}
	return m
}

func TestBudget(t *testing.T) {
	m := runPurse(t, "storm+budget:0.1", []purseStep{
		{refused(1), 1, true},   // a new caller has one retry on credit
		{refused(2), 3, false},  // and then nothing
		{admitted(1), 9, false}, // nine successes are 0.9 of a retry
		{refused(1), 1, false},
		{admitted(1), 1, false}, // the tenth makes it whole, exactly
		{refused(1), 1, true},
		{refused(2), 1, false},
		{admitted(1), 500, false}, // it saves up ten at most
		{refused(1), 10, true},
		{refused(1), 1, false},
	})
	if m.Tokens != 0 {
		t.Errorf("%d millionths left, want 0", m.Tokens)
	}
	runPurse(t, "storm+budget:0,start=3", []purseStep{{refused(1), 3, true}, {refused(1), 1, false}, {admitted(1), 99, false}, {refused(1), 1, false}})
	runPurse(t, "give-up+budget:1", []purseStep{{refused(1), 3, false}})
}

// A retry that the cap stops has not been paid for.
func TestCappedRetryCostsNothing(t *testing.T) {
	long := refused(1)
	long.Answer = asked(time.Hour, "3600")
	short := refused(1)
	short.Answer = asked(time.Second, "1")
	runPurse(t, "retry-after+budget:0.1", []purseStep{{long, 5, false}, {short, 1, true}, {short, 1, false}})
}

// 500 tokens; 5 for a retry, 10 after a timeout; a success at the first try
// gives 1 back, one after a retry what that retry cost.
func TestAWSQuota(t *testing.T) {
	broken, slow := failed(1, report.BadStatus, 500), failed(1, report.Timeout, 0)
	for _, name := range []string{"aws-sdk-go-v2", "aws-standard", "aws-sdk-js-v3"} {
		m := runPurse(t, name, []purseStep{{broken, 100, true}, {broken, 1, false}, {admitted(1), 4, false}, {broken, 1, false}, {admitted(1), 1, false}, {broken, 1, true}})
		if m.Tokens != 0 {
			t.Errorf("%s: %d left, want 0", name, m.Tokens)
		}
		m = runPurse(t, name, []purseStep{{slow, 50, true}, {slow, 1, false}, {admitted(2), 1, false}})
		if m.Tokens != 10*token {
			t.Errorf("%s: a success after a timeout's retry gave %d back, want 10 tokens", name, m.Tokens)
		}
		m = runPurse(t, name, []purseStep{{admitted(1), 9, false}})
		if m.Tokens != 500*token {
			t.Errorf("%s: %d, want no more than it began with", name, m.Tokens)
		}
	}
}

// Ten tokens; every unavailable answer takes one, a success gives 0.1; only
// above five is a retry sent.
func TestGRPCThrottling(t *testing.T) {
	bad := failed(1, report.BadStatus, 503)
	m := runPurse(t, "grpc", []purseStep{
		{bad, 4, true},           // 9, 8, 7, 6
		{bad, 3, false},          // 5, 4, 3
		{admitted(1), 29, false}, // 5.9
		{bad, 1, false},          // 4.9
		{admitted(1), 12, false}, // 6.1
		{bad, 1, true},           // 5.1
	})
	if m.Tokens != 5_100_000 {
		t.Errorf("%d, want 5100000", m.Tokens)
	}
}

// With K = 2, half of the attempts may fail before any retry is let go.
func TestThrottle(t *testing.T) {
	b := mustParse(t, "storm+throttle:2")
	share := func(good, of int) float64 {
		m, r := &Memory{}, NewRand(3, 0, 0)
		retries, asked := 0, 0
		for i := range 20_000 {
			o := refused(1)
			if i%of < good {
				o = admitted(1)
			}
			_, retry := b.After(o, 0, m, &r)
			if o.Verdict == report.Refused && i > 1000 {
				asked++
				if retry {
					retries++
				}
			}
		}
		return float64(retries) / float64(asked)
	}
	if got := share(6, 10); got != 1 {
		t.Errorf("at 60%% admitted %.3f of the retries are made, want all", got)
	}
	// 1 in 4 admitted: (requests - 2*accepts)/requests = 1/2 is let go.
	if got := share(1, 4); got < 0.47 || got > 0.53 {
		t.Errorf("at 25%% admitted %.3f of the retries are made, want 0.5", got)
	}
	if got := share(0, 4); got > 0.01 {
		t.Errorf("with nothing admitted %.3f of the retries are made, want almost none", got)
	}
}

func TestWrappersThatShareThePurse(t *testing.T) {
	for _, text := range []string{"aws-standard+budget:0.1", "grpc+throttle"} {
		if _, err := ParseBehaviour(text); err == nil {
			t.Errorf("%s: accepted", text)
		}
	}
	mustParse(t, "aws-standard+breaker:3,1s")
}

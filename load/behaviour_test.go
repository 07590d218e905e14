package load

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

const ms = time.Millisecond

func mustParse(t testing.TB, text string) Behaviour {
	t.Helper()
	b, err := ParseBehaviour(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// refused is a 429 without a word about when to return.
func refused(attempt int) Outcome {
	return Outcome{Verdict: report.Refused, Status: 429, Attempt: attempt}
}

func failed(attempt int, class report.Class, status uint16) Outcome {
	return Outcome{Verdict: report.Failed, Class: class, Status: status, Attempt: attempt}
}

func admitted(attempt int) Outcome {
	return Outcome{Verdict: report.Admitted, Status: 200, Attempt: attempt}
}

// asked is an answer whose Retry-After is text and means wait.
func asked(wait time.Duration, text string) *dialect.Answer {
	a := &dialect.Answer{Limited: true}
	h := dialect.Hint{Has: true, Wait: wait, Source: dialect.RetryAfter, Unit: dialect.Seconds}
	h.RawLen = uint8(copy(h.Raw[:], text))
	a.Retry, a.Wait = h, h
	return a
}

func TestParseCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"give-up":                               "give-up",
		"storm":                                 "storm",
		"storm:attempts=3":                      "storm,attempts=3",
		"fixed":                                 "fixed:1s",
		"fixed:1500ms":                          "fixed:1.5s",
		"exponential":                           "exponential:100ms,10s",
		"exponential:1s":                        "exponential:1s,10s",
		"exponential:30s":                       "exponential:30s,30s",
		"full-jitter,250ms,60s,attempts=4":      "full-jitter:250ms,1m,attempts=4",
		"decorrelated-jitter:1m,2h":             "decorrelated-jitter:1m,2h",
		"linear:100ms,1s":                       "linear:100ms,1s",
		"retry-after":                           "retry-after",
		"retry-after:100ms,10s":                 "retry-after",
		"retry-after,jitter=.5":                 "",
		"retry-after,jitter=0.50":               "retry-after,jitter=0.5",
		"retry-after,attempts=2,spread":         "retry-after,spread,attempts=2",
		"budget+storm":                          "storm+budget:0.1",
		"storm+budget:0.25,start=20":            "storm+budget:0.25,start=20",
		"storm+budget:1,start=2,max=30+breaker": "storm+breaker:5,1s+budget:1,start=2,max=30",
		"breaker:3,250ms,refusals+fixed:1s":     "fixed:1s+breaker:3,250ms,refusals",
		"storm+throttle":                        "storm+throttle:2",
	} {
		b, err := ParseBehaviour(in)
		if want == "" {
			if err == nil {
				t.Errorf("%s: accepted as %s", in, b)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if b.String() != want {
			t.Errorf("%s: canonical %s, want %s", in, b, want)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ in, problem, hint string }{
		{"", "no name", "for example"},
		{"ful-jitter:1s", "no such behaviour", "full-jitter"},
		{"stom", "no such behaviour", "did you mean storm?"},
		{"retry", "no such behaviour", "retry-after"},
		{"storm+", "no name", ""},
		{"storm+storm", "second base", "only wrappers"},
		{"budget:0.1", "nothing that they wrap", "storm+budget:0.1"},
		{"storm+budget+budget:1", "a second budget", "use one"},
		{"storm+budget+throttle", "a second budget or throttle", "use one"},
		{"storm:5s", `unknown argument "5s"`, "storm[,attempts=N]"},
		{"fixed:0s", "not above zero", "fixed:1s"},
		{"fixed:1", "not a duration", "fixed:1s"},
		{"fixed:9000h", "above a year", ""},
		{"exponential:2s,1s", "the cap 1s is below the base 2s", ""},
		{"exponential:1s,2s,3s", `unknown argument "3s"`, ""},
		{"exponential:", "an empty argument", ""},
		{"full-jitter:1s,,2s", "an empty argument", ""},
		{"retry-after,jitter=0", "is not from 0.000001 to 10", ""},
		{"retry-after,jitter=1e3", "at most six places", ""},
		{"retry-after,jitter=0.5,spread", "spread and jitter together", ""},
		{"retry-after,sprea", `unknown argument "sprea"`, "spread"},
		{"storm,attempts=0", "not a whole number from 1", ""},
		{"storm+breaker:0,1s", "not a whole number from 1", "breaker:5,1s"},
		{"storm+budget:-1", "unknown argument", "budget:0.1"},
		{"storm+budget:1,start=11,max=3", "more than it can hold", ""},
		{strings.Repeat("x", 300), "longer than 200 bytes", ""},
	} {
		b, err := ParseBehaviour(c.in)
		if err == nil {
			t.Errorf("%q: accepted as %s", c.in, b)
			continue
		}
		e := err.(*BehaviourError)
		if !strings.Contains(err.Error(), c.problem) || !strings.Contains(e.Hint(), c.hint) {
			t.Errorf("%q:\n  error %v\n  hint  %s\n  want  %s / %s", c.in, err, e.Hint(), c.problem, c.hint)
		}
	}
}

// Waits per attempt of the bases without chance, from their definitions.
func TestExactWaits(t *testing.T) {
	for text, want := range map[string][]time.Duration{
		"give-up":                      {-1, -1},
		"storm":                        {0, 0, 0},
		"storm,attempts=3":             {0, 0, -1},
		"fixed:250ms":                  {250 * ms, 250 * ms},
		"linear:100ms,250ms":           {100 * ms, 200 * ms, 250 * ms, 250 * ms},
		"exponential:100ms,1s":         {100 * ms, 200 * ms, 400 * ms, 800 * ms, 1000 * ms, 1000 * ms},
		"retry-after:100ms,300ms":      {100 * ms, 200 * ms, 300 * ms},
		"exponential:1s,2s,attempts=2": {1000 * ms, -1},
	} {
		b := mustParse(t, text)
		var m Memory
		r := NewRand(1, 0, 0)
		var got []time.Duration
		for n := range want {
			wait, retry := b.After(refused(n+1), 0, &m, &r)
			if !retry {
				wait = -1
			}
			got = append(got, wait)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", text, d)
		}
	}
}

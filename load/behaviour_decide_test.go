package load

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

func decideOnce(b Behaviour, o Outcome, l Limits) Decision {
	var m Memory
	r := NewRand(1, 0, 0)
	return Decide(b, o, 0, &m, &r, l)
}

func withAnswer(o Outcome, a *dialect.Answer) Outcome {
	o.Answer = a
	return o
}

func TestDecide(t *testing.T) {
	second := time.Second
	notWhole := asked(2500*ms, "2.5")
	notWhole.Notes = dialect.NotWhole
	for _, c := range []struct {
		name string
		b    string
		o    Outcome
		l    Limits
		want Decision
	}{
		{"an admitted attempt is over", "storm", admitted(1), Limits{}, Decision{}},
		{"a dropped one too", "storm", Outcome{Verdict: report.Dropped, Attempt: 1}, Limits{}, Decision{}},
		{"a storm comes back at once", "storm", refused(1), Limits{}, Decision{Retry: true}},
		{"but not at a dead server", "storm", failed(1, report.ConnectRefused, 0), Limits{}, Decision{Retry: true, Wait: Floor}},
		{"a storm leaves a 404 alone", "storm", failed(1, report.BadStatus, 404), Limits{}, Decision{}},
		{"a 500 is worth another try", "fixed:1s", failed(1, report.BadStatus, 500), Limits{}, Decision{Retry: true, Wait: second}},
		{"attempts are counted from the first", "fixed:1s,attempts=2", refused(2), Limits{}, Decision{}},
		{"the run's own limit on attempts", "fixed:1s", refused(3), Limits{MaxAttempts: 3}, Decision{}},
		{"just below it", "fixed:1s", refused(2), Limits{MaxAttempts: 3}, Decision{Retry: true, Wait: second}},
		{"a wait at the cap is kept", "fixed:1s", refused(1), Limits{MaxWait: second}, Decision{Retry: true, Wait: second}},
		{"a wait above it stops the client", "fixed:1s", refused(1), Limits{MaxWait: second - 1}, Decision{Capped: true}},

		{"obeyed to the letter", "retry-after", withAnswer(refused(1), asked(7*second, "7")), Limits{},
			Decision{Retry: true, Wait: 7 * second, FromHeader: true, Source: dialect.RetryAfter}},
		{"a wait of zero gets a floor", "retry-after", withAnswer(refused(1), asked(0, "0")), Limits{},
			Decision{Retry: true, Wait: Floor, FromHeader: true, Source: dialect.RetryAfter}},
		{"a fraction is rounded up, the field being in whole seconds", "retry-after", withAnswer(refused(1), notWhole), Limits{},
			Decision{Retry: true, Wait: 3 * second, FromHeader: true, Source: dialect.RetryAfter}},
		{"a year is neither slept nor shortened", "retry-after", withAnswer(refused(1), asked(365*24*time.Hour, "31536000")), Limits{MaxWait: time.Minute},
			Decision{Capped: true, Source: dialect.RetryAfter}},
		{"an unusable hint means the own backoff", "retry-after:1s,4s", withAnswer(refused(2), answerOf("soon")), Limits{},
			Decision{Retry: true, Wait: 2 * second}},
		{"no answer at all, too", "retry-after:1s,4s", failed(1, report.ConnReset, 0), Limits{}, Decision{Retry: true, Wait: second}},
		{"the server may ask not to be tried again", "retry-after", withAnswer(refused(1), &dialect.Answer{Should: -1}), Limits{}, Decision{}},
		{"a client that knows no hints may come too early", "fixed:1s", withAnswer(refused(1), asked(7*second, "7")), Limits{},
			Decision{Retry: true, Wait: second}},
		{"or late enough by chance", "fixed:8s", withAnswer(refused(1), asked(7*second, "7")), Limits{},
			Decision{Retry: true, Wait: 8 * second, FromHeader: true}},
		{"undici cuts a long hint short", "undici", withAnswer(refused(1), asked(60*second, "60")), Limits{},
			Decision{Retry: true, Wait: 30 * second, Source: dialect.RetryAfter}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, decideOnce(mustParse(t, c.b), c.o, c.l)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

// foreign is a Behaviour from outside the package.
type foreign struct{ wait time.Duration }

func (f foreign) After(Outcome, int64, *Memory, *Rand) (time.Duration, bool) { return f.wait, true }
func (f foreign) String() string                                             { return "foreign" }

func TestDecideBoundsForeignBehaviours(t *testing.T) {
	for _, c := range []struct {
		wait time.Duration
		o    Outcome
		want Decision
	}{
		{time.Second, refused(1), Decision{Retry: true, Wait: time.Second}},
		{-time.Second, refused(1), Decision{Retry: true}},
		{2 * time.Minute, refused(1), Decision{Capped: true}},
		{math.MaxInt64, refused(1), Decision{Capped: true}},
		{time.Second, refused(4), Decision{}},
		{time.Second, admitted(1), Decision{}},
	} {
		got := decideOnce(foreign{c.wait}, c.o, Limits{MaxWait: time.Minute, MaxAttempts: 4})
		if got != c.want {
			t.Errorf("%v: %+v, want %+v", c.wait, got, c.want)
		}
	}
}

// Jitter ranges of the bases; the second column is the attempt.
func TestJitterRanges(t *testing.T) {
	for _, c := range []struct {
		b       string
		attempt int
		want    string
	}{
		{"full-jitter:100ms,1s", 1, "0s-100ms"},
		{"full-jitter:100ms,1s", 4, "0s-800ms"},
		{"full-jitter:100ms,1s", 5, "0s-1s"},
		{"full-jitter:100ms,1s", 500, "0s-1s"},
		{"equal-jitter:100ms,1s", 1, "50ms-100ms"},
		{"equal-jitter:100ms,1s", 3, "200ms-400ms"},
		{"equal-jitter:100ms,1s", 9, "500ms-1s"},
		{"decorrelated-jitter:100ms,1s", 1, "100ms-300ms"},
	} {
		t.Run(c.b, func(t *testing.T) { checkWait(t, mustParse(t, c.b), refused(c.attempt), c.want) })
	}
	for b, want := range map[string]string{
		"retry-after":               "10s",
		"retry-after,jitter=0.5":    "10s-15s",
		"retry-after,jitter=2":      "10s-30s",
		"retry-after,spread":        "0s-10s",
		"retry-after,jitter=0.0001": "10s-10.001s",
	} {
		t.Run(b, func(t *testing.T) {
			checkWait(t, mustParse(t, b), withAnswer(refused(1), asked(10*time.Second, "10")), want)
		})
	}
	// Without a hint the three fall back to the same backoff, jittered in kind.
	checkWait(t, mustParse(t, "retry-after,jitter=0.5"), refused(2), "200ms-300ms")
	checkWait(t, mustParse(t, "retry-after,spread"), refused(2), "100ms-200ms")
}

// Decorrelated jitter draws from base to three times the wait before, and
// starts anew with each call.
func TestDecorrelatedFollowsItself(t *testing.T) {
	b := mustParse(t, "decorrelated-jitter:100ms,20s")
	r := NewRand(5, 0, 0)
	var m Memory
	longest := time.Duration(0)
	for range 200 {
		prev := 100 * ms
		for n := 1; n <= 6; n++ {
			wait, _ := b.After(refused(n), 0, &m, &r)
			if wait < 100*ms || wait > 3*prev {
				t.Fatalf("attempt %d: %v after %v", n, wait, prev)
			}
			prev, longest = wait, max(longest, wait)
		}
	}
	if longest < 5*time.Second {
		t.Errorf("never grew beyond %v", longest)
	}
}

func TestHintsBesideRetryAfter(t *testing.T) {
	second := time.Second
	milli := func(source dialect.Source, wait time.Duration) *dialect.Answer {
		a := answerOf("7")
		a.Milli = dialect.Hint{Has: true, Wait: wait, Source: source, Unit: dialect.Millis}
		return a
	}
	reset := func(source dialect.Source, unit dialect.Unit, wait time.Duration) *dialect.Answer {
		return &dialect.Answer{Limited: true, Reset: dialect.Hint{Has: true, Wait: wait, Source: source, Unit: unit}}
	}
	noneLeft := reset(dialect.XRateLimitReset, dialect.UnixSeconds, 2500*ms)
	noneLeft.HasRemaining = true
	amz := milli(dialect.AmzRetryAfter, 1500*ms)
	amz.Retry = dialect.Hint{}
	both := reset(dialect.XRateLimitReset, dialect.Seconds, 3*second)
	both.Retry = answerOf("soon").Retry
	should := func(n dialect.Tri) *dialect.Answer { return &dialect.Answer{Should: n} }
	notFound := failed(1, report.BadStatus, 404)
	for _, c := range []struct {
		name string
		o    Outcome
		want string
	}{
		{"openai", withAnswer(refused(1), milli(dialect.RetryAfterMS, 2411*ms)), "2.411s"},
		{"openai", withAnswer(refused(1), milli(dialect.XMSRetryAfterMS, 2411*ms)), "7s"},
		{"openai", withAnswer(notFound, should(1)), "375ms-500ms"},
		{"openai", withAnswer(refused(1), should(-1)), "stop"},
		{"anthropic", withAnswer(refused(1), should(-1)), "stop"},
		{"stripe", withAnswer(refused(1), should(1)), "500ms"},
		{"stripe", withAnswer(refused(1), should(0)), "stop"},
		{"stripe", withAnswer(failed(1, report.BadStatus, 503), should(-1)), "stop"},
		{"aws-sdk-js-v3", withAnswer(refused(1), amz), "1.5s"},
		{"ky", withAnswer(refused(1), reset(dialect.RateLimitReset, dialect.Seconds, 4*second)), "4s"},
		{"ky", withAnswer(refused(1), reset(dialect.XRateLimitReset, dialect.UnixSeconds, 4*second)), "4s"},
		{"ky", withAnswer(refused(1), reset(dialect.VendorReset, dialect.ISOTime, 4*second)), "300ms"},
		{"ky", withAnswer(refused(1), both), "300ms"},                  // a malformed Retry-After hides the reset
		{"octokit-throttling", withAnswer(refused(1), noneLeft), "4s"}, // ceil(2.5) + 1
		{"envoy-ratelimited", withAnswer(refused(1), reset(dialect.XRateLimitReset, dialect.Seconds, 4*second)), "4s-6s"},
		// Where a limiter speaks without text, its meaning stands in for it.
		{"urllib3", withAnswer(refused(1), &dialect.Answer{Retry: dialect.Hint{Has: true, Wait: 3 * second, Source: dialect.RetryAfter}}), "3s"},
		{"urllib3", withAnswer(refused(1), &dialect.Answer{Retry: dialect.Hint{Has: true, Wait: 2500 * ms, Source: dialect.RetryAfter}}), "stop"},
		{"go-retryablehttp", Outcome{Verdict: report.Refused, Attempt: 1}, "1s"}, // a refusal without HTTP
	} {
		t.Run(c.name, func(t *testing.T) { checkWait(t, mustParse(t, c.name), c.o, c.want) })
	}
}

// A call that has used up its time is let go, the next wait counted in.
func TestWholeTimeOfACall(t *testing.T) {
	for _, c := range []struct {
		b       string
		elapsed time.Duration
		want    bool
	}{
		{"google-api-core", 118 * time.Second, true}, // waits up to 1 s
		{"google-api-core", 120 * time.Second, false},
		{"cenkalti-backoff", 14*time.Minute + 59*time.Second, true},
		{"cenkalti-backoff", 15 * time.Minute, false},
		{"cenkalti-backoff", math.MaxInt64, false},
	} {
		o := refused(1)
		o.Elapsed = c.elapsed
		if _, retry := once(mustParse(t, c.b), o, 1); retry != c.want {
			t.Errorf("%s after %v: tries again: %v, want %v", c.b, c.elapsed, retry, c.want)
		}
	}
}

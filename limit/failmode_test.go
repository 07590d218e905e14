package limit_test

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func fallback(t testing.TB, mode limit.FailMode, spec limit.BucketSpec) *limit.Fallback {
	t.Helper()
	f, err := limit.NewFallback(mode, spec, limit.Fraction{Num: 1, Den: 20})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// One of 20 gateways while the store is away for 12 s: 20 calls a second of a
// key on 10/s,20, whose share is one call in 2 s and a burst of one.
func TestFallbacks(t *testing.T) {
	for mode, want := range map[limit.FailMode]int{limit.FailOpen: 240, limit.FailClosed: 0, limit.FailLocal: 6} {
		f := fallback(t, mode, bucketSpec(10, time.Second, 20))
		admitted := 0
		for i := range int64(240) {
			if f.Decide(i*50*ms, 1).OK {
				admitted++
			}
		}
		if admitted != want || f.Mode() != mode {
			t.Errorf("%v admits %d, want %d", mode, admitted, want)
		}
	}
	if d := fallback(t, limit.FailClosed, limit.BucketSpec{}).Decide(0, 1); d.RetryAfter != limit.Unknown {
		t.Errorf("closed: %+v", d)
	}
	if d := fallback(t, limit.FailOpen, limit.BucketSpec{}).Decide(0, -1); d.OK || d.RetryAfter != limit.Never {
		t.Errorf("a negative cost: %+v", d)
	}
	if _, err := limit.NewFallback(limit.FailLocal, limit.BucketSpec{}, limit.Whole(1)); err == nil {
		t.Error("a share of nothing")
	}
}

// Attempts of one account at 5 a minute on twenty gateways, each on its own for
// 12 s and a little: with the full limit each lets its burst of 5 through and
// one more after 12 s, with a share one.
func TestLoginShares(t *testing.T) {
	login := bucketSpec(5, time.Minute, 5)
	for part, want := range map[limit.Fraction]int{limit.Whole(1): 100 + 20, {Num: 1, Den: 20}: 20} {
		admitted := 0
		for range 20 {
			f, err := limit.NewFallback(limit.FailLocal, login, part)
			if err != nil {
				t.Fatal(err)
			}
			for i := range int64(100) {
				if f.Decide(i*125*ms, 1).OK {
					admitted++
				}
			}
		}
		if admitted != want {
			t.Errorf("share %v: %d attempts, want %d", part, admitted, want)
		}
	}
}

func TestKeptWarm(t *testing.T) {
	f := fallback(t, limit.FailLocal, bucketSpec(100, time.Second, 200)) // 5/s, 10
	f.Keep(0, 7)
	f.Keep(0, -1)
	if d := f.Decide(0, 1); !d.OK || d.Remaining != 2 {
		t.Errorf("%+v", d)
	}
	f.Keep(0, 5) // more than there is: empty, not in debt
	if d := f.Decide(200*ms, 1); !d.OK || d.Remaining != 0 {
		t.Errorf("%+v", d)
	}
	f.Keep(second, 1<<62)
	if d := f.Decide(second, 1); d.OK || d.RetryAfter != 200*time.Millisecond {
		t.Errorf("%+v", d)
	}
	// What an outage used up is still used up in the next.
	if d := f.Decide(1100*ms, 1); d.OK {
		t.Errorf("%+v", d)
	}
}

func TestFailModeNames(t *testing.T) {
	for _, m := range []limit.FailMode{limit.FailOpen, limit.FailClosed, limit.FailLocal} {
		if got, err := limit.ParseFailMode(m.String()); got != m || err != nil {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if _, err := limit.ParseFailMode("ajar"); err == nil {
		t.Error("ajar")
	}
}

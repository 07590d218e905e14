package limit_test

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Four gateways under a steady 100/s each, for 10 s, on a limit of 10/s,20.
func TestCopies(t *testing.T) {
	spec := bucketSpec(10, time.Second, 20)
	local, err := limit.LocalCopies(spec, 4)
	if err != nil {
		t.Fatal(err)
	}
	shares, err := limit.ExactShares(spec, 4)
	if err != nil {
		t.Fatal(err)
	}
	full, shared := 0, 0
	for i := range int64(1001) {
		for g := range 4 {
			if local.Take(g, i*10*ms, 1).OK {
				full++
			}
			if shares.Take(g, i*10*ms, 1).OK {
				shared++
			}
		}
	}
	if full != 4*(20+100) || shared != 4*(5+25) {
		t.Errorf("local buckets admit %d, shares %d", full, shared)
	}
	if _, err := limit.ExactShares(spec, 0); err == nil {
		t.Error("no gateways")
	}
	if _, err := limit.LocalCopies(spec, -1); err == nil {
		t.Error("fewer than no gateways")
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		spec  limit.BucketSpec
		part  limit.Fraction
		rate  limit.Rate
		burst limit.Fraction
	}{
		{bucketSpec(10, time.Second, 20), limit.Fraction{Num: 1, Den: 20}, limit.Rate{Units: 1, Per: 2 * time.Second}, limit.Whole(1)},
		{bucketSpec(5, time.Minute, 5), limit.Fraction{Num: 1, Den: 20}, limit.Rate{Units: 1, Per: 4 * time.Minute}, limit.Whole(1)},
		{bucketSpec(10, time.Second, 30), limit.Fraction{Num: 1, Den: 20}, limit.Rate{Units: 1, Per: 2 * time.Second}, limit.Fraction{Num: 3, Den: 2}},
		{bucketSpec(10, time.Second, 300), limit.Fraction{Num: 2, Den: 300}, limit.Rate{Units: 1, Per: 15 * time.Second}, limit.Whole(2)},
		{bucketSpec(7, time.Second, 20), limit.Fraction{Num: 1, Den: 3}, limit.Rate{Units: 7, Per: 3 * time.Second}, limit.Fraction{Num: 20, Den: 3}},
	} {
		s, err := c.spec.Share(c.part)
		if err != nil || s.Burst != c.burst || s.Rate.Units*int64(c.rate.Per) != c.rate.Units*int64(s.Rate.Per) {
			t.Errorf("%v of %v,%v: %v,%v, %v", c.part, c.spec.Rate, c.spec.Burst, s.Rate, s.Burst, err)
		}
	}
	for _, part := range []limit.Fraction{{}, {Num: -1, Den: 2}, {Num: 1, Den: -2}, {Num: 1, Den: 1<<62 - 57}} {
		if s, err := bucketSpec(7, time.Second, 20).Share(part); err == nil {
			t.Errorf("%v: %v", part, s)
		}
	}
}

// A burst of one token and a half: two in a row only after it has filled.
func TestFractionalBurst(t *testing.T) {
	rule, err := limit.BucketSpec{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: limit.Fraction{Num: 3, Den: 2}}.Rule()
	if err != nil {
		t.Fatal(err)
	}
	var b limit.Bucket
	for i, step := range []struct {
		now, cost int64
		want      limit.Decision
	}{
		{0, 1, limit.Decision{OK: true, Limit: 1, ResetAfter: time.Second}},
		{0, 1, limit.Decision{Limit: 1, RetryAfter: 500 * time.Millisecond, ResetAfter: time.Second}},
		{500 * ms, 1, limit.Decision{OK: true, Limit: 1, ResetAfter: 1500 * time.Millisecond}},
		{500 * ms, 2, limit.Decision{Limit: 1, RetryAfter: limit.Never, ResetAfter: 1500 * time.Millisecond}},
	} {
		if d := b.Take(&rule, step.now, step.cost); d != step.want {
			t.Errorf("step %d: %+v, want %+v", i, d, step.want)
		}
	}
}

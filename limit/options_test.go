package limit_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// 60 calls at the end of a window of 60 per minute. Ten seconds into the next
// ten pass. The eleventh waits until one more of the 60 has left the guess;
// a full window waits for the next one's begin, or honestly for longer.
func TestShortWait(t *testing.T) {
	honest := limit.Spec{Algorithm: limit.SlidingCounter, Limit: 60, Window: time.Minute}
	short := honest
	short.ShortWait = true
	a, b := build(t, honest), build(t, short)
	var x, y limit.State
	for i, step := range []struct {
		now, cost      int64
		honest, hasten time.Duration
	}{
		{59 * second, 60, 0, 0},
		{59 * second, 1, 2 * time.Second, time.Second},
		{70 * second, 10, 0, 0},
		{70 * second, 1, time.Second, time.Second},
		{70 * second, 51, 56 * time.Second, 50 * time.Second}, // the next window's 10 have to fall to 9
		{110 * second, 40, 0, 0},
		{110 * second, 20, 22 * time.Second, 10 * time.Second},
		{110 * second, 61, limit.Never, limit.Never},
	} {
		if d := a.Take(&x, step.now, step.cost); d.RetryAfter != step.honest {
			t.Errorf("step %d: %+v, want a wait of %v", i, d, step.honest)
		}
		if d := b.Take(&y, step.now, step.cost); d.RetryAfter != step.hasten {
			t.Errorf("step %d, short: %+v, want a wait of %v", i, d, step.hasten)
		}
	}
}

// ShortWait follows the written rule, and decides as the honest counter does.
func TestShortWaitRule(t *testing.T) {
	const limitOf, w = 20, int64(time.Second)
	honest := limit.Spec{Algorithm: limit.SlidingCounter, Limit: limitOf, Window: time.Second}
	short := honest
	short.ShortWait = true
	a, b := build(t, honest), build(t, short)
	var x, y limit.State
	counts := map[int64]int64{}
	rnd := rand.New(rand.NewPCG(9, 10))
	now := int64(0)
	for range 20_000 {
		now += rnd.Int64N(60 * ms)
		cost := 1 + rnd.Int64N(3)
		n, e := now/w, now%w
		prev, cur := counts[n-1], counts[n]
		want := time.Duration(0)
		if prev*(w-e)+(cur+cost)*w > limitOf*w {
			want = time.Duration(w - e)
			if room := limitOf - cost - cur; prev > 0 && room >= 0 {
				// prev*(w-e) <= room*w from the first whole ns on.
				want = min(want, time.Duration((prev*w-room*w+prev-1)/prev-e))
			}
		} else {
			counts[n] += cost
		}
		p, q := a.Take(&x, now, cost), b.Take(&y, now, cost)
		if q.RetryAfter != want || q.OK != p.OK || p.RetryAfter < q.RetryAfter {
			t.Fatalf("at %d, %d and %d: %+v, want a wait of %v; honest %+v", now, prev, cur, q, want, p)
		}
	}
}

func TestOptionsBelongToTheirAlgorithm(t *testing.T) {
	for a := range limit.Algorithms() {
		for i, only := range []limit.Algorithm{limit.TokenBucket, limit.SlidingCounter, limit.LeakyMeter} {
			spec := limit.Spec{Algorithm: limit.Algorithm(a), Follow: i == 0, ShortWait: i == 1, Millis: i == 2}
			switch spec.Algorithm {
			case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
				spec.Rate, spec.Burst = limit.Rate{Units: 10, Per: time.Second}, 20
			case limit.LeakyQueue:
				spec.Rate = limit.Rate{Units: 10, Per: time.Second}
			case limit.Concurrency:
				spec.Limit = 3
			default:
				spec.Limit, spec.Window = 10, time.Second
			}
			if err := spec.Validate(); (err == nil) != (spec.Algorithm == only) {
				t.Errorf("%+v: %v", spec, err)
			}
		}
	}
}

func TestCommands(t *testing.T) {
	for a, want := range map[limit.Algorithm][2]int{
		limit.FixedWindow: {2, 3}, limit.SlidingCounter: {3, 4}, limit.TokenBucket: {1, 1}, limit.SlidingLog: {1, 1},
	} {
		if got := [2]int{a.Commands(true), a.Commands(false)}; got != want {
			t.Errorf("%v: %v commands, want %v", a, got, want)
		}
	}
}

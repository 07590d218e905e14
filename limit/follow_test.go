package limit_test

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Twenty gateways ask one bucket in turn for two minutes, each with its own
// clock, and the seventh's is two seconds ahead.
func fleetWithOneFastClock(t *testing.T, follow bool) (admitted int) {
	spec := limit.Spec{Rate: limit.Rate{Units: 10, Per: time.Second}, Burst: 20, Follow: follow}
	s := limit.NewStore(build(t, spec), limit.StoreOptions{})
	for i := range int64(48_000) {
		now := i * int64(2500*time.Microsecond)
		if i%20 == 6 {
			now += 2 * second
		}
		if s.Take("k-7", now, 1).OK {
			admitted++
		}
	}
	return admitted
}

func TestFastClock(t *testing.T) {
	// 20 + 10/s over 120 s, and the two seconds by which the fast clock leads.
	if got := fleetWithOneFastClock(t, false); got > 1240 || got < 1210 {
		t.Errorf("%d admitted when the highest time counts", got)
	}
	// The same two seconds refilled in every round of the gateways: 20 tokens
	// for 20 calls.
	if got := fleetWithOneFastClock(t, true); got != 48_000 {
		t.Errorf("%d of 48,000 admitted when every caller's time is written back", got)
	}
}

func TestFollowOnForwardClocksIsTheSame(t *testing.T) {
	spec := limit.Spec{Rate: limit.Rate{Units: 10, Per: time.Second}, Burst: 20}
	right := build(t, spec)
	spec.Follow = true
	follow := build(t, spec)
	var a, b limit.State
	for i := range int64(10_000) {
		now := i * 7_919_000
		if x, y := right.Take(&a, now, i%4), follow.Take(&b, now, i%4); x != y {
			t.Fatalf("call %d: %+v and %+v", i, x, y)
		}
	}
}

package load

import (
	"testing"
	"time"
)

// A loop that is held up (a suspended process, a busy machine) still answers
// for its whole plan: what is too late is dropped, and said to be.
func TestAHeldUpLoopLosesNoArrival(t *testing.T) {
	second := int64(time.Second)
	for _, c := range []struct {
		name      string
		from, to  int64 // the stall
		low, high int64 // offered
	}{
		{"in the middle", 2 * second, 7 * second, 600, 604},
		{"past the end", 2 * second, 30 * second, 200, 204},
		{"just before the end", 10*second - 5e5, 10*second + 5e5, 1000, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1M/s")}
			w.onPoll = func(now int64) {
				if now >= c.from && now < c.to {
					w.now = c.to
				}
			}
			r := runIn(t, w, openLoop(100, 10*time.Second), nil)
			if r.Totals.Planned != 1000 {
				t.Errorf("planned %d (offered %d, dropped %d), want all 1000", r.Totals.Planned, r.Totals.Offered, r.Totals.Dropped)
			}
			if r.Totals.Offered < c.low || r.Totals.Offered > c.high {
				t.Errorf("offered %d, want %d to %d", r.Totals.Offered, c.low, c.high)
			}
			if late := r.Sender.LateMS.Max; late > 1000.5 {
				t.Errorf("something left %.1f ms late instead of being dropped", late)
			}
		})
	}
}

// A client told to wait longer than the cap stops. Were it to make its next
// call instead, a server that says "a year" would turn the patient into a
// storm.
func TestAWaitAboveTheCapStopsAClosedLoopClient(t *testing.T) {
	// A burst of one and an hour's wait after it.
	w := &world{latency: int64(time.Millisecond), limiter: limiterOf(t, "1/h,burst=1")}
	r := runIn(t, w, closedLoop(7, "retry-after", 10*time.Second, 0), func(c *Config) { c.Limits.MaxWait = time.Minute })
	// One is admitted and calls again; each of the seven is refused once.
	if r.Totals.Offered != 8 || r.Totals.Refused != 7 || r.RetryAfter.Capped != 7 {
		t.Errorf("%+v, capped %d", r.Totals, r.RetryAfter.Capped)
	}
}

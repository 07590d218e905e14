package gateway

import (
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Nobody will ever give back what was not taken as a slot.
func TestTokensDoNotBecomeSlots(t *testing.T) {
	to := limiter(t, "concurrency:limit=4")
	for _, text := range []string{"1/h,burst=20", "fixed-window:limit=10,window=1h"} {
		from, now := limiter(t, text), int64(1e18)
		var s limit.State
		from.Take(&s, now, 9)
		next := carry(&s, from, to, now)
		if got := to.Take(&next, now+int64(24*time.Hour), 0); got.Remaining != 4 {
			t.Errorf("after %s a day later %d of 4 slots are free, and nothing is in flight", text, got.Remaining)
		}
	}
}

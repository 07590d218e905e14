package limit

import (
	"testing"
	"time"
)

// Ten calls at once fill the window. The honest wait reaches into the next
// window, where these ten weigh on; the nearest one ends where it begins.
func TestNearestWaitEndsAtTheNextWindow(t *testing.T) {
	const window = 10 * time.Second
	for _, tt := range []struct {
		nearest bool
		wait    time.Duration
	}{{false, 8 * time.Second}, {true, 7 * time.Second}} {
		spec := Spec{Algorithm: SlidingCounter, Limit: 10, Window: window, Nearest: tt.nearest}
		l, err := spec.New()
		if err != nil {
			t.Fatal(err)
		}
		var s State
		now := int64(3 * time.Second)
		for range 10 {
			l.Take(&s, now, 1)
		}
		d := l.Take(&s, now, 1)
		if d.OK || d.RetryAfter != tt.wait {
			t.Errorf("nearest %v: got %+v, want a wait of %v", tt.nearest, d, tt.wait)
		}
		again := l.Take(&s, now+int64(tt.wait), 1)
		if again.OK == tt.nearest {
			t.Errorf("nearest %v: a call after that wait: admitted %v", tt.nearest, again.OK)
		}
	}
}

func TestNearestIsOfTheSlidingCounterOnly(t *testing.T) {
	if err := (Spec{Algorithm: SlidingLog, Limit: 1, Window: 1, Nearest: true}).Validate(); err == nil {
		t.Error("a sliding log took it")
	}
}

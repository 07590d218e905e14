package gateway

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
)

// RetryAfter says how a refusal's wait is chosen. The zero value is the exact
// time until the next token, which is the same for all who are refused at
// once: they come back as a herd.
type RetryAfter struct {
	// Share and Up add a random time, evenly from nothing to Share of the
	// exact wait, or to Up. One of them at most is set.
	Share float64
	Up    time.Duration
	// Slots gives each refused caller an instant of its own, see
	// [limit.Slots]; Reach is how far away at most, 0 is a minute.
	Slots bool
	Reach time.Duration
	// Millis says every wait in milliseconds as well, as retry-after-ms, since
	// Retry-After has whole seconds only.
	Millis bool
	// Security makes refusals by security rules tell their wait too.
	Security bool
}

// ParseRetryAfter reads exact, jitter=FRACTION, jitter=DURATION, slots or
// slots=DURATION.
func ParseRetryAfter(s string) (r RetryAfter, err error) {
	bad := func(why string) (RetryAfter, error) { return RetryAfter{}, &ConfigError{"retry-after", s, why} }
	name, value, given := strings.Cut(s, "=")
	switch {
	case s == "exact":
		return r, nil
	case s == "slots":
		r.Slots = true
		return r, nil
	case name == "slots" && given:
		r.Slots = true
		if r.Reach, err = time.ParseDuration(value); err != nil || r.Reach < time.Second || r.Reach > 24*time.Hour {
			return bad("want a duration from 1s to 24h")
		}
		return r, nil
	case name == "jitter" && given:
		if share, err := strconv.ParseFloat(value, 64); err == nil {
			// Written so that NaN fails as well.
			if !(share > 0 && share <= 10) {
				return bad("want a share above 0 and at most 10")
			}
			r.Share = share
			return r, nil
		}
		if r.Up, err = time.ParseDuration(value); err != nil || r.Up <= 0 || r.Up > time.Hour {
			return bad("want a share of the wait, such as 0.5, or a duration up to 1h")
		}
		return r, nil
	}
	return bad("want exact, jitter=0.5, jitter=5s or slots")
}

// slotKeys is for how many keys at once a gateway hands out slots.
const slotKeys = 100_000

// waiter chooses the waits of one gateway. Safe for concurrent use.
type waiter struct {
	RetryAfter
	grain    time.Duration // what a wait is told in; 0 is exactly
	sharers  int64         // gateways that draw on the same counters
	gateway  int64         // from 0
	seed     uint64
	drawn    atomic.Uint64
	mu       sync.Mutex
	reserved *limit.Slots[slotKey]
}

// slotKey is one bucket.
type slotKey struct{ rule, subject string }

// newWaiter is gateway n's. Waits are told in whole seconds unless they are
// told in milliseconds or wrong.
func newWaiter(c Config, n int) *waiter {
	w := &waiter{RetryAfter: c.RetryAfter, grain: time.Second, sharers: 1, gateway: int64(n), seed: uint64(c.Seed)}
	switch {
	case c.Wrong.RetryAfterDown:
		w.grain = 0
	case c.RetryAfter.Millis:
		w.grain = time.Millisecond
	}
	if c.Design != Local {
		// Each gateway hands out every Nth slot, one after the other.
		w.sharers = int64(max(c.Fleet, c.Gateways))
	}
	if c.Fleet > c.Gateways {
		// Which ones other processes hand out is not known. Their seeds differ.
		w.gateway = (w.gateway + int64(uint64(c.Seed)%uint64(c.Fleet))) % w.sharers
	}
	w.forget()
	return w
}

// forget drops every slot, as when the buckets are full again.
func (w *waiter) forget() {
	w.mu.Lock()
	w.reserved = limit.NewSlots[slotKey](slotKeys)
	w.mu.Unlock()
}

// wait is what a refused caller is told: the verdict's RetryAfter, or later.
func (w *waiter) wait(d *verdict, now int64) time.Duration {
	exact := d.RetryAfter
	if d.OK || exact < 0 {
		return exact
	}
	switch {
	case w.Slots:
		if short := d.short(); short != nil {
			return w.slot(short, now, exact)
		}
	case w.Share > 0:
		return after(exact, min(float64(exact)*w.Share, float64(maxJitter))*w.draw())
	case w.Up > 0:
		return after(exact, float64(w.Up)*w.draw())
	}
	return exact
}

// maxJitter keeps a share of an absurd wait within a day.
const maxJitter = 24 * time.Hour

func after(d time.Duration, more float64) time.Duration {
	return time.Duration(plus(int64(d), int64(more)))
}

// draw is the nth number of the gateway, evenly from 0 up to 1, whichever
// request gets it.
func (w *waiter) draw() float64 {
	return rand.New(rand.NewPCG(w.seed^0x72657472792d6166, w.drawn.Add(1)<<16|uint64(w.gateway))).Float64()
}

func (w *waiter) slot(short *hitState, now int64, exact time.Duration) time.Duration {
	spec := short.Limit.Spec
	step := stepOf(spec)
	if step == 0 {
		return exact
	}
	pace := limit.SlotPace{
		Step: time.Duration(times(step, w.sharers)), Burst: max(1, capacity(spec)/w.sharers),
		Grain: w.grain, Reach: w.Reach,
	}
	// The subject may be part of a whole request; keep no more than it.
	key := slotKey{short.Rule.Name, strings.Clone(short.Subject)}
	first := plus(int64(exact), times(step, w.gateway%w.sharers))
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.reserved.Reserve(key, now, short.Cost, time.Duration(first), pace)
}

// stepOf is how long one unit of a limit takes to come back, rounded up; 0
// when time does not bring it back.
func stepOf(s limit.Spec) int64 {
	per, units := int64(s.Rate.Per), s.Rate.Units
	if s.Window > 0 {
		per, units = int64(s.Window), s.Limit
	}
	if units <= 0 || per <= 0 {
		return 0
	}
	return 1 + (per-1)/units
}

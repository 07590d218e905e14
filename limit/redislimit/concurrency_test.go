package redislimit

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/limittest"
)

// slotTaker is a taker of a concurrency limit. Each key has one holder, whose
// units a release gives back.
type slotTaker struct{ *taker }

func (s slotTaker) part(key string, cost int64) Part {
	return Part{Key: "rl:{" + key + "}:" + s.name, Rule: s.r, Cost: cost, ID: "holder"}
}

func (s slotTaker) Take(key string, now, cost int64) (limit.Decision, error) {
	a, err := checkWith(s.c, s.s, now, s.part(key, cost))
	return a.Decision, err
}

func (s slotTaker) Release(key string, now, cost int64) error {
	_, err := release(s.c, s.part(key, cost))
	return err
}

func release(c redis.UniversalClient, p Part) (int64, error) {
	keys, args := encodeRelease(nil, &p)
	reply, err := run(c, releaseScript(), keys, args)
	if err != nil {
		return 0, err
	}
	return decodeRelease(reply)
}

func mustRelease(tb testing.TB, c redis.UniversalClient, p Part) int64 {
	tb.Helper()
	n, err := release(c, p)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

func TestConcurrencyConforms(t *testing.T) {
	each(t, func(t *testing.T, c redis.UniversalClient) {
		limittest.Run(t, limittest.Suite{
			New:        func(tb testing.TB, spec limit.Spec) limittest.Taker { return slotTaker{newTaker(tb, c, spec)} },
			Algorithms: []limit.Algorithm{limit.Concurrency},
			Grain:      time.Microsecond,
			Epoch:      epoch,
		})
	})
}

// holdStep takes cost slots for an id, or with cost below zero gives them back.
type holdStep struct {
	at       time.Duration
	id       string
	cost     int64
	ok       bool
	left     int64 // remaining, after a take
	released int64 // by a release
}

func TestHoldersOfSlots(t *testing.T) {
	const hold = time.Minute
	for _, story := range []struct {
		name  string
		steps []holdStep
	}{
		{"each gives back its own", []holdStep{
			{0, "a", 1, true, 2, 0},
			{0, "b", 2, true, 0, 0},
			{0, "c", 1, false, 0, 0},
			{1, "c", -1, true, 0, 0}, // it holds nothing
			{1, "b", -2, true, 0, 2},
			{1, "c", 2, true, 0, 0},
			{2, "a", -1, true, 0, 1},
			{2, "c", -2, true, 0, 2},
			{2, "d", 3, true, 0, 0},
		}},
		{"a double release frees once", []holdStep{
			{0, "a", 2, true, 1, 0},
			{0, "b", 1, true, 0, 0},
			{1, "a", -2, true, 0, 2},
			{1, "a", -2, true, 0, 0},
			{1, "c", 2, true, 0, 0},
			{1, "d", 1, false, 0, 0},
		}},
		{"a crashed holder is let go after the longest hold", []holdStep{
			{0, "crashed", 2, true, 1, 0},
			{30 * time.Second, "lives", 1, true, 0, 0},
			{hold - time.Microsecond, "new", 1, false, 0, 0},
			{hold, "new", 2, true, 0, 0},
			{hold, "crashed", -2, true, 0, 0}, // too late, it frees nobody else's
			{hold, "more", 1, false, 0, 0},
			{hold + 30*time.Second, "more", 1, true, 0, 0},
		}},
		{"the same id adds to what it holds, from now on", []holdStep{
			{0, "a", 1, true, 2, 0},
			{time.Second, "a", 1, true, 1, 0},
			{hold, "b", 1, true, 0, 0},
			{hold + time.Second, "b", 2, true, 0, 0},
			{hold + time.Second, "b", -1, true, 0, 1},
			{hold + time.Second, "b", -1, true, 0, 1},
			{hold + time.Second, "b", -9, true, 0, 1},
			{hold + time.Second, "c", 3, true, 0, 0},
		}},
		{"a clock far back starts the holders anew", []holdStep{
			{3 * time.Hour, "a", 3, true, 0, 0},
			{3*time.Hour - 59*time.Minute, "b", 1, false, 0, 0}, // not far enough
			{time.Hour, "b", 1, false, 0, 0},
			{time.Hour + hold - time.Microsecond, "b", 1, false, 0, 0},
			{time.Hour + hold, "b", 3, true, 0, 0},
		}},
	} {
		t.Run(story.name, func(t *testing.T) {
			both(t, func(t *testing.T, c redis.UniversalClient) {
				rule, err := compile(t, "concurrency:limit=3").WithHold(hold)
				if err != nil {
					t.Fatal(err)
				}
				for i, s := range story.steps {
					p := Part{Key: "rl:{k}:slots", Rule: rule, Cost: s.cost, ID: s.id}
					if s.cost < 0 {
						p.Cost = -s.cost
						if n := mustRelease(t, c, p); n != s.released {
							t.Fatalf("step %d: %s gives back %d, want %d", i, s.id, n, s.released)
						}
						continue
					}
					a := mustCheck(t, c, epoch+int64(s.at), p)
					if a.OK != s.ok || a.Remaining != s.left || a.Unreadable != 0 {
						t.Fatalf("step %d: %s takes %d: %+v, want %v with %d left", i, s.id, s.cost, a, s.ok, s.left)
					}
				}
			})
		})
	}
}

// TestManyCrashedHolders: a check lets go of a bounded number, and the next
// ones of the rest.
func TestManyCrashedHolders(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		const slots, step = 300, 128
		rule := compile(t, fmt.Sprintf("concurrency:limit=%d", slots))
		for i := range slots {
			mustCheck(t, c, epoch, Part{Key: "rl:{k}:slots", Rule: rule, Cost: 1, ID: fmt.Sprint("crashed-", i)})
		}
		now := epoch + int64(DefaultHold)
		for i, want := range []int64{step - 1, 2*step - 2, slots - 3, slots - 4} {
			a := mustCheck(t, c, now, Part{Key: "rl:{k}:slots", Rule: rule, Cost: 1, ID: fmt.Sprint("new-", i)})
			if !a.OK || a.Remaining != want {
				t.Fatalf("check %d after the crash: %+v, want %d left", i, a.Decision, want)
			}
		}
	})
}

func TestWithHold(t *testing.T) {
	rule := compile(t, "concurrency:limit=3")
	for _, d := range []time.Duration{0, -time.Second, time.Microsecond, MaxHold + 1} {
		if r, err := rule.WithHold(d); err == nil {
			t.Errorf("a longest hold of %v: %+v", d, r)
		}
	}
	if r, err := compile(t, "10/s").WithHold(time.Minute); err == nil {
		t.Errorf("a token bucket with a longest hold: %+v", r)
	}
	short, err := rule.WithHold(time.Second)
	if err != nil || short.numbers[1] != "1000000" || rule.numbers[1] != "300000000" {
		t.Errorf("%v, %v, from %v", short, err, rule)
	}
}

func TestHoldersHaveNames(t *testing.T) {
	rule := compile(t, "concurrency:limit=3")
	for id, fine := range map[string]bool{"": false, "x": true, string(make([]byte, maxID)): true, string(make([]byte, maxID+1)): false} {
		if err := checkParts([]Part{{Key: "k", Rule: rule, Cost: 1, ID: id}}); (err == nil) != fine {
			t.Errorf("an id of %d bytes: %v", len(id), err)
		}
	}
	if err := checkParts([]Part{{Key: "k", Rule: rule}, {Key: "b", Rule: compile(t, "10/s"), Cost: 1}}); err != nil {
		t.Errorf("a peek and a bucket need no name: %v", err)
	}
}

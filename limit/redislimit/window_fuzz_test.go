package redislimit

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// holdAtOnce makes calls at epoch on whatever state there is and checks what
// must hold of it: a peek tells what a call finds, no more than the limit of 4
// passes, what a call leaves can be read, and it is over after most.
func holdAtOnce(t *testing.T, c redis.UniversalClient, p Part, most time.Duration) {
	t.Helper()
	p.Cost = 0
	peek := mustCheck(t, c, epoch, p)
	p.Cost = 1
	passed := int64(0)
	for i := range 6 {
		p.ID = fmt.Sprint("holder-", i)
		d := mustCheck(t, c, epoch, p)
		if i == 0 && (d.OK != peek.OK || d.Unreadable != peek.Unreadable) {
			t.Fatalf("a peek finds %+v and a call %+v", peek, d)
		}
		if i > 0 && d.Unreadable != 0 {
			t.Fatalf("what a call left cannot be read")
		}
		if d.OK {
			passed++
		}
	}
	// A limit, hold or extra that stands among the holders counts as one until
	// it is written anew.
	more := p.Rule.Releases() && passed > peek.Remaining
	if passed > 4 || passed != peek.Remaining && !more {
		t.Fatalf("%d pass at once, a peek said %d", passed, peek.Remaining)
	}
	p.Cost = 4
	if d := mustCheck(t, c, epoch+int64(most), p); !d.OK {
		t.Fatalf("%v later: %+v", most, d)
	}
}

func FuzzWindowCounts(f *testing.F) {
	c := redistest.Mini(f).Client(f)
	const now = "1767225600000000"
	for _, counter := range []bool{false, true} {
		f.Add(counter, uint8(255), "4", "3", "1767225603000000", now, "10000000")
		f.Add(counter, uint8(255), "9007199254740991", "9007199254740991", "9007199254740991", "9007199254740991", "9007199254740991")
		f.Add(counter, uint8(255), "1", "1", "2", "1", "9007199254740991")
		f.Add(counter, uint8(255), "inf", "nan", "-1", "1e5", "0x10")
		f.Add(counter, uint8(255), "1125899906842624", "1125899906842624", now, now, "2251799813685248")
		f.Add(counter, uint8(5), "1", "1", "1", "1", "0")
		f.Add(counter, uint8(255), "3", "0", "1767225600000001", "1767225599000000", "1")
	}
	f.Fuzz(func(t *testing.T, counter bool, present uint8, n, p, e, at, w string) {
		part := Part{Key: "rl:{fuzz}:k", Rule: windowRule(t, limit.FixedWindow, 4, 10*time.Second)}
		if counter {
			part.Rule = windowRule(t, limit.SlidingCounter, 4, 10*time.Second)
		}
		state := map[string]string{}
		for i, field := range []struct{ name, value string }{{"n", n}, {"p", p}, {"e", e}, {"t", at}, {"w", w}} {
			if present>>i&1 == 1 {
				state[field.name] = field.value
			}
		}
		put(t, c, part.Key, state)
		// A state from a clock an hour ahead holds the key up that long, and
		// then for a window or two.
		holdAtOnce(t, c, part, time.Hour+20*time.Second)
	})
}

func FuzzSortedSets(f *testing.F) {
	c := redistest.Mini(f).Client(f)
	const now = float64(1767225600000000)
	for _, slots := range []bool{false, true} {
		f.Add(slots, "0000000000000001:1", now-5, "0000000000000003:2", now, "limit=4 window=10000000", now)
		f.Add(slots, "0000000000000009:1", now-5, "0000000000000003:2", now, "limit=4 window=10000000", now+1e9)
		f.Add(slots, "0000000000000001:1", now-5, "x", now-1, "limit=4 window=10000000", math.Inf(1))
		f.Add(slots, "h:a", now, "h:b", now+1e12, "extra", -2.0)
		f.Add(slots, "h:a", now-1e12, "ch:a", -1e18, "extra", -1e17)
		f.Add(slots, "ch:a", 1.5, "h:a", math.Inf(1), "extra", math.Inf(-1))
		f.Add(slots, "9007199254740991:9007199254740991", now, "0000000000000001:1", now-1, "limit=0 window=0", now)
	}
	f.Fuzz(func(t *testing.T, slots bool, m1 string, s1 float64, m2 string, s2 float64, m3 string, s3 float64) {
		if math.IsNaN(s1) || math.IsNaN(s2) || math.IsNaN(s3) {
			t.Skip("no server stores one")
		}
		p, most := Part{Key: "rl:{fuzz}:z", Rule: windowRule(t, limit.SlidingLog, 4, 10*time.Second)}, time.Hour+20*time.Second
		if slots {
			p.Rule, most = compile(t, "concurrency:limit=4"), time.Hour+2*DefaultHold
		}
		ctx := context.Background()
		c.Del(ctx, p.Key)
		if err := c.ZAdd(ctx, p.Key, redis.Z{Score: s1, Member: m1}, redis.Z{Score: s2, Member: m2}, redis.Z{Score: s3, Member: m3}).Err(); err != nil {
			t.Fatal(err)
		}
		holdAtOnce(t, c, p, most)
		for _, z := range c.ZRangeWithScores(ctx, p.Key, 0, -1).Val() {
			if member := z.Member.(string); member == "limit" && z.Score != -4 {
				t.Fatalf("the limit is written as %s", strconv.FormatFloat(z.Score, 'g', -1, 64))
			}
		}
	})
}

package redislimit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// buckets are one limit told by each of the bucket algorithms, and a state of
// each with nothing used.
var buckets = []struct {
	text  string
	state map[string]string
}{
	{"10/s,burst=20", map[string]string{"n": "20000000", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"}},
	{"gcra:rate=10/s,burst=20", map[string]string{"a": "1767225600000000", "f": "0", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"}},
	{"leaky-meter:rate=10/s,burst=20", map[string]string{"l": "0", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"}},
	{"leaky-queue:rate=10/s,queue=19", map[string]string{"l": "0", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"}},
}

// put replaces a key by a hash that never ends.
func put(t testing.TB, c redis.UniversalClient, key string, state map[string]string) {
	t.Helper()
	if err := c.Del(context.Background(), key).Err(); err != nil {
		t.Fatal(err)
	}
	if len(state) == 0 {
		return
	}
	if err := c.HSet(context.Background(), key, state).Err(); err != nil {
		t.Fatal(err)
	}
}

func get(t testing.TB, c redis.UniversalClient, key string) map[string]string {
	t.Helper()
	state, err := c.HGetAll(context.Background(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func ttl(t testing.TB, c redis.UniversalClient, key string) time.Duration {
	t.Helper()
	d, err := c.PTTL(context.Background(), key).Result()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestStateLayouts(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		for i, want := range []map[string]string{
			{"n": "13000000", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"},
			{"a": "1767225600700000", "f": "0", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"},
			{"l": "7000000", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"},
			{"l": "7000000", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"},
		} {
			key := fmt.Sprint("rl:{layout}:", i)
			mustCheck(t, c, epoch, Part{Key: key, Rule: compile(t, buckets[i].text), Cost: 7})
			if got := get(t, c, key); !maps.Equal(got, want) {
				t.Errorf("%s is kept as %v, want %v", buckets[i].text, got, want)
			}
		}
		// A third of a second is no whole number of microseconds.
		mustCheck(t, c, epoch, Part{Key: "rl:{layout}:third", Rule: compile(t, "gcra:rate=3/s,burst=2"), Cost: 1})
		if got := get(t, c, "rl:{layout}:third"); got["a"] != "1767225600333333" || got["f"] != "1" || got["r"] != "3" {
			t.Errorf("a TAT with a fraction is kept as %v", got)
		}
		// Numbers that %.14g would cut.
		mustCheck(t, c, epoch, Part{Key: "rl:{layout}:large", Rule: compile(t, "2M/s,burst=1000M"), Cost: 1})
		if got := get(t, c, "rl:{layout}:large"); got["n"] != "999999999000000" {
			t.Errorf("a large bucket is kept as %v", got)
		}
	})
}

// State that is not a bucket's own counts as used up, once, and the next write
// replaces all of it.
func TestUnreadableState(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		for _, b := range buckets {
			broken := map[string]map[string]string{
				"another's":         {"tokens": "20", "ts": "1767225600"},
				"another algorithm": {"x": "20", "g": "1000000", "t": "1767225600000000", "b": "20", "r": "10"},
				"no gain":           with(b.state, "r", "0"),
				"no grain":          with(b.state, "g", "0"),
			}
			for field := range b.state {
				less := maps.Clone(b.state)
				delete(less, field)
				broken["without "+field] = less
				for _, bad := range []string{"", "x", "-1", "1e5", "0x10", "inf", "nan", "1.5", " 1", "1 ", "1\n", "9007199254740992", "18446744073709551616", strings.Repeat("1", 1000)} {
					broken[fmt.Sprintf("%s=%.20q", field, bad)] = with(b.state, field, bad)
				}
			}
			if strings.HasPrefix(b.text, "gcra") {
				broken["TAT before its time"] = with(b.state, "a", "1767225599999999")
				broken["TAT beyond the burst"] = with(b.state, "a", "1767225602000001")
				broken["fraction above one"] = with(b.state, "f", "10")
				broken["burst beyond 2^53"] = with(b.state, "b", "9007199254740991")
			}
			if strings.HasPrefix(b.text, "leaky-meter") {
				broken["level above the top"] = with(b.state, "l", "20000001")
				broken["burst beyond 2^53"] = with(b.state, "b", "9007199254740991")
			}
			p := Part{Key: "rl:{broken}:k", Rule: compile(t, b.text), Cost: 1}
			for name, state := range broken {
				put(t, c, p.Key, state)
				peek := p
				peek.Cost = 0
				want := limit.Decision{Limit: 20, RetryAfter: 100 * time.Millisecond, ResetAfter: 2 * time.Second}
				if a := mustCheck(t, c, epoch, peek); a.Decision != want || a.Unreadable != 1 {
					t.Errorf("%s, %s: a peek finds %+v", b.text, name, a)
				}
				if got := get(t, c, p.Key); !maps.Equal(got, state) || ttl(t, c, p.Key) != -1 {
					t.Errorf("%s, %s: a peek left %v", b.text, name, got)
				}
				if a := mustCheck(t, c, epoch, p); a.Decision != want || a.Unreadable != 1 {
					t.Errorf("%s, %s: a call finds %+v", b.text, name, a)
				}
				if got := get(t, c, p.Key); len(got) != len(b.state) || got["g"] != "1000000" || got["b"] != "20" || ttl(t, c, p.Key) <= 0 {
					t.Errorf("%s, %s: replaced by %v", b.text, name, got)
				}
				if a := mustCheck(t, c, epoch+1e8, p); !a.OK || a.Unreadable != 0 {
					t.Errorf("%s, %s: after the wait %+v", b.text, name, a)
				}
			}
		}
	})
}

func with(state map[string]string, field, value string) map[string]string {
	out := maps.Clone(state)
	out[field] = value
	return out
}

// Tokens above the burst are those of a burst.
func TestTooManyTokens(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		p := Part{Key: "rl:{rich}:k", Rule: compile(t, "10/s,burst=20"), Cost: 20}
		for _, n := range []string{"20000001", "9007199254740991"} {
			put(t, c, p.Key, with(buckets[0].state, "n", n))
			if a := mustCheck(t, c, epoch, p); !a.OK || a.Remaining != 0 {
				t.Errorf("n=%s: %+v", n, a)
			}
			if a := mustCheck(t, c, epoch, p); a.OK {
				t.Errorf("n=%s: a second burst passes", n)
			}
		}
	})
}

// A key of another type is an error, and no other limit of the request was
// charged.
func TestWrongType(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		if err := c.Set(t.Context(), "rl:{wrong}:text", "20", 0).Err(); err != nil {
			t.Fatal(err)
		}
		for _, b := range buckets {
			r := compile(t, b.text)
			_, err := check(c, epoch, Part{Key: "rl:{wrong}:fine", Rule: r, Cost: 1}, Part{Key: "rl:{wrong}:text", Rule: r, Cost: 1})
			if err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
				t.Errorf("%s: %v", b.text, err)
			}
			if got := get(t, c, "rl:{wrong}:fine"); len(got) != 0 {
				t.Errorf("%s: the other limit became %v", b.text, got)
			}
		}
		if got, err := c.Get(t.Context(), "rl:{wrong}:text").Result(); got != "20" || err != nil {
			t.Errorf("the text became %q, %v", got, err)
		}
	})
}

// Every write sets a life of at least the time to fill.
func TestTimeToLive(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		for i, tt := range []struct {
			text  string
			least time.Duration
		}{
			{"10/s,burst=20", 2 * time.Second},
			{"gcra:rate=10/s,burst=20", 2 * time.Second},
			{"leaky-meter:rate=1/m,burst=3", 3 * time.Minute},
			{"leaky-queue:rate=1/m,queue=2", 3 * time.Minute},
			{"1/d,burst=10000", 10 * 365 * 24 * time.Hour}, // 27 years, and ten are the most
		} {
			p := Part{Key: fmt.Sprint("rl:{life}:", i), Rule: compile(t, tt.text), Cost: 1}
			least := tt.least - 5*time.Second // for the time that the test takes
			if tt.least < 10*time.Second {
				least = time.Second
			}
			for _, cost := range []int64{1, p.Rule.most + 1, p.Rule.most, 1} {
				p.Cost = cost
				mustCheck(t, c, epoch, p)
				if got := ttl(t, c, p.Key); got < least || got > tt.least+time.Second {
					t.Errorf("%s: after a cost of %d its life is %v", tt.text, cost, got)
				}
				if err := c.Persist(t.Context(), p.Key).Err(); err != nil {
					t.Fatal(err)
				}
			}
			// A clock that has stepped back adds the step.
			p.Cost = 1
			mustCheck(t, c, epoch-60e9, p)
			if got := ttl(t, c, p.Key); got < min(tt.least+55*time.Second, least) || got > tt.least+61*time.Second {
				t.Errorf("%s: a minute behind, its life is %v", tt.text, got)
			}
		}
	})
}

// A clock that steps back further than an hour and the time to fill no longer
// holds a key up, and gains nothing by it.
func TestClockFarBack(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		for i, b := range buckets {
			for _, tt := range []struct {
				back  time.Duration
				retry time.Duration
			}{
				{time.Hour, time.Hour + 100*time.Millisecond},
				{time.Hour + time.Microsecond, 100 * time.Millisecond},
				{50 * 365 * 24 * time.Hour, 100 * time.Millisecond},
			} {
				p := Part{Key: fmt.Sprintf("rl:{back}:%d-%d", i, tt.back), Rule: compile(t, b.text), Cost: 20}
				mustCheck(t, c, epoch, p)
				p.Cost = 1
				if a := mustCheck(t, c, epoch-int64(tt.back), p); a.OK || a.RetryAfter != tt.retry || a.Unreadable != 0 {
					t.Errorf("%s: %v back, %+v", b.text, tt.back, a)
				}
			}
		}
		// Whose time to fill is longer than an hour is held up as long as that.
		p := Part{Key: "rl:{back}:long", Rule: compile(t, "1/h,burst=5"), Cost: 5}
		mustCheck(t, c, epoch, p)
		p.Cost = 1
		if a := mustCheck(t, c, epoch-int64(5*time.Hour), p); a.RetryAfter != 6*time.Hour {
			t.Errorf("five hours back: %+v", a)
		}
		if a := mustCheck(t, c, epoch-int64(5*time.Hour)-1000, p); a.RetryAfter != time.Hour {
			t.Errorf("more than five hours back: %+v", a)
		}
	})
}

// Under a changed rule a queue keeps the slots that it promised.
func TestChangedQueue(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		take := func(text string, at time.Duration, cost int64) limit.Decision {
			t.Helper()
			return mustCheck(t, c, epoch+int64(at), Part{Key: "rl:{queue}:k", Rule: compile(t, text), Cost: cost}).Decision
		}
		const deep, shallow, fast = "leaky-queue:rate=1/s,queue=9", "leaky-queue:rate=1/s,queue=1", "leaky-queue:rate=10/s,queue=9"
		for i, s := range []struct {
			text string
			at   time.Duration
			cost int64
			want limit.Decision
		}{
			{deep, 0, 8, limit.Decision{OK: true, Limit: 10, Remaining: 2, ResetAfter: 8 * time.Second, Delay: 7 * time.Second}},
			{shallow, 0, 1, limit.Decision{Limit: 2, RetryAfter: 7 * time.Second, ResetAfter: 8 * time.Second}},
			{deep, 0, 1, limit.Decision{OK: true, Limit: 10, Remaining: 1, ResetAfter: 9 * time.Second, Delay: 8 * time.Second}},
			{shallow, 8 * time.Second, 1, limit.Decision{OK: true, Limit: 2, ResetAfter: 2 * time.Second, Delay: time.Second}},
			{fast, 8 * time.Second, 1, limit.Decision{OK: true, Limit: 10, Remaining: 7, ResetAfter: 300 * time.Millisecond, Delay: 200 * time.Millisecond}},
			{shallow, 100 * time.Second, 2, limit.Decision{OK: true, Limit: 2, ResetAfter: 2 * time.Second, Delay: time.Second}},
		} {
			if got := take(s.text, s.at, s.cost); got != s.want {
				t.Errorf("step %d:\n got %+v\nwant %+v", i, got, s.want)
			}
		}
	})
}

// Without a time of the caller's the server's clock decides.
func TestServerTime(t *testing.T) {
	redistest.Each(t, func(t *testing.T, server *redistest.Redis) {
		c := server.Client(t)
		before := time.Now().Add(-time.Second).UnixNano()
		a := mustCheck(t, c, storeTime, Part{Key: "rl:{now}:k", Rule: compile(t, "1/h,burst=2"), Cost: 2})
		if after := time.Now().Add(time.Second).UnixNano(); !a.OK || a.At < before || a.At > after {
			t.Errorf("%+v, not between %d and %d", a, before, after)
		}
		if a := mustCheck(t, c, math.MaxInt64, Part{Key: "rl:{now}:k", Rule: compile(t, "1/h,burst=2"), Cost: 2}); !a.OK || a.At != 1<<62/1000*1000 {
			t.Errorf("at the end of time: %+v", a)
		}
		if a := mustCheck(t, c, -1, Part{Key: "rl:{now}:early", Rule: compile(t, "1/h,burst=2"), Cost: 2}); !a.OK || a.At != 0 {
			t.Errorf("before 1970: %+v", a)
		}
	})
}

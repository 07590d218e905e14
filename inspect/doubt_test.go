package inspect

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

func spec(t *testing.T, text string) *limit.Spec {
	t.Helper()
	s, err := limit.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	return &s
}

// What was not read says nothing of what passes.
func TestNoVerdictOnWhatWasNotRead(t *testing.T) {
	const now = int64(1796006000) * 1e9
	for _, x := range []struct {
		about, layout, limit string
		entry                Entry
		says                 string
	}{
		{"a log that is too large", "tj-ratelimiter", "sliding-log:limit=100,window=1h",
			Entry{Key: "limit:big", Type: "zset", TTL: NoTTL, Len: 1_000_000, Truncated: true, Problem: "it takes 107 MB, and no more than 32 are read"},
			"What big holds cannot be told."},
		{"a bucket that is too large", "traefik", "10/s,burst=20",
			Entry{Key: "rate:mw:a", Type: "hash", TTL: NoTTL, Len: 1_000_000, Truncated: true, Problem: "it takes 107 MB, and no more than 32 are read"},
			"cannot be told"},
		{"a hash where a string should be", "redis-rate", "10/s,burst=20",
			Entry{Key: "rate:a", Type: "hash", TTL: NoTTL, Len: 1, Fields: map[string]string{"a": "1"}},
			"cannot be told"},
		{"a count in parts, of which few were read", "upstash-multi-fixed", "fixed-window:limit=20000,window=60s",
			Entry{Key: fmt.Sprintf("@upstash/ratelimit:a:%d", now/60e9), Type: "hash", TTL: time.Minute, Len: 30_000, Truncated: true, Fields: map[string]string{"x": "1", "y": "1"}},
			"has used at least 2 in"},
	} {
		r, err := Decode(Find(Builtin(), x.layout), []Entry{x.entry}, now, spec(t, x.limit))
		if err != nil {
			t.Fatal(x.about, err)
		}
		if wait, known := r.Wait(1); known || r.Remaining != nil || r.FullAt != nil {
			t.Errorf("%s: a call is said to wait %v", x.about, wait)
		}
		if text := strings.Join(r.Sentences(1), " "); !strings.Contains(text, x.says) || strings.Contains(text, "whole allowance") {
			t.Errorf("%s: %s", x.about, text)
		}
	}
}

// A key that was looked at has not been used, where its state knows better; where
// no key's does, the youngest idle time tells.
func TestLastUse(t *testing.T) {
	const now = int64(1796006000) * 1e9
	bucket := Entry{Key: "rl:{k-7}:default", Type: "hash", TTL: time.Minute, Slot: -1,
		Fields: map[string]string{"n": "0", "g": "1000000", "t": strconv.FormatInt(now/1e3-5e6, 10), "b": "20", "r": "10"}}
	count := func(window int64, idle time.Duration) Entry {
		return Entry{Key: fmt.Sprintf("@upstash/ratelimit:k-7:%d", window), Type: "string", Text: []byte("900"), TTL: time.Minute, Slot: -1, Idle: idle}
	}
	for _, x := range []struct {
		layout, limit string
		entries       []Entry
		ago           time.Duration
	}{
		{"weir", "10/s,burst=20", []Entry{bucket}, 5 * time.Second},
		{"upstash-sliding", "sliding-counter:limit=10,window=60s", []Entry{count(now/60e9, 2*time.Second), count(now/60e9-1, 9*time.Second)}, 2 * time.Second},
		{"upstash-sliding", "sliding-counter:limit=10,window=60s", []Entry{count(now/60e9, 9*time.Second), count(now/60e9-1, 2*time.Second)}, 2 * time.Second},
	} {
		r, err := Decode(Find(Builtin(), x.layout), x.entries, now, spec(t, x.limit))
		if err != nil {
			t.Fatal(x.layout, err)
		}
		if r.LastUse == nil || now-*r.LastUse != int64(x.ago) {
			t.Errorf("%s: %s", x.layout, strings.Join(r.Sentences(1), " "))
		}
	}
}

// Of a log with calls in the middle that were not read, the ends may be enough.
func TestEndsOfALog(t *testing.T) {
	const now = int64(1796006000) * 1e9
	e := Entry{Key: "limit:a", Type: "zset", TTL: time.Hour, Len: 1000, Truncated: true, Head: 4}
	for i := range 8 {
		at := now/1e3 - int64(10-i)*60e6 // 10 minutes ago and so on, to 3
		e.Members = append(e.Members, Member{strconv.FormatInt(at, 10), float64(at)})
	}
	for _, x := range []struct {
		window string
		known  bool
		wait   time.Duration
	}{
		{"5m", true, 0},     // two at the end
		{"6m30s", false, 0}, // all four, and some before them
		{"7m30s", true, 30*time.Second + time.Microsecond}, // one at the beginning, and so all between
	} {
		r, err := Decode(Find(Builtin(), "tj-ratelimiter"), []Entry{e}, now, spec(t, "sliding-log:limit=996,window="+x.window))
		if err != nil {
			t.Fatal(err)
		}
		wait, known := r.Wait(1)
		if known != x.known || known && (wait == 0) != (x.wait == 0) {
			t.Errorf("within %s: %v, %v: %s", x.window, wait, known, strings.Join(r.Sentences(1), " "))
		}
	}
}

// A million calls of small names are read by their ends, and large members not.
func TestReaderReadsEndsOfLargeValues(t *testing.T) {
	c := redistest.Server(t).Client(t)
	fill := func(key, member string, n int) {
		script := `for i = 1, tonumber(ARGV[2]) do redis.call('ZADD', KEYS[1], i, ARGV[1] .. i) end return 0`
		if err := c.Eval(t.Context(), script, []string{key}, member, n).Err(); err != nil {
			t.Fatal(err)
		}
	}
	fill("many", strings.Repeat("m", 1<<10), 40_000)
	fill("large", strings.Repeat("l", 20<<10), 2_000)
	s, err := NewReader(c, ReaderOptions{}).Get(t.Context(), "many", "large")
	if err != nil {
		t.Fatal(err)
	}
	many, large := &s.Entries[0], &s.Entries[1]
	if many.Bytes <= maxValue || large.Bytes <= maxValue {
		t.Fatalf("%d and %d bytes are no large values", many.Bytes, large.Bytes)
	}
	if many.Problem != "" || len(many.Members) != DefaultMembers || many.Len != 40_000 || many.Members[DefaultMembers-1].Score != 40_000 {
		t.Errorf("of many members %d were read: %s", len(many.Members), many.Problem)
	}
	if large.Problem == "" || len(large.Members) != 0 || large.Len != 2_000 {
		t.Errorf("of large members %d were read", len(large.Members))
	}
}

// A block comes before what was used, and what Redis does not know is said of a
// call that passes.
func TestSentencesSayWhatRefuses(t *testing.T) {
	const now = int64(1795977946) * 1e9
	blocked := []Entry{
		{Key: "{abc:default}:hits", Type: "string", TTL: time.Minute, Text: []byte("3")},
		{Key: "{abc:default}:blocked", Type: "string", TTL: 2 * time.Minute, Text: []byte("1")},
	}
	for _, x := range []struct {
		layout, limit, says, not string
		entries                  []Entry
	}{
		{"nestjs", "", "It is blocked, and calls are refused whatever was used; the block ends in 2m0s", "", blocked},
		{"rack-attack-ban", "", "10.0.0.1, under the rule fail2ban, is banned. It is blocked, and calls are refused whatever was used; the block ends in 1h0m, at 19:45:46.000 UTC. The next call passes then.", "would pass at once",
			[]Entry{{Key: "rack::attack:fail2ban:ban:10.0.0.1", Type: "string", TTL: time.Hour, Text: []byte("1")}}},
		{"rack-attack-ban", "", "nothing ends that", "whole allowance",
			[]Entry{{Key: "rack::attack:fail2ban:ban:10.0.0.1", Type: "string", TTL: NoTTL, Text: []byte("1")}}},
		{"spring", "", "u1, under the rule r1, held 0 tokens at the last write. What that is by now depends on the limit", "is known to the limiter",
			[]Entry{{Key: "request_rate_limiter.{r1.u1}.tokens", Type: "string", TTL: time.Minute, Text: []byte("0")}, {Key: "request_rate_limiter.{r1.u1}.timestamp", Type: "string", TTL: time.Minute, Text: []byte("1795977945")}}},
		{"rate-limiter-flexible", "fixed-window:limit=5,window=60s", "passes now; 3 would pass at once. That is by what is in Redis. A block in the memory of a process", "",
			[]Entry{{Key: "rlflx:u1", Type: "string", TTL: time.Minute, Text: []byte("2")}}},
		{"rate-limiter-flexible", "fixed-window:limit=5,window=60s", "is refused now", "That is by what is in Redis",
			[]Entry{{Key: "rlflx:u1", Type: "string", TTL: time.Minute, Text: []byte("6")}}},
		{"rate-limiter-flexible", "", "a shorter window, or 0, never ends", "",
			[]Entry{{Key: "rlflx:u1", Type: "string", TTL: NoTTL, Text: []byte("6")}}},
	} {
		var told *limit.Spec
		if x.limit != "" {
			told = spec(t, x.limit)
		}
		r, err := Decode(Find(Builtin(), x.layout), x.entries, now, told)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(r.Sentences(1), " ")
		if !strings.Contains(text, x.says) || x.not != "" && strings.Contains(text, x.not) {
			t.Errorf("%s: %s", x.layout, text)
		}
	}
	r, err := Decode(Find(Builtin(), "rack-attack-ban"), []Entry{{Key: "rack::attack:fail2ban:ban:a", Type: "string", TTL: NoTTL, Text: []byte("1")}}, now, nil)
	if err != nil || r.BlockedUntil == nil || *r.BlockedUntil != math.MaxInt64 || r.Level() != "blocked" {
		t.Errorf("%v: %s, until %v", err, r.Level(), r.BlockedUntil)
	}
}

package redislimit

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/weir-cli/weir/internal/redistest"
	"github.com/weir-cli/weir/limit"
)

// fillLog writes a log of n admissions of one unit, a microsecond apart, the
// last at epoch, as the fragment would have.
func fillLog(tb testing.TB, c redis.UniversalClient, p Part, n int64) {
	tb.Helper()
	ctx, at := context.Background(), int64(epoch/1000)
	if err := c.Del(ctx, p.Key).Err(); err != nil {
		tb.Fatal(err)
	}
	for from := int64(1); from <= n; from += 4096 {
		var entries []redis.Z
		for i := from; i < min(from+4096, n+1); i++ {
			entries = append(entries, redis.Z{Score: float64(at - n + i), Member: fmt.Sprintf("%016d:1", i)})
		}
		if err := c.ZAdd(ctx, p.Key, entries...).Err(); err != nil {
			tb.Fatal(err)
		}
	}
	mark := fmt.Sprintf("limit=%s window=%s", p.Rule.numbers[0], p.Rule.numbers[1])
	if err := c.ZAdd(ctx, p.Key, redis.Z{Score: float64(at), Member: mark}).Err(); err != nil {
		tb.Fatal(err)
	}
}

// scriptCalls is how many commands the scripts of f run on a real server, and
// of which kinds.
func scriptCalls(tb testing.TB, r *redistest.Redis, f func()) (total int64, of map[string]int64) {
	tb.Helper()
	r.CLI("CONFIG", "RESETSTAT")
	f()
	of = commandStats(tb, r)
	for name, n := range of {
		switch name {
		case "eval", "evalsha", "config|resetstat", "info", "hello", "client|setinfo", "script|load":
		default:
			total += n
		}
	}
	return total, of
}

// commandStats are the calls of each command since the last RESETSTAT.
func commandStats(tb testing.TB, r *redistest.Redis) map[string]int64 {
	tb.Helper()
	of := map[string]int64{}
	for line := range strings.Lines(r.CLI("INFO", "commandstats")) {
		name, stats, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		n, _, _ := strings.Cut(stats, ",")
		calls, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			tb.Fatalf("%q: %v", line, err)
		}
		of[name] = calls
	}
	return of
}

// TestLogChecksAreBounded: a check runs a few commands on a log, however long,
// and a wait of many units a few more for each doubling.
func TestLogChecksAreBounded(t *testing.T) {
	r := redistest.Server(t)
	c := r.Client(t)
	const n = 1 << 15
	for _, tt := range []struct {
		name     string
		cost     int64
		since    time.Duration // after the last entry
		ok       bool
		commands int64
		wait     time.Duration
	}{
		{"full", 1, 0, false, 7, time.Second - (n-1)*time.Microsecond},
		{"full, a wait for many", n / 3, 0, false, 5 + 4 + 15, time.Second - (n-n/3)*time.Microsecond},
		{"half is over", 7, time.Second - n/2*time.Microsecond, true, 6, 0},
		{"all is over", n, 2 * time.Second, true, 5, 0},
	} {
		p := Part{Key: "rl:{log}:r", Rule: windowRule(t, limit.SlidingLog, n, time.Second), Cost: tt.cost}
		fillLog(t, c, p, n)
		before := c.ZCard(context.Background(), p.Key).Val()
		var a Answer
		commands, of := scriptCalls(t, r, func() { a = mustCheck(t, c, epoch+int64(tt.since), p) })
		if a.OK != tt.ok || a.RetryAfter != tt.wait {
			t.Errorf("%s: %+v, want %v and a wait of %v", tt.name, a, tt.ok, tt.wait)
		}
		if commands > tt.commands {
			t.Errorf("%s: %d commands, want at most %d: %v", tt.name, commands, tt.commands, of)
		}
		after := c.ZCard(context.Background(), p.Key).Val()
		if gone := before - after; tt.since == 0 && gone != 0 || tt.since < time.Second && gone > 16 {
			t.Errorf("%s: %d entries removed at once", tt.name, gone)
		}
	}
}

// TestLogIsNoLongerThanItsLimit: what has left the window goes faster than new
// entries come.
func TestLogIsNoLongerThanItsLimit(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		const n = 300
		p := Part{Key: "rl:{log}:r", Rule: windowRule(t, limit.SlidingLog, n, time.Second), Cost: 1}
		fillLog(t, c, p, n)
		now := epoch + int64(time.Second)
		for i := range n {
			now += 1000
			if a := mustCheck(t, c, now, p); !a.OK {
				t.Fatalf("call %d: %+v", i, a)
			}
			if card := c.ZCard(context.Background(), p.Key).Val(); card > n+1 || i > n/15 && card > int64(i)+3 {
				t.Fatalf("%d members after %d calls", card, i+1)
			}
		}
	})
}

// TestLogAtTheEndOfItsSums: before a sum could lose a unit the log is folded
// into one entry, which leaves the window no sooner than its parts would have.
func TestLogAtTheEndOfItsSums(t *testing.T) {
	both(t, func(t *testing.T, c redis.UniversalClient) {
		ctx := context.Background()
		p := Part{Key: "rl:{log}:r", Rule: windowRule(t, limit.SlidingLog, 10, time.Second), Cost: 3}
		const last = 1<<52 - 2
		at := float64(epoch / 1000)
		if err := c.ZAdd(ctx, p.Key,
			redis.Z{Score: at - 10, Member: fmt.Sprintf("%016d:1", int64(last-4))},
			redis.Z{Score: at, Member: fmt.Sprintf("%016d:4", int64(last))},
			redis.Z{Score: at, Member: "limit=10 window=1000000"}).Err(); err != nil {
			t.Fatal(err)
		}
		for i, step := range []struct {
			at        time.Duration
			cost      int64
			ok        bool
			remaining int64
		}{
			{100 * time.Microsecond, 3, true, 2}, // 1 and 4 before it
			{100 * time.Microsecond, 3, false, 2},
			{time.Second, 3, false, 2}, // folded to the time of the write
			{time.Second + 100*time.Microsecond, 10, true, 0},
		} {
			p.Cost = step.cost
			if a := mustCheck(t, c, epoch+int64(step.at), p); a.OK != step.ok || a.Remaining != step.remaining || a.Unreadable != 0 {
				t.Fatalf("step %d: %+v", i, a)
			}
		}
	})
}

// BenchmarkSlidingLog is a check of logs of several lengths: one that is full
// and refuses cost 1, one that must find the end of a wait in the middle, and
// one that admits while entries leave the window.
func BenchmarkSlidingLog(b *testing.B) {
	const window = 1000 * time.Second
	r := redistest.Server(b)
	c := r.Client(b)
	for _, n := range []int64{100, 10_000, maxLogged} {
		p := Part{Key: "rl:{log}:r", Rule: windowRule(b, limit.SlidingLog, n, window), Cost: 1}
		fillLog(b, c, p, n)
		used := c.MemoryUsage(context.Background(), p.Key).Val()
		for _, tt := range []struct {
			name string
			cost int64
			step int64 // ns between checks
			from int64
		}{
			{"refuse", 1, 0, epoch},
			{"wait", n/2 + 1, 0, epoch},
			{"admit", 1, int64(window)/n/1000*1000 + 1000, epoch + int64(window) - (n-1)*1000},
		} {
			b.Run(fmt.Sprintf("%d/%s", n, tt.name), func(b *testing.B) {
				fillLog(b, c, p, n)
				now := tt.from
				q := p
				q.Cost = tt.cost
				b.ResetTimer()
				for b.Loop() {
					now += tt.step
					if a := mustCheck(b, c, now, q); a.OK != (tt.step > 0) {
						b.Fatalf("%+v", a)
					}
				}
				b.StopTimer()
				b.ReportMetric(serverMicros(b, r), "server-µs/check")
				b.ReportMetric(float64(used)/float64(n), "B/entry")
			})
		}
	}
}

// serverMicros is the mean time of a script on the server since the last call.
func serverMicros(b *testing.B, r *redistest.Redis) float64 {
	b.Helper()
	calls, took := 0.0, 0.0
	for line := range strings.Lines(r.CLI("INFO", "commandstats")) {
		if strings.HasPrefix(line, "cmdstat_evalsha:") {
			if _, err := fmt.Sscanf(line, "cmdstat_evalsha:calls=%g,usec=%g,", &calls, &took); err != nil {
				b.Fatal(err)
			}
		}
	}
	r.CLI("CONFIG", "RESETSTAT")
	return took / calls
}

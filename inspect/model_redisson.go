package inspect

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Redisson's RRateLimiter: a hash with the limit, a string with the permits
// that are left, and a sorted set of those that were taken, by the ms at which
// they were.

func checkRedisson(l *Layout) string { return needRoles(l, "config", "value", "permits") }

// redissonPermits reads a member of the set: a byte that is the length of a
// random part, that part, and the number in four bytes, the lowest first.
// Versions before 3.17 had eight bytes: a random float and the number.
func redissonPermits(member string) (int64, error) {
	switch n := len(member); {
	case n == 8:
		return int64(binary.LittleEndian.Uint32([]byte(member[4:]))), nil
	case n >= 5 && n <= 1+255+4 && int(member[0]) == n-5:
		return int64(binary.LittleEndian.Uint32([]byte(member[n-4:]))), nil
	}
	return 0, errors.New("a member of the permits has another length")
}

func isRedissonPermits(e *Entry) bool {
	for i, m := range e.Members {
		if _, err := redissonPermits(m.Name); err != nil {
			return false
		}
		if i == shownMembers {
			break
		}
	}
	return true
}

// redissonTaken are permits taken at one time.
type redissonTaken struct {
	at int64 // ms
	n  int64
}

func decodeRedisson(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingLog.String()
	config := f.main()
	if config == nil {
		if !f.unread() {
			f.r.note("The limiter has no settings: until its rate is set every call is an error.")
		}
		return nil
	}
	most, ok1 := f.whole(config.Fields["rate"], "The rate")
	interval, ok2 := f.whole(config.Fields["interval"], "The interval")
	if !ok1 || !ok2 || most <= 0 || interval <= 0 || interval > math.MaxInt64/4/int64(1e6) {
		return nil
	}
	f.setLimit(limit.Spec{Algorithm: limit.SlidingLog, Limit: most, Window: time.Duration(interval) * time.Millisecond}, "state")
	if config.Fields["type"] == "1" {
		f.r.note("The limit is for each client: each has its own permits, under names that end in its id.")
	}
	taken, sum, ok := f.redissonLog()
	if !ok {
		return nil
	}
	left := most
	text, hasValue := f.text("value")
	if hasValue {
		if left, ok = f.whole(text, "The number of permits left"); !ok {
			return nil
		}
		switch {
		case left < 0:
			f.r.problem("negative", fmt.Sprintf("The permits left are below zero: %d.", left))
		case left > most:
			f.r.problem("above-capacity", fmt.Sprintf("%d permits are left, more than the rate of %d.", left, most))
		}
	} else if sum > 0 {
		f.r.problem("half-missing", "The number of permits left is missing: the next call finds all of them.")
	}
	free := func(at int64) int64 {
		if !hasValue {
			return most
		}
		back := int64(0)
		for _, t := range taken {
			if t.at <= at/1e6-interval {
				back += t.n
			}
		}
		if back > 0 && left+back > most {
			return most - (sum - back)
		}
		return left + back
	}
	used := most - free(f.now)
	f.r.Used = &used
	return &verdict{most: most, passes: func(at, cost int64) bool { return free(at) >= cost }}
}

// redissonLog are the permits taken, and their sum.
func (f *frame) redissonLog() (taken []redissonTaken, sum int64, ok bool) {
	e := f.keys["permits"]
	if e == nil || e.Type != "zset" || e.Problem != "" {
		return nil, 0, e == nil
	}
	if e.Truncated {
		f.r.problem("truncated", fmt.Sprintf("Permits were taken %d times, of which %d were read.", e.Len, len(e.Members)))
		return nil, 0, false
	}
	for _, m := range e.Members {
		n, err := redissonPermits(m.Name)
		if err != nil || math.Abs(m.Score) > 1e15 {
			f.unreadable(errors.New("its permits are not the length, the number and the ms that they should be"))
			return nil, 0, false
		}
		at := int64(m.Score)
		taken = append(taken, redissonTaken{at, n})
		sum = satAdd(sum, n)
		last := at * 1e6
		if f.r.LastUse == nil || *f.r.LastUse < last {
			f.r.LastUse = &last
		}
	}
	if f.r.LastUse != nil {
		f.ahead("The last call", *f.r.LastUse, 1e9)
	}
	return taken, sum, true
}

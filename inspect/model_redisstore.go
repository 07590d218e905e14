package inspect

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/limit"
)

// decodeGoRedisstore is a bucket that is filled at once at each tick of an
// interval, which began with the first call: s its start in ns, t the last
// tick's number, k what is left, m what is filled, i the interval in ns. It
// writes i at the first tick.
func decodeGoRedisstore(f *frame) *verdict {
	f.r.Algorithm = limit.FixedWindow.String()
	e := f.main()
	if f.unread() {
		return nil
	}
	most, each, known := f.window(limit.FixedWindow)
	if e == nil {
		if !known {
			return nil
		}
		return &verdict{most: most, passes: func(_, cost int64) bool { return cost <= most }}
	}
	start, ok := f.instant(e.Fields["s"], "The first interval's start")
	if !ok {
		return nil
	}
	last, left := int64(0), int64(math.MaxInt64)
	for name, to := range map[string]*int64{"t": &last, "k": &left, "m": &most} {
		if text, there := e.Fields[name]; there {
			if *to, ok = f.whole(text, "The field "+name); !ok {
				return nil
			}
		}
	}
	left = min(left, most)
	interval := int64(each)
	if text, there := e.Fields["i"]; there {
		if interval, ok = f.whole(text, "The interval"); !ok {
			return nil
		}
		known = true
	}
	f.r.Used = ptr(max(0, most-left))
	if !known || interval <= 0 || most <= 0 {
		f.r.note(fmt.Sprintf("%d of %d are left until the next tick; the interval is not in the state before the first tick is over.", left, most))
		return nil
	}
	from := "state"
	if _, there := e.Fields["i"]; !there {
		from = "told"
	}
	f.setLimit(limit.Spec{Algorithm: limit.FixedWindow, Limit: most, Window: time.Duration(interval)}, from)
	f.ahead("The first interval's start", start, 1e9)
	tick := func(at int64) int64 { return max(0, at-start) / interval }
	now := tick(f.now)
	begin := start + now*interval
	f.r.WindowStart, f.r.WindowEnd = &begin, ptr(begin+interval)
	if now > last {
		f.r.Used = ptr(int64(0))
	}
	return &verdict{most: most, passes: func(at, cost int64) bool {
		if tick(at) > last {
			return cost <= most
		}
		return cost <= left
	}}
}

func ptr[T any](v T) *T { return &v }

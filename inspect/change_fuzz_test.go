package inspect

import (
	"errors"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Whatever a state holds, an order is refused or leaves what it says: planning
// ends, and what is granted or drained passes or does not.
func FuzzChange(f *testing.F) {
	const now = int64(1795978030880559000)
	for i := range Builtin() {
		for how := range uint8(3) {
			f.Add(uint8(i), "1795978030", "0.5", 1795978030881.0, int64(time.Second), how, how, int64(3))
			f.Add(uint8(i), "3", "1795978030", 1795978030881.0, int64(time.Hour), how, how+1, int64(0))
			f.Add(uint8(i), "0", "9007199254740991", -1.0, int64(-1), how, how, int64(1<<50))
		}
	}
	limits := []string{"10/s,burst=20", "fixed-window:limit=10,window=60s", "", "1/100h,burst=2000", "sliding-counter:limit=1000000000000,window=1s"}
	f.Fuzz(func(t *testing.T, which uint8, a, b string, score float64, ttl int64, how, do uint8, n int64) {
		l := Builtin()[int(which)%len(Builtin())]
		var told *limit.Spec
		if text := limits[int(how)%len(limits)]; text != "" {
			s, err := limit.ParseSpec(text)
			if err != nil {
				t.Fatal(err)
			}
			told = &s
		}
		r, err := Decode(l, hostileEntries(l, a, b, score, ttl), now, told)
		if err != nil {
			return
		}
		o := Order{Action: Actions[int(do)%len(Actions)], Units: max(0, n), In: time.Minute}
		if o.Action == Grant {
			o.Units = max(1, n)
		}
		c, err := NewChange(&r, o, true)
		var refused *RefusedError
		switch {
		case errors.As(err, &refused):
			return
		case err != nil:
			t.Fatal(err)
		}
		c.Steps()
		if r.Remaining == nil || c.After.Remaining == nil {
			return
		}
		was, is := *r.Remaining, *c.After.Remaining
		switch {
		case o.Action == Grant && is != was+min(o.Units, *r.Capacity-was), o.Action == Reset && is != *c.After.Capacity,
			o.Action == Drain && o.Units == 0 && is != 0, o.Action == Drain && o.Units > 0 && is != was-min(o.Units, was):
			t.Errorf("%s: %+v of %d of %d left %d", l.Name, o, was, *r.Capacity, is)
		}
	})
}

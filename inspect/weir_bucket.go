package inspect

import (
	"fmt"
	"math/big"
	"time"

	"github.com/weir-cli/weir/limit"
)

// weir's own state, as docs/redis.md has it: whole numbers below 2^53, times in
// µs, and the numbers of the limit that wrote it.

const (
	weirMax  = 1<<53 - 1
	weirHeld = int64(time.Hour / time.Microsecond) // that a clock which stepped back holds a key up
)

// weirWhole reads a number of weir's state.
func weirWhole(s string) (int64, bool) {
	if s == "" || len(s) > 16 {
		return 0, false
	}
	n := int64(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, n <= weirMax
}

// weirFields reads the fields of the main key; nil for no key. ok is false
// when any is missing or unreadable.
func (f *frame) weirFields(names ...string) (map[string]int64, bool) {
	e := f.keys[f.layout.Keys[0].Role]
	if e == nil {
		return nil, true
	}
	v := map[string]int64{}
	for _, name := range names {
		n, ok := weirWhole(e.Fields[name])
		if !ok {
			f.r.problem("unreadable", fmt.Sprintf("The field %s is no whole number below 2^53: %s.", name, shownValue(e.Fields[name])))
			return nil, false
		}
		v[name] = n
	}
	return v, true
}

// weirUnreadable is the verdict on state that weir cannot read: all is used up
// as of now, and the next write replaces it.
func (f *frame) weirUnreadable(s *limit.Spec) *verdict {
	f.r.note("State that cannot be read counts as used up; the next call replaces it.")
	if s == nil {
		return nil
	}
	f.setLimit(*s, "told")
	r := &weirRoom{room: new(big.Int), t: f.now / 1000, grain: 1}
	if l, err := s.New(); err != nil || l == nil {
		return nil
	}
	switch s.Algorithm {
	case limit.FixedWindow, limit.SlidingCounter, limit.SlidingLog, limit.Concurrency:
		return nil
	}
	burst := s.Burst
	if s.Algorithm == limit.LeakyQueue {
		burst = s.Queue + 1
	}
	r.rate, r.burst = s.Rate, burst
	return &verdict{most: burst, passes: r.passes}
}

// weirRoom is what may still pass of a bucket: units of 1/grain of a token as
// of t µs, refilled at a rate up to a burst.
type weirRoom struct {
	room  *big.Int
	grain int64
	t     int64
	rate  limit.Rate
	burst int64
}

// scaled are the tokens at a time, as a fraction of whole numbers, not cut to
// the burst.
func (w *weirRoom) scaled(at int64) (n, of *big.Int) {
	of = new(big.Int).Mul(big.NewInt(w.grain), big.NewInt(int64(w.rate.Per)))
	n = new(big.Int).Mul(w.room, big.NewInt(int64(w.rate.Per)))
	if gone := at/1000 - w.t; gone > 0 {
		gained := new(big.Int).Mul(big.NewInt(gone), big.NewInt(1000))
		gained.Mul(gained, big.NewInt(w.rate.Units))
		n.Add(n, gained.Mul(gained, big.NewInt(w.grain)))
	}
	return n, of
}

func (w *weirRoom) passes(at, cost int64) bool {
	if cost > w.burst {
		return false
	}
	n, of := w.scaled(at)
	return n.Cmp(of.Mul(of, big.NewInt(cost))) >= 0
}

// tokens are those at a time, with their fraction.
func (w *weirRoom) tokens(at int64) float64 {
	n, of := w.scaled(at)
	t, _ := new(big.Rat).SetFrac(n, of).Float64()
	return min(t, float64(w.burst))
}

// decodeWeirBucket reads a token bucket, a GCRA, a leaky meter or a leaky
// queue; the last two keep the same fields.
func decodeWeirBucket(f *frame) *verdict {
	kind := limit.TokenBucket
	extra := []string{"n"}
	e := f.keys[f.layout.Keys[0].Role]
	if e != nil {
		if _, ok := e.Fields["a"]; ok {
			kind, extra = limit.GCRA, []string{"a", "f"}
		} else if _, ok := e.Fields["l"]; ok {
			kind, extra = limit.LeakyMeter, []string{"l"}
		}
	}
	if kind == limit.LeakyMeter && f.told != nil && f.told.Algorithm == limit.LeakyQueue {
		kind = limit.LeakyQueue
	}
	f.r.Algorithm = kind.String()
	v, ok := f.weirFields(append([]string{"g", "t", "b", "r"}, extra...)...)
	if ok && v != nil && (v["g"] == 0 || v["r"] == 0) {
		f.r.problem("unreadable", "The fields g and r are above zero in any state of weir's, and one is 0.")
		ok = false
	}
	if !ok {
		return f.weirUnreadable(f.told)
	}
	w := &weirRoom{room: new(big.Int), t: f.now / 1000, grain: 1}
	if v != nil {
		if w.room, ok = weirRoomOf(v, kind); !ok {
			f.r.problem("unreadable", "The numbers contradict each other.")
			return f.weirUnreadable(f.told)
		}
		w.grain, w.t, w.burst = v["g"], v["t"], v["b"]
		w.rate = niceRate(v["r"], v["g"])
	}
	if !f.weirRule(w, v, kind) {
		return nil
	}
	f.weirClock(w, v)
	// A changed burst cuts what there is; a queue keeps what it promised.
	if top := new(big.Int).Mul(big.NewInt(w.burst), big.NewInt(w.grain)); w.room.Cmp(top) > 0 {
		w.room = top
	}
	if v == nil {
		w.room = big.NewInt(w.burst)
	}
	verdict := &verdict{most: w.burst, passes: w.passes}
	f.held(verdict, w.tokens(f.now))
	return verdict
}

// weirRoomOf is the room of a state, and whether it can be right.
func weirRoomOf(v map[string]int64, kind limit.Algorithm) (*big.Int, bool) {
	top := new(big.Int).Mul(big.NewInt(v["b"]), big.NewInt(v["g"]))
	switch kind {
	case limit.GCRA:
		owed := new(big.Int).Mul(big.NewInt(v["a"]-v["t"]), big.NewInt(v["r"]))
		owed.Add(owed, big.NewInt(v["f"]))
		return new(big.Int).Sub(top, owed), v["a"] >= v["t"] && v["f"] < v["r"] && owed.Cmp(top) <= 0
	case limit.LeakyMeter, limit.LeakyQueue:
		return top.Sub(top, big.NewInt(v["l"])), true
	}
	return big.NewInt(v["n"]), true
}

// weirRule settles by which limit the state is judged: the one that is told,
// or its own.
func (f *frame) weirRule(w *weirRoom, v map[string]int64, kind limit.Algorithm) bool {
	own := limit.Spec{Algorithm: kind, Rate: w.rate, Burst: w.burst}
	if kind == limit.LeakyQueue {
		own.Burst, own.Queue = 0, w.burst-1
	}
	rate, burst, told := f.bucket()
	same := told && v != nil && rate.Units*int64(w.rate.Per) == w.rate.Units*int64(rate.Per) && burst == w.burst
	switch {
	case !told && v == nil:
		return false
	case !told || same:
		f.setLimit(own, "state")
		return w.burst > 0
	}
	if v != nil {
		f.r.problem("rule-changed", fmt.Sprintf("The state was last written under %s; by what was told it is read as the next call under that limit would.", own))
	}
	w.rate, w.burst = rate, burst
	spec := *f.told
	f.setLimit(spec, "told")
	return true
}

// weirClock treats a time of the last write that is ahead of now.
func (f *frame) weirClock(w *weirRoom, v map[string]int64) {
	if v == nil {
		return
	}
	at := v["t"] * 1000
	f.r.LastUse = &at
	ahead := w.t - f.now/1000
	if ahead <= 0 {
		return
	}
	f.r.problem("future", fmt.Sprintf("The last write is %s ahead of the server's clock, which has stepped back.", shownWait(ahead*1000)))
	if ahead > max(fillTime(w.rate, w.burst)/1000, weirHeld) {
		w.t = f.now / 1000
	}
}

// niceRate is r units of 1/g token a µs as a rate that people would write.
func niceRate(r, g int64) limit.Rate {
	d := new(big.Int).GCD(nil, nil, big.NewInt(r), new(big.Int).Mul(big.NewInt(g), big.NewInt(1000)))
	n := new(big.Int).Div(big.NewInt(r), d)
	per := new(big.Int).Div(new(big.Int).Mul(big.NewInt(g), big.NewInt(1000)), d)
	if !per.IsInt64() {
		return limit.Rate{Units: max(r, 1), Per: 1<<63 - 1}
	}
	rate := limit.Rate{Units: n.Int64(), Per: time.Duration(per.Int64())}
	for _, unit := range []time.Duration{time.Second, time.Minute, time.Hour, 24 * time.Hour} {
		if k := int64(unit / rate.Per); k > 0 && unit%rate.Per == 0 && rate.Units <= weirMax/k {
			return limit.Rate{Units: rate.Units * k, Per: unit}
		}
	}
	return rate
}

package inspect

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
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
	r := &weirRoom{t: f.now / 1000, grain: 1}
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
// of t µs, refilled at a rate up to a burst. gain is that rate in units a µs
// where it is the state's own; 0 where another was told.
type weirRoom struct {
	room, grain, gain int64
	t                 int64
	rate              limit.Rate
	burst             int64
}

// due is how many µs after t a call of cost passes.
func (w *weirRoom) due(cost int64) int64 {
	hi, lo := bits.Mul64(uint64(cost), uint64(w.grain))
	if hi != 0 || lo > 1<<62 {
		return math.MaxInt64
	}
	need := int64(lo) - w.room // the room is at least -2^54
	switch {
	case need <= 0:
		return math.MinInt64
	case w.gain > 0:
		return (need-1)/w.gain + 1
	}
	// need units of 1/grain at Units a Per ns, in µs, rounded up.
	n := new(big.Int).Mul(big.NewInt(need), big.NewInt(int64(w.rate.Per)))
	d := new(big.Int).Mul(big.NewInt(w.grain), big.NewInt(w.rate.Units))
	d.Mul(d, big.NewInt(1000))
	n.Sub(n.Add(n, d), big.NewInt(1)).Div(n, d)
	if !n.IsInt64() {
		return math.MaxInt64
	}
	return n.Int64()
}

func (w *weirRoom) passes(at, cost int64) bool {
	if cost > w.burst {
		return false
	}
	due := w.due(cost)
	return due == math.MinInt64 || at/1000-w.t >= due && due != math.MaxInt64
}

// tokens are those at a time, with their fraction.
func (w *weirRoom) tokens(at int64) float64 {
	gone := float64(max(0, at/1000-w.t)) * 1000
	return min(float64(w.room)/float64(w.grain)+gone*float64(w.rate.Units)/float64(w.rate.Per), float64(w.burst))
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
	w := &weirRoom{t: f.now / 1000, grain: 1}
	if v != nil {
		if w.room, ok = weirRoomOf(v, kind); !ok {
			f.r.problem("unreadable", "The numbers contradict each other.")
			return f.weirUnreadable(f.told)
		}
		w.grain, w.gain, w.t, w.burst = v["g"], v["r"], v["t"], v["b"]
		w.rate = niceRate(v["r"], v["g"])
	}
	if !f.weirRule(w, v, kind) {
		return nil
	}
	f.weirClock(w, v)
	// A changed burst cuts what there is; a queue keeps what it promised.
	if hi, lo := bits.Mul64(uint64(w.burst), uint64(w.grain)); hi == 0 && lo < uint64(math.MaxInt64) {
		w.room = min(w.room, int64(lo))
	}
	if v == nil {
		w.room = w.burst
	}
	verdict := &verdict{most: w.burst, passes: w.passes}
	f.held(verdict, w.tokens(f.now))
	return verdict
}

// weirRoomOf is the room of a state, and whether it can be right.
func weirRoomOf(v map[string]int64, kind limit.Algorithm) (int64, bool) {
	if kind == limit.TokenBucket {
		return v["n"], true
	}
	hi, lo := bits.Mul64(uint64(v["b"]), uint64(v["g"]))
	if hi != 0 || lo > weirMax {
		return 0, false
	}
	top := int64(lo)
	if kind == limit.GCRA {
		ahead := v["a"] - v["t"]
		if ahead < 0 || v["f"] >= v["r"] || ahead > top/v["r"] {
			return 0, false
		}
		owed := ahead*v["r"] + v["f"]
		return top - owed, owed <= top
	}
	return top - v["l"], true
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
	w.rate, w.burst, w.gain = rate, burst, 0
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

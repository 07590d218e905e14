package limit_test

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
)

func TestMilliMeterSteps(t *testing.T) {
	l := build(t, limit.Spec{Algorithm: limit.LeakyMeter, Rate: limit.Rate{Units: 10, Per: time.Second}, Burst: 2, Millis: true})
	var s limit.State
	for i, step := range []struct {
		now, cost int64
		want      limit.Decision
	}{
		{0, 0, limit.Decision{OK: true, Limit: 3, Remaining: 3}},
		{900_000, 1, limit.Decision{OK: true, Limit: 3, Remaining: 2, ResetAfter: 100*time.Millisecond - 900_000}}, // excess 0
		{900_001, 1, limit.Decision{OK: true, Limit: 3, Remaining: 1, ResetAfter: 200*time.Millisecond - 900_001}}, // 1000
		{999_999, 1, limit.Decision{OK: true, Limit: 3, Remaining: 0, ResetAfter: 300*time.Millisecond - 999_999}}, // 2000
		{999_999, 1, limit.Decision{Limit: 3, RetryAfter: 100*time.Millisecond - 999_999, ResetAfter: 300*time.Millisecond - 999_999}},
		// A refusal changes nothing, so the millisecond counts from 0.
		{100*ms - 1, 1, limit.Decision{Limit: 3, RetryAfter: 1, ResetAfter: 200*time.Millisecond + 1}},
		{100 * ms, 1, limit.Decision{OK: true, Limit: 3, Remaining: 0, ResetAfter: 300 * time.Millisecond}},
		{100 * ms, 4, limit.Decision{Limit: 3, RetryAfter: limit.Never, ResetAfter: 300 * time.Millisecond}},
		{50 * ms, 1, limit.Decision{Limit: 3, RetryAfter: 150 * time.Millisecond, ResetAfter: 350 * time.Millisecond}}, // a clock behind
		{400 * ms, 3, limit.Decision{OK: true, Limit: 3, Remaining: 0, ResetAfter: 300 * time.Millisecond}},
	} {
		if d := l.Take(&s, step.now, step.cost); d != step.want {
			t.Errorf("step %d: %+v, want %+v", i, d, step.want)
		}
	}
	if l.Fresh(&s, 700*ms-1) || !l.Fresh(&s, 700*ms) {
		t.Error("not fresh exactly from its reset on")
	}
}

// The rule as it is written: the first call leaves an excess of 0, each later
// one max(0, excess - rate*elapsed_ms + 1000), refused above 1000*burst.
func TestMilliMeterRule(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	thousand := big.NewRat(1000, 1)
	for range 300 {
		spec := limit.Spec{
			Algorithm: limit.LeakyMeter, Millis: true,
			Rate:  limit.Rate{Units: 1 + rnd.Int64N(50), Per: time.Second * time.Duration(1+rnd.IntN(7))},
			Burst: 1 + rnd.Int64N(20),
		}
		l := build(t, spec)
		perMilli := big.NewRat(spec.Rate.Units*int64(time.Second), int64(spec.Rate.Per))
		top := new(big.Rat).Mul(big.NewRat(spec.Burst, 1), thousand)
		var s limit.State
		var excess *big.Rat
		var last int64
		now := int64(0)
		admit := func(at int64) (ok bool, next *big.Rat) {
			next = new(big.Rat)
			if excess != nil {
				next.Mul(perMilli, big.NewRat(at/ms-last, 1))
				next.Sub(excess, next).Add(next, thousand)
				if next.Sign() < 0 {
					next = new(big.Rat)
				}
			}
			return next.Cmp(top) <= 0, next
		}
		for i := range 500 {
			now += rnd.Int64N(2 * int64(spec.Rate.Per) / spec.Rate.Units)
			ok, next := admit(now)
			d := l.Take(&s, now, 1)
			if d.OK != ok {
				t.Fatalf("%v, call %d at %d: %+v, the excess is %v of %v", spec, i, now, d, next, top)
			}
			if ok {
				excess, last = next, now/ms
				continue
			}
			wait := int64(d.RetryAfter)
			if early, _ := admit(now + wait - 1); early {
				t.Fatalf("%v: %v is too long", spec, d.RetryAfter)
			}
			if late, _ := admit(now + wait); !late {
				t.Fatalf("%v: %v is too short", spec, d.RetryAfter)
			}
		}
	}
}

func TestMilliMeterTooFine(t *testing.T) {
	for _, spec := range []limit.Spec{
		{Rate: limit.Rate{Units: 1, Per: 1 << 62}, Burst: 1},
		{Rate: limit.Rate{Units: 1 << 62, Per: 3}, Burst: 1},
		{Rate: limit.Rate{Units: 1, Per: time.Second}, Burst: 1<<63 - 1},
	} {
		spec.Algorithm, spec.Millis = limit.LeakyMeter, true
		if err := spec.Validate(); err == nil {
			t.Errorf("%+v is taken", spec)
		}
	}
}

// FuzzMilliMeterAnyInstant goes to the ends of time and of the rates.
func FuzzMilliMeterAnyInstant(f *testing.F) {
	f.Add(int64(10), int64(time.Second), int64(20), int64(-1<<63), int64(1<<63-1), int64(3))
	f.Add(int64(1), int64(1)<<61, int64(1), int64(0), int64(1), int64(2))
	f.Fuzz(func(t *testing.T, units, per, burst, t1, t2, cost int64) {
		l, err := limit.Spec{Algorithm: limit.LeakyMeter, Millis: true, Rate: limit.Rate{Units: units, Per: time.Duration(per)}, Burst: burst}.New()
		if err != nil {
			return
		}
		var s limit.State
		for _, now := range []int64{t1, t2, t1, t2, t2} {
			d := l.Take(&s, now, cost)
			if d.Remaining < 0 || d.Remaining > d.Limit || d.RetryAfter < limit.Never || d.ResetAfter < 0 || d.OK != (d.RetryAfter == 0) {
				t.Fatalf("%+v", d)
			}
		}
	})
}

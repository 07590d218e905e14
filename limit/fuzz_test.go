package limit_test

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/limittest"
)

// FuzzLimiters runs any spec over any trace beside the reference. A trace is
// four bytes a call: what to do with the clock and by how much, then the cost.
func FuzzLimiters(f *testing.F) {
	trace := []byte{0, 0, 0, 1, 0, 0, 0, 5, 1, 1, 0, 1, 2, 1, 0, 2, 3, 9, 0, 1, 1, 0, 4, 1, 0, 0, 0, 0, 4, 200, 3, 1, 0, 0, 0, 255, 5, 0, 0, 1, 6, 0, 0, 1, 7, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}
	for a := range limit.Algorithms() {
		f.Add(uint8(a), int64(10), int64(time.Second), int64(20), int64(0), trace)
		f.Add(uint8(a), int64(7), int64(24*time.Hour), int64(3), int64(-1), trace)
		f.Add(uint8(a), int64(1_000_000_007), int64(998_244_353), int64(1_000_000), int64(1<<60), trace)
	}
	f.Fuzz(func(t *testing.T, a uint8, units, per, size, start int64, trace []byte) {
		spec := limit.Spec{Algorithm: limit.Algorithm(a)}
		switch spec.Algorithm {
		case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
			spec.Rate, spec.Burst = limit.Rate{Units: units, Per: time.Duration(per)}, size
			spec.Follow = spec.Algorithm == limit.TokenBucket && start&1 == 1
		case limit.LeakyQueue:
			spec.Rate, spec.Queue = limit.Rate{Units: units, Per: time.Duration(per)}, size%32
		case limit.FixedWindow, limit.SlidingLog, limit.SlidingCounter:
			spec.Limit, spec.Window = size, time.Duration(per)
		default:
			spec.Limit = size
		}
		l, err := spec.New()
		if err != nil {
			return
		}
		var s limit.State
		ref := limittest.NewReference(spec)
		unit := per
		if spec.Rate.Units > 0 {
			unit = max(1, per/units)
		}
		now := start % (1 << 60)
		top := l.Take(&s, now, 0).Limit
		for i := 0; i+4 <= len(trace) && i < 4*64; i += 4 {
			how, by, cost := trace[i], int64(binary.BigEndian.Uint16(trace[i+1:])), int64(int8(trace[i+3]))
			switch how % 8 {
			case 1:
				now += by
			case 2:
				now += unit
			case 3:
				now += unit / 256 * by
			case 4:
				now += unit * (by % 16)
			case 5:
				now -= by
			case 6:
				now -= unit / 256 * by
			case 7:
				now += unit - 1
			}
			now %= 1 << 60
			if how&8 != 0 {
				cost = top - cost
			}
			if how&16 != 0 {
				if r, ok := l.(limit.Releaser); ok {
					r.Release(&s, now, cost)
					ref.Release("k", now, cost)
				}
			}
			copied := s.Clone()
			got := l.Take(&s, now, cost)
			want, _ := ref.Take("k", now, cost)
			if got != want {
				t.Fatalf("%v, call %d, cost %d at %d:\n got %+v\nwant %+v", spec, i/4, cost, now, got, want)
			}
			if again := l.Take(&copied, now, cost); again != got {
				t.Fatalf("%v: a clone decides %+v, not %+v", spec, again, got)
			}
			if l.Fresh(&s, now) {
				// What is fresh decides like a key never seen.
				var fresh limit.State
				if a, b := l.Take(&copied, now, 0), l.Take(&fresh, now, 0); a != b {
					t.Fatalf("%v: fresh at %d but finds %+v, not %+v", spec, now, a, b)
				}
			}
		}
	})
}

// FuzzLimitersAnyInstant looks for panics, overflow and free tokens at the ends
// of time, where the reference does not go.
func FuzzLimitersAnyInstant(f *testing.F) {
	for a := range limit.Algorithms() {
		f.Add(uint8(a), int64(3), int64(time.Second), int64(20), int64(-1<<63), int64(1<<63-1), int64(5))
	}
	f.Fuzz(func(t *testing.T, a uint8, units, per, size, t1, t2, cost int64) {
		spec := limit.Spec{Algorithm: limit.Algorithm(a)}
		switch spec.Algorithm {
		case limit.TokenBucket, limit.GCRA, limit.LeakyMeter:
			spec.Rate, spec.Burst = limit.Rate{Units: units, Per: time.Duration(per)}, size
		case limit.LeakyQueue:
			spec.Rate, spec.Queue = limit.Rate{Units: units, Per: time.Duration(per)}, size
		case limit.FixedWindow, limit.SlidingLog, limit.SlidingCounter:
			spec.Limit, spec.Window = size, time.Duration(per)
		default:
			spec.Limit = size
		}
		l, err := spec.New()
		if err != nil {
			return
		}
		var s limit.State
		high := min(t1, t2)
		level := int64(0) // passed at the highest instant so far
		for _, now := range []int64{t1, t2, t1, t2, t2} {
			if now > high {
				high, level = now, 0
			}
			d := l.Take(&s, now, cost)
			if d.OK {
				level += max(0, cost)
			}
			if d.Limit < 1 || level > d.Limit || d.Remaining < 0 || d.Remaining > d.Limit || d.RetryAfter < limit.Unknown || d.ResetAfter < limit.Unknown || d.Delay < 0 || d.OK != (d.RetryAfter == 0) {
				t.Fatalf("%v, cost %d at %d: %+v with %d passed at %d", spec, cost, now, d, level, high)
			}
			l.Fresh(&s, now)
		}
	})
}

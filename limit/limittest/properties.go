package limittest

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weir-cli/weir/limit"
)

// firstUse: a key never seen is full, whatever the clock says.
func (s Suite) firstUse(t *testing.T, spec limit.Spec) {
	instants := []int64{s.Epoch, s.Epoch + scale(spec)/s.grain()*s.grain()*1000}
	if s.Epoch == 0 {
		instants = append(instants, -1, -scale(spec), math.MinInt64, math.MaxInt64)
	}
	m := s.make(t, spec)
	for _, now := range instants {
		key := fmt.Sprint("first-", now)
		if d := m.take(key, now, 0); !d.OK || d.Remaining != most(spec) || d.ResetAfter != 0 {
			t.Errorf("a peek at %d finds %+v", now, d)
		}
		if d := m.take(key, now, most(spec)); !d.OK || d.Remaining != 0 {
			t.Errorf("all of it at %d: %+v", now, d)
		}
		if d := m.take(key, now, 1); d.OK {
			t.Errorf("one more at %d passed", now)
		}
	}
}

// impossibleCost: what can never pass gets Never and takes nothing.
func (s Suite) impossibleCost(t *testing.T, spec limit.Spec) {
	m := s.make(t, spec)
	now, top := s.Epoch, most(spec)
	for _, cost := range []int64{top + 1, math.MaxInt64, -1, math.MinInt64} {
		d := m.take("k", now, cost)
		if d.OK || d.RetryAfter != limit.Never || d.Remaining != top {
			t.Errorf("cost %d: %+v", cost, d)
		}
	}
	if d := m.take("k", now, top); !d.OK {
		t.Errorf("the highest cost after refusals: %+v", d)
	}
}

// reference: random traces, clocks that step back among them, decided as the
// reference decides, every field.
func (s Suite) reference(t *testing.T, spec limit.Spec) {
	for seed := range uint64(4) {
		m := s.make(t, spec)
		ref := must{t, NewReference(spec)}
		calls := s.traffic(spec, seed, 400, seed%2 == 1)
		s.compare(t, m, ref, calls)
	}
}

// compare runs one trace through both and ends at the first difference.
func (s Suite) compare(t *testing.T, m, ref must, calls []call) {
	t.Helper()
	for i, c := range calls {
		if c.release {
			m.release("k", c.at, c.cost)
			ref.release("k", c.at, c.cost)
			continue
		}
		got, want := m.take("k", c.at, c.cost), ref.take("k", c.at, c.cost)
		if !s.equal(got, want) {
			from := max(0, i-10)
			t.Fatalf("call %d, cost %d at %d:\n got %+v\nwant %+v\nafter %+v", i, c.cost, c.at, got, want, calls[from:i])
		}
	}
}

// twins: an algorithm that decides like the token bucket, call by call.
func (s Suite) twins(t *testing.T, twin limit.Algorithm) {
	for _, text := range specs[limit.TokenBucket] {
		spec := mustParse(t, text)
		other := spec
		other.Algorithm = twin
		for seed := range uint64(4) {
			s.compare(t, s.make(t, other), s.make(t, spec), s.traffic(spec, 100+seed, 400, seed%2 == 1))
		}
	}
}

// waits: a refused call that comes back after RetryAfter passes, one grain
// earlier it does not, and after ResetAfter the key is as if never used.
func (s Suite) waits(t *testing.T, spec limit.Spec) {
	for seed := range uint64(2) {
		m := s.make(t, spec)
		calls := s.traffic(spec, 200+seed, 200, seed%2 == 1)
		shift, tried := int64(0), 0
		for i, c := range calls {
			now := c.at + shift
			d := m.take("k", now, c.cost)
			if d.OK || d.RetryAfter == limit.Never {
				if d.OK != (d.RetryAfter == 0) {
					t.Fatalf("call %d: %+v", i, d)
				}
				continue
			}
			if d.RetryAfter <= 0 {
				t.Fatalf("call %d is refused without a wait: %+v", i, d)
			}
			tried++
			if early := int64(d.RetryAfter) - s.grain(); early > 0 {
				if e := m.take("k", now+early, c.cost); e.OK {
					t.Fatalf("call %d, cost %d at %d: told to wait %v, passed a grain earlier", i, c.cost, now, d.RetryAfter)
				}
			}
			now += int64(d.RetryAfter)
			d = m.take("k", now, c.cost)
			if !d.OK {
				t.Fatalf("call %d, cost %d: refused at %d after the wait it was told: %+v", i, c.cost, now, d)
			}
			if tried%5 == 0 {
				now += int64(d.ResetAfter)
				if p := m.take("k", now, 0); p.Remaining != p.Limit || p.ResetAfter != 0 || p.Delay != 0 {
					t.Fatalf("call %d: not as new at %d after its reset: %+v", i, now, p)
				}
			}
			shift = now - c.at
		}
		if tried < 10 {
			t.Fatalf("only %d waits tried", tried)
		}
	}
}

// clockBack: whatever a clock does, no more passes than the highest time it has
// shown pays for.
func (s Suite) clockBack(t *testing.T, spec limit.Spec) {
	m := s.make(t, spec)
	unit, top := max(scale(spec), s.grain()), most(spec)
	unit -= unit % s.grain()
	start := s.Epoch + 1000*unit
	// Empty it, then go over the same ten units of time again and again. Every
	// algorithm here brings at most top per unit when unit is a window, and
	// one when it is a token's time.
	passed := int64(0)
	for round := range int64(10) {
		for i := range int64(20) {
			if m.take("k", start+i*unit/2/s.grain()*s.grain()-round*unit, 1).OK {
				passed++
			}
		}
	}
	bound := top + 10
	if spec.Window > 0 {
		bound = 11 * top
	}
	if passed > bound {
		t.Errorf("%d passed in ten units of time told ten times, at most %d may", passed, bound)
	}
	if s.Epoch != 0 {
		return
	}
	passed = 0
	for _, now := range []int64{math.MaxInt64, math.MinInt64, 0, math.MaxInt64 - 1, -1, math.MinInt64 + 1, math.MaxInt64} {
		for range 2 * top {
			if m.take("ends", now, 1).OK {
				passed++
			}
		}
	}
	if passed != top {
		t.Errorf("%d passed at both ends of time, want %d", passed, top)
	}
}

// race: sixteen goroutines at one key admit exactly what there is.
func (s Suite) race(t *testing.T, spec limit.Spec) {
	tk := s.New(t, spec)
	var passed atomic.Int64
	var failed atomic.Pointer[error]
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 20 {
				d, err := tk.Take("contended", s.Epoch, 1)
				if err != nil {
					failed.Store(&err)
					return
				}
				if d.OK {
					passed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		t.Fatal(*err)
	}
	if got := passed.Load(); got != most(spec) {
		t.Errorf("%d of 320 racing calls passed, want %d", got, most(spec))
	}
}

// separateKeys: one key's calls are nothing to another.
func (s Suite) separateKeys(t *testing.T) {
	m := s.make(t, mustParse(t, "1/s,burst=2"))
	for _, key := range []string{"a", "b", "ab", "", "a\x00", "A"} {
		for i, want := range []bool{true, true, false} {
			if d := m.take(key, s.Epoch, 1); d.OK != want {
				t.Errorf("call %d of key %q: %+v", i, key, d)
			}
		}
	}
}

package limit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestSlots(t *testing.T) {
	const ms = int64(time.Millisecond)
	exact := SlotPace{Step: 100 * time.Millisecond, Burst: 20}
	seconds := exact
	seconds.Grain = time.Second
	for _, tt := range []struct {
		name  string
		pace  SlotPace
		steps []struct {
			at, cost, exact, want int64 // ms
			why                   string
		}
	}{
		{"exact", exact, []struct {
			at, cost, exact, want int64
			why                   string
		}{
			{0, 1, 40, 40, "the first gets the next token"},
			{0, 1, 40, 140, "the second the one after it"},
			{10, 1, 30, 230, "told from now on"},
			{10, 5, 430, 730, "five tokens come after the third slot"},
			{20, 1, 20, 820, "and the next token after those"},
			{830, 1, 70, 110, "its slot at 840 is still to come"},
			{2000, 1, 60, 60, "all slots are over: the line is forgotten"},
			{2000, 1, 500, 500, "others took the tokens meanwhile: never before the exact wait"},
			{2000, 1, 500, 600, ""},
		}},
		{"whole seconds", seconds, []struct {
			at, cost, exact, want int64
			why                   string
		}{
			{0, 1, 40, 1000, "rounded up"},
			{0, 1, 40, 1000, "ten tokens come in a second"},
			{0, 7, 640, 1000, "these too, which makes nine"},
			{0, 1, 40, 1000, "ten"},
			{0, 1, 40, 2000, "the eleventh is a second later"},
			{500, 1, 40, 1000, "half a second later five more have come"},
			{500, 5, 440, 2000, "but not nine"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := NewSlots[string](10)
			for i, st := range tt.steps {
				got := s.Reserve("k", st.at*ms, st.cost, time.Duration(st.exact*ms), tt.pace)
				if got != time.Duration(st.want*ms) {
					t.Fatalf("step %d at %d ms: %v, want %d ms: %s", i, st.at, got, st.want, st.why)
				}
			}
		})
	}
}

// A herd that is refused together and comes back as told passes, each at its
// first return, whatever the costs and the grain; no wait is below the exact
// one, and without a grain the slots are spaced at the rate.
func TestSlotsServeAHerd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		spec := Spec{Rate: Rate{Units: 1 + r.Int64N(200), Per: time.Second}, Burst: 1 + r.Int64N(150)}
		pace := SlotPace{Step: (spec.Rate.Per + time.Duration(spec.Rate.Units) - 1) / time.Duration(spec.Rate.Units),
			Burst: spec.Burst, Reach: time.Hour}
		if round%2 == 1 {
			pace.Grain = time.Second
		}
		t.Run(fmt.Sprintf("%d %v grain %v", round, spec, pace.Grain), func(t *testing.T) {
			l, err := spec.New()
			if err != nil {
				t.Fatal(err)
			}
			type slot struct{ at, cost int64 }
			var (
				state State
				slots []slot
				now   = int64(1e15)
				end   int64
			)
			if d := l.Take(&state, now, spec.Burst); !d.OK {
				t.Fatal(d)
			}
			line := NewSlots[int](1)
			for range 300 {
				// All first calls come before the first token, so that
				// nobody takes what was reserved.
				if end == 0 || now+1000 < end {
					now += r.Int64N(1000)
				}
				cost := 1 + r.Int64N(min(spec.Burst, 3))
				d := l.Take(&state, now, cost)
				if d.OK {
					t.Fatal("an empty bucket admits")
				}
				if end == 0 || now+int64(d.RetryAfter) < end {
					end = now + int64(d.RetryAfter)
				}
				w := line.Reserve(7, now, cost, d.RetryAfter, pace)
				if w < d.RetryAfter {
					t.Fatalf("slot in %v, before the exact wait of %v", w, d.RetryAfter)
				}
				if pace.Grain > 0 && w%pace.Grain != 0 {
					t.Fatalf("slot in %v is no multiple of %v", w, pace.Grain)
				}
				slots = append(slots, slot{now + int64(w), cost})
			}
			slices.SortStableFunc(slots, func(a, b slot) int { return int(min(1, max(-1, a.at-b.at))) })
			for i, s := range slots {
				if pace.Grain == 0 && i > 0 && s.at-slots[i-1].at < s.cost*int64(pace.Step) {
					t.Fatalf("slots %d and %d are %d ns apart, closer than %d units", i-1, i, s.at-slots[i-1].at, s.cost)
				}
				if d := l.Take(&state, s.at, s.cost); !d.OK {
					t.Fatalf("caller %d of %d was refused at its slot, for %v", i, len(slots), d.RetryAfter)
				}
			}
		})
	}
}

func TestSlotsAreBounded(t *testing.T) {
	p := SlotPace{Step: time.Second, Burst: 5}
	s := NewSlots[int](2000)
	for k := range 10_000 {
		s.Reserve(k, 0, 1, time.Second, p)
	}
	if s.Len() != 2000 {
		t.Errorf("%d keys, want 2000", s.Len())
	}
	if a, b := s.Reserve(9999, 0, 1, time.Second, p), s.Reserve(9999, 0, 1, time.Second, p); a != time.Second || b != a {
		t.Errorf("a key without room waits %v, then %v; want the exact wait", a, b)
	}
	// Once the slots are over their keys make room.
	for k := range 4000 {
		s.Reserve(100_000+k, int64(time.Hour), 1, time.Second, p)
	}
	if a := s.Reserve(100_001, int64(time.Hour), 1, time.Second, p); a != 2*time.Second || s.Len() > 2000 {
		t.Errorf("a key with room waits %v among %d, want 2s", a, s.Len())
	}
}

// Callers who do not come as told cannot push the others' slots away for ever.
func TestSlotsReach(t *testing.T) {
	s := NewSlots[string](1)
	p := SlotPace{Step: time.Second, Burst: 1, Reach: 10 * time.Second}
	var most time.Duration
	firsts := 0
	for range 1000 {
		w := s.Reserve("k", 0, 1, time.Second, p)
		most = max(most, w)
		if w == time.Second {
			firsts++
		}
	}
	if most != 11*time.Second || firsts < 1000/12 || firsts > 1000/10 {
		t.Errorf("longest wait %v, the first slot handed out %d times", most, firsts)
	}
}

// Nothing that a limiter or a clock can say makes a wait shorter or negative.
func FuzzSlots(f *testing.F) {
	f.Add(int64(0), int64(1), int64(1e9), int64(1e7), int64(20), int64(1e9), int64(0))
	f.Add(int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(1), int64(1), int64(1), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, now, cost, exact, step, burst, grain, later int64) {
		s := NewSlots[int](1)
		p := SlotPace{Step: time.Duration(step), Burst: burst, Grain: time.Duration(grain)}
		for _, at := range []int64{now, now, later} {
			w := s.Reserve(0, at, cost, time.Duration(exact), p)
			if w < time.Duration(exact) {
				t.Fatalf("slot in %d, exact wait %d", w, exact)
			}
		}
	})
}

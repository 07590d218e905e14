package load

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Calls come out exactly when due and in order, however far ahead they were
// filed: within a slot, a turn, several turns, beyond the wheel's reach.
func TestWheelKeepsOrder(t *testing.T) {
	reaches := []int64{100, slotNS, 3 * slotNS, turnNS, 5 * turnNS, slots * turnNS, 3 * slots * turnNS}
	for _, reach := range reaches {
		r := rand.New(rand.NewPCG(1, uint64(reach)))
		var table callTable
		w := newWheel(&table.calls, 0)
		var want []int64
		file := func(now int64) {
			i := table.get()
			table.calls[i].due = now + r.Int64N(reach)
			w.add(i)
			want = append(want, table.calls[i].due)
		}
		for range 300 {
			file(0)
		}
		var got []int64
		now := int64(0)
		for w.n > 0 {
			wake, ok := w.wake()
			if !ok {
				t.Fatal("a wheel with calls in it knows no wake")
			}
			now = max(now, wake)
			for {
				i, ok := w.pop(now)
				if !ok {
					break
				}
				if due := table.calls[i].due; due > now {
					t.Fatalf("reach %d: popped at %d what is due at %d", reach, now, due)
				}
				got = append(got, table.calls[i].due)
				table.put(i)
				if len(want) < 900 {
					file(now)
				}
			}
		}
		// Nothing was late by more than the wake that found it, so the order
		// in which calls came out is the order of their due times.
		if !slices.IsSorted(got) {
			t.Errorf("reach %d: out of order", reach)
		}
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("reach %d: %d filed, %d came out", reach, len(want), len(got))
		}
	}
}

// A wake never lies after the earliest due time.
func TestWheelWakesInTime(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		var table callTable
		now := r.Int64N(3 * turnNS)
		w := newWheel(&table.calls, now)
		first := int64(1 << 62)
		for range 1 + r.IntN(5) {
			i := table.get()
			due := now + r.Int64N(1<<(10+r.IntN(45)))
			table.calls[i].due = due
			first = min(first, due)
			w.add(i)
		}
		if wake, ok := w.wake(); !ok || wake > first {
			t.Fatalf("wake %d, first due %d", wake, first)
		}
	}
}

func BenchmarkWheel(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	var table callTable
	w := newWheel(&table.calls, 0)
	for range 100_000 {
		i := table.get()
		table.calls[i].due = r.Int64N(int64(1e9))
		w.add(i)
	}
	now := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		for {
			i, ok := w.pop(now)
			if ok {
				table.calls[i].due = now + r.Int64N(int64(1e9))
				w.add(i)
				break
			}
			now, _ = w.wake()
		}
	}
}

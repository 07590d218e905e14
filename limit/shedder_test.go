package limit

import (
	"container/heap"
	"errors"
	"math/rand/v2"
	"testing"
	"time"
)

func TestShedderFixed(t *testing.T) {
	s, err := NewShedder(ShedSpec{Least: 2, Most: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, false, false} {
		if got := s.Enter(0); got != want {
			t.Fatalf("call %d: %t", i, got)
		}
	}
	// However slow, a cap that was given stays.
	for range 100 {
		s.Leave(int64(time.Hour), time.Hour, true)
		if !s.Enter(int64(time.Hour)) {
			t.Fatal("a place that was left is not free")
		}
	}
	if s.Cap() != 2 || s.InFlight() != 2 {
		t.Errorf("cap %d, in flight %d", s.Cap(), s.InFlight())
	}
}

func TestShedderSpec(t *testing.T) {
	for _, bad := range []ShedSpec{{Least: -1}, {Least: 5, Most: 4}, {Most: MaxInFlight + 1}, {Least: 1, Most: -1}} {
		var spec *SpecError
		if _, err := NewShedder(bad); !errors.As(err, &spec) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	s, err := NewShedder(ShedSpec{Most: 10})
	if err != nil || s.Cap() != 10 {
		t.Errorf("begins at %v, %v; want the most", s.Cap(), err)
	}
}

// upstream is a server of some workers in front of an endless queue, in
// virtual time.
type upstream struct {
	shed     *Shedder // nil lets everything in
	free     []int64  // when each worker is free
	service  int64
	inflight doneHeap
	done     int64
	sum      int64
	shedded  int64
}

type doneCall struct{ at, began int64 }
type doneHeap []doneCall

func (h doneHeap) Len() int           { return len(h) }
func (h doneHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h doneHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *doneHeap) Push(x any)        { *h = append(*h, x.(doneCall)) }
func (h *doneHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (u *upstream) until(now int64) {
	for len(u.inflight) > 0 && u.inflight[0].at <= now {
		c := heap.Pop(&u.inflight).(doneCall)
		u.done++
		u.sum += c.at - c.began
		if u.shed != nil {
			u.shed.Leave(c.at, time.Duration(c.at-c.began), false)
		}
	}
}

func (u *upstream) call(now int64) {
	u.until(now)
	if u.shed != nil && !u.shed.Enter(now) {
		u.shedded++
		return
	}
	first := 0
	for i, f := range u.free {
		if f < u.free[first] {
			first = i
		}
	}
	u.free[first] = max(u.free[first], now) + u.service
	heap.Push(&u.inflight, doneCall{u.free[first], now})
}

// run offers perSecond calls at random instants and returns what was answered
// a second and the mean time of an answer.
func (u *upstream) run(r *rand.Rand, from, length int64, perSecond int64) (rate float64, mean time.Duration) {
	u.done, u.sum, u.shedded = 0, 0, 0
	now := from
	for now < from+length {
		u.call(now)
		now += int64(r.ExpFloat64() * float64(int64(time.Second)/perSecond))
	}
	u.until(from + length)
	return float64(u.done) / (float64(length) / 1e9), time.Duration(u.sum / max(1, u.done))
}

// An upstream of ten workers that take 10 ms each: 1,000 calls a second.
func TestShedderFollowsItsUpstream(t *testing.T) {
	const s, ms = int64(time.Second), int64(time.Millisecond)
	r := rand.New(rand.NewPCG(1, 2))
	shed, err := NewShedder(ShedSpec{})
	if err != nil {
		t.Fatal(err)
	}
	u := &upstream{shed: shed, free: make([]int64, 10), service: 10 * ms}
	type bounds struct {
		rate       float64 // at least
		mean       time.Duration
		shedAtMost int64
		shedsSome  bool
	}
	now := int64(0)
	step := func(name string, seconds, offered int64, want bounds) {
		t.Helper()
		u.run(r, now, 10*s, offered) // to settle in
		rate, mean := u.run(r, now+10*s, seconds*s, offered)
		now += (10 + seconds) * s
		t.Logf("%s: %.0f/s in %v, %d shed, cap %d", name, rate, mean, u.shedded, shed.Cap())
		if rate < want.rate || mean > want.mean || u.shedded > want.shedAtMost || want.shedsSome && u.shedded == 0 {
			t.Errorf("%s: %.0f/s in %v, %d shed, cap %d; want %+v", name, rate, mean, u.shedded, shed.Cap(), want)
		}
	}
	const any = 1 << 40
	step("half its capacity", 10, 500, bounds{rate: 475, mean: 12 * time.Millisecond})
	step("three times its capacity", 10, 3000, bounds{rate: 950, mean: 30 * time.Millisecond, shedAtMost: any, shedsSome: true})
	u.service = 40 * ms
	step("four times slower", 10, 3000, bounds{rate: 220, mean: 120 * time.Millisecond, shedAtMost: any, shedsSome: true})
	u.service = 10 * ms
	step("as quick as before", 10, 3000, bounds{rate: 950, mean: 30 * time.Millisecond, shedAtMost: any, shedsSome: true})
	step("half its capacity again", 10, 500, bounds{rate: 475, mean: 12 * time.Millisecond})

	// What it is for: without it the queue only grows.
	bare := &upstream{free: make([]int64, 10), service: 10 * ms}
	if _, mean := bare.run(r, 0, 20*s, 3000); mean < time.Second {
		t.Errorf("without a shedder a call takes %v: this test proves nothing", mean)
	}
}

// An upstream that fails is left alone, and found again.
func TestShedderFailures(t *testing.T) {
	s, err := NewShedder(ShedSpec{Least: 2, Most: 100})
	if err != nil {
		t.Fatal(err)
	}
	now := int64(0)
	rounds := func(n int, failed bool) {
		for range n {
			in := 0
			for s.Enter(now) {
				in++
			}
			now += int64(20 * time.Millisecond)
			for range in {
				s.Leave(now, 20*time.Millisecond, failed)
			}
		}
	}
	rounds(200, false)
	if s.Cap() != 100 {
		t.Fatalf("cap %d, want all", s.Cap())
	}
	rounds(600, true)
	if s.Cap() != 2 {
		t.Fatalf("cap %d, want the least", s.Cap())
	}
	rounds(600, false)
	if s.Cap() != 100 {
		t.Fatalf("cap %d, want all again", s.Cap())
	}
	if s.InFlight() != 0 {
		t.Errorf("%d in flight at the end", s.InFlight())
	}
}

package report

import (
	"container/heap"
	"math/rand/v2"
)

// A tiny world for the tests: closed-loop clients against limiters of a few
// lines each, in virtual time.

const (
	msec = int64(1e6)
	sec  = int64(1e9)
)

// gate decides at an instant and says after which wait to come back.
type gate func(now int64) (ok bool, wait int64)

// bucket is GCRA in whole nanoseconds.
func bucket(perSecond, burst int64) gate {
	gap := sec / perSecond
	var tat int64
	return func(now int64) (bool, int64) {
		t := max(tat, now)
		if wait := t + gap - now - burst*gap; wait > 0 {
			return false, wait
		}
		tat = t + gap
		return true, 0
	}
}

// counted is a bucket whose refusals use it up as well.
func counted(perSecond, burst int64) gate {
	gap := sec / perSecond
	var tat int64
	return func(now int64) (bool, int64) {
		t := max(tat, now)
		wait := t + gap - now - burst*gap
		tat = min(t+gap, now+2*burst*gap)
		return wait <= 0, max(wait, 0)
	}
}

// fixedWindow admits limit in each window aligned to 0.
func fixedWindow(limit, window int64) gate {
	var n, at int64
	return func(now int64) (bool, int64) {
		if w := now / window; w != at {
			at, n = w, 0
		}
		if n >= limit {
			return false, (at+1)*window - now
		}
		n++
		return true, 0
	}
}

type visit struct {
	due    int64
	client int
	tries  uint16
	told   int64 // wait that the refusal before named, or -1
	seq    int
}

type visits []visit

func (v visits) Len() int { return len(v) }
func (v visits) Less(i, j int) bool {
	return v[i].due < v[j].due || v[i].due == v[j].due && v[i].seq < v[j].seq
}
func (v visits) Swap(i, j int) { v[i], v[j] = v[j], v[i] }
func (v *visits) Push(x any)   { *v = append(*v, x.(visit)) }
func (v *visits) Pop() any {
	o := *v
	x := o[len(o)-1]
	*v = o[:len(o)-1]
	return x
}

// world describes a run. The zero behaviour after a refusal is a storm.
type world struct {
	clients int
	length  int64
	latency int64 // half before the decision, half after
	jitter  int64 // up to this much more on either side
	gates   []gate
	byKey   bool                               // gates by key, not by target
	key     func(client int) uint32            // nil: one key
	back    func(client int, told int64) int64 // wait before the next attempt; nil: at once
	tell    func(wait int64) int64             // Retry-After in ns, below 0 for none; nil: none
	start   func(client int) int64             // nil: 0
	edit    func(e *Event)
}

// run plays it and returns the events in order of Done.
func (w world) run() []Event {
	r := rand.New(rand.NewPCG(7, 7))
	q := &visits{}
	seq := 0
	push := func(v visit) {
		v.seq = seq
		seq++
		heap.Push(q, v)
	}
	for c := range w.clients {
		v := visit{client: c, tries: 1, told: -1}
		if w.start != nil {
			v.due = w.start(c)
		}
		push(v)
	}
	var evs []Event
	for n := 0; q.Len() > 0; n++ {
		v := heap.Pop(q).(visit)
		if v.due >= w.length {
			continue
		}
		target := n % len(w.gates)
		var key uint32
		if w.key != nil {
			key = w.key(v.client)
		}
		g := w.gates[target]
		if w.byKey {
			target, g = 0, w.gates[key]
		}
		before, after := w.latency/2, w.latency/2
		if w.jitter > 0 {
			before += r.Int64N(w.jitter)
			after += r.Int64N(w.jitter)
		}
		ok, wait := g(v.due + before)
		first := v.due + before + after
		e := Event{Due: v.due, Sent: v.due, First: first, Done: first, Has: HasFirst, Client: uint32(v.client),
			Key: key, Target: uint16(target), Cost: 1, Attempt: v.tries, Wait: -1, Status: 200, Verdict: Admitted}
		next := visit{due: first, client: v.client, tries: 1, told: -1}
		if v.told >= 0 && v.tries > 1 {
			e.Has |= Obeyed
		}
		if !ok {
			e.Verdict, e.Status = Refused, 429
			told := int64(-1)
			if w.tell != nil {
				if told = w.tell(wait); told >= 0 {
					e.Has |= HasRetryAfter
					e.RetryAfter = told
				}
			}
			e.Wait = 0
			if w.back != nil {
				e.Wait = w.back(v.client, told)
			}
			next.due, next.tries = first+e.Wait, v.tries+1
			if told >= 0 && e.Wait >= told {
				next.told = told
			}
		}
		if w.edit != nil {
			w.edit(&e)
		}
		evs = append(evs, e)
		push(next)
	}
	sortByDone(evs)
	return evs
}

func sortByDone(evs []Event) {
	// Insertion sort by Done: the order is nearly right already.
	for i := 1; i < len(evs); i++ {
		for j := i; j > 0 && evs[j].Done < evs[j-1].Done; j-- {
			evs[j], evs[j-1] = evs[j-1], evs[j]
		}
	}
}

func gates(n int, fresh func() gate) []gate {
	g := make([]gate, n)
	for i := range g {
		g[i] = fresh()
	}
	return g
}

// obey waits as told.
func obey(_ int, told int64) int64 { return max(told, 0) }

// roundUp tells whole seconds, never too few.
func roundUp(wait int64) int64 { return (wait + sec - 1) / sec * sec }

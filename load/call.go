package load

import "iter"

// call is one logical request of one client: its first attempt and the
// retries of it. A closed-loop client reuses one call for its whole life.
type call struct {
	due       int64 // of the attempt in flight or waited for
	first     int64 // due of the first attempt
	notBefore int64 // earliest instant the last refusal asked for; 0 is none
	n         uint64
	rng       Rand
	mem       Memory
	client    uint32
	key       uint32
	cost      uint32
	next      int32  // link in the wheel
	attempt   uint32 // an event holds the first 65,535
	pop       uint16
	route     uint16
	target    uint16
	closed    bool
}

// callTable is a slab of calls with a free list, so that open-loop calls
// come and go without garbage.
type callTable struct {
	calls []call
	free  []int32
}

func (t *callTable) get() int32 {
	if n := len(t.free); n > 0 {
		i := t.free[n-1]
		t.free = t.free[:n-1]
		return i
	}
	t.calls = append(t.calls, call{})
	return int32(len(t.calls) - 1)
}

func (t *callTable) put(i int32) { t.free = append(t.free, i) }

// queue is a first-in first-out ring of calls.
type queue struct {
	ring       []int32
	head, size int
}

func (q *queue) push(i int32) {
	if q.size == len(q.ring) {
		bigger := make([]int32, max(64, 2*len(q.ring)))
		for k := range q.size {
			bigger[k] = q.ring[(q.head+k)%len(q.ring)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.size)%len(q.ring)] = i
	q.size++
}

func (q *queue) peek() (int32, bool) {
	if q.size == 0 {
		return none, false
	}
	return q.ring[q.head], true
}

// all are the calls that wait, first come first.
func (q *queue) all() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for k := range q.size {
			if !yield(q.ring[(q.head+k)%len(q.ring)]) {
				return
			}
		}
	}
}

func (q *queue) pop() {
	q.head = (q.head + 1) % len(q.ring)
	q.size--
}

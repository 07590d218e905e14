package report

import "container/heap"

// windowLog finds the most admitted inside any half-open interval of some
// fixed lengths, by the same rule of proof as the bound check: an admission
// counts for [a, a+W) only if it was sent at or after a and answered before
// a+W. Fed in order of First, the best interval that ends with the newest
// answer holds everything sent later than First-W, so one sum per length is
// enough, and an admission leaves it by its Sent.
//
// Admissions lie in one ring in order of Sent. One that belongs further back
// than nearBack goes to a small heap instead, so that slow answers cannot make
// insertion expensive.
type windowLog struct {
	ring       []admission // length is a power of two, 0 at first
	head, tail uint64      // absolute; the ring holds [head, tail)
	wins       []window
	first      int64
	coarse     bool // neighbours were merged: maxima are lower bounds
}

type admission struct{ sent, cost int64 }

type window struct {
	length   int64
	head     uint64
	sum      int64
	late     lateHeap
	best     int64
	from, to int64 // where best was
}

const (
	nearBack    = 64
	ringMaxBits = 20
)

// lateHeap is a min-heap by sent.
type lateHeap []admission

func (h lateHeap) Len() int           { return len(h) }
func (h lateHeap) Less(i, j int) bool { return h[i].sent < h[j].sent }
func (h lateHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *lateHeap) Push(x any)        { *h = append(*h, x.(admission)) }
func (h *lateHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

func newWindowLog(lengths []int64) *windowLog {
	l := &windowLog{wins: make([]window, len(lengths))}
	for i, w := range lengths {
		l.wins[i].length = w
	}
	return l
}

// add takes one admission in order of first. room is how many admissions all
// logs together may still hold; it is lowered when the ring grows.
//
// Only a sum above the best so far is of interest, so a window lets go of what
// has left it when its sum, which until then is an upper bound, passes best.
func (l *windowLog) add(sent, first, cost int64, room *int64) {
	if first < l.first {
		first = l.first
	}
	l.first = first
	if l.tail-l.head == uint64(len(l.ring)) {
		l.clear(room)
	}
	mask := uint64(len(l.ring) - 1)
	p := l.tail
	for p > l.head && l.ring[(p-1)&mask].sent > sent && l.tail-p < nearBack {
		p--
	}
	near := p == l.head || l.ring[(p-1)&mask].sent <= sent
	if near {
		for q := l.tail; q > p; q-- {
			l.ring[q&mask] = l.ring[(q-1)&mask]
		}
		l.ring[p&mask] = admission{sent, cost}
		l.tail++
	}
	for i := range l.wins {
		w := &l.wins[i]
		if near {
			if p < w.head {
				w.head++ // among what has left already
				continue
			}
		} else {
			if sent <= first-w.length {
				continue
			}
			heap.Push(&w.late, admission{sent, cost})
		}
		if w.sum += cost; w.sum > w.best {
			w.expire(l, mask)
			if w.sum > w.best {
				w.best, w.to = w.sum, first
				w.from = w.oldest(l, mask)
			}
		}
	}
}

// expire lets go of what was sent too early for an interval that ends now.
func (w *window) expire(l *windowLog, mask uint64) {
	old := l.first - w.length
	for w.head < l.tail && l.ring[w.head&mask].sent <= old {
		w.sum -= l.ring[w.head&mask].cost
		w.head++
	}
	for len(w.late) > 0 && w.late[0].sent <= old {
		w.sum -= w.late[0].cost
		heap.Pop(&w.late)
	}
}

// clear makes room in a full ring: of what no window needs, else by growing.
func (l *windowLog) clear(room *int64) {
	l.head = l.tail
	for i := range l.wins {
		w := &l.wins[i]
		w.expire(l, uint64(len(l.ring)-1))
		l.head = min(l.head, w.head)
	}
	// A ring that stays nearly full would be cleared at every other call.
	if n := uint64(len(l.ring)); l.tail-l.head > n-n/4 || n == 0 {
		l.grow(room)
	}
}

func (w *window) oldest(l *windowLog, mask uint64) int64 {
	from := int64(1<<63 - 1)
	if w.head < l.tail {
		from = l.ring[w.head&mask].sent
	}
	if len(w.late) > 0 {
		from = min(from, w.late[0].sent)
	}
	return from
}

// grow doubles the ring, or merges neighbours when it may not grow.
func (l *windowLog) grow(room *int64) {
	n := len(l.ring)
	more := max(n, 8)
	if n < 1<<ringMaxBits && (*room >= int64(more) || n == 0) {
		*room -= int64(more)
		ring := make([]admission, n+more)
		for p := l.head; p < l.tail; p++ {
			ring[p&uint64(len(ring)-1)] = l.ring[p&uint64(n-1)]
		}
		l.ring = ring
		return
	}
	// Two neighbours become one at the earlier Sent: that can only lower a
	// claim. Heads and sums are then taken afresh.
	l.coarse = true
	mask := uint64(n - 1)
	to := l.head
	for p := l.head; p < l.tail; p += 2 {
		a := l.ring[p&mask]
		if p+1 < l.tail {
			a.cost += l.ring[(p+1)&mask].cost
		}
		l.ring[to&mask] = a
		to++
	}
	l.tail = to
	for i := range l.wins {
		w := &l.wins[i]
		w.head, w.sum = l.head, 0
		for p := w.head; p < l.tail; p++ {
			w.sum += l.ring[p&mask].cost
		}
		for _, a := range w.late {
			w.sum += a.cost
		}
		w.expire(l, mask)
	}
}

package sim

// windows counts the most admissions in any half-open interval of some
// lengths. Times must not fall. It keeps as many as the longest interval
// holds, and no more.
type windows struct {
	buf   []Micros
	n     uint64 // ever added
	spans []span
}

type span struct {
	length Micros
	tail   uint64 // first admission that still counts
	best   int64
	from   Micros // of the best interval
}

func newWindows(lengths ...Micros) *windows {
	w := &windows{buf: make([]Micros, 64)}
	for _, l := range lengths {
		w.spans = append(w.spans, span{length: l, tail: 0})
	}
	return w
}

// add counts one admission at t.
func (w *windows) add(t Micros) {
	mask := uint64(len(w.buf) - 1)
	oldest := w.n
	for i := range w.spans {
		s := &w.spans[i]
		for s.tail < w.n && w.buf[s.tail&mask] <= t-s.length {
			s.tail++
		}
		if c := int64(w.n - s.tail + 1); c > s.best {
			s.best = c
			if s.from = t; s.tail < w.n {
				s.from = w.buf[s.tail&mask]
			}
		}
		oldest = min(oldest, s.tail)
	}
	if w.n-oldest == uint64(len(w.buf)) {
		next := make([]Micros, 2*len(w.buf))
		for i := oldest; i < w.n; i++ {
			next[i&uint64(len(next)-1)] = w.buf[i&mask]
		}
		w.buf = next
		mask = uint64(len(w.buf) - 1)
	}
	w.buf[w.n&mask] = t
	w.n++
}

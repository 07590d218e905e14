package limit

// admission is one entry of a sliding log.
type admission struct {
	at, cost int64 // instant, units
}

// ring is a queue of admissions, oldest first. Its length is a power of two
// and grows as needed; it never shrinks, it goes with its key.
type ring struct {
	buf     []admission
	head, n int
}

func (r *ring) at(i int) *admission { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

// push adds an admission; one at the same instant as the last joins it.
func (r *ring) push(at, cost int64) {
	if r.n > 0 {
		if last := r.at(r.n - 1); last.at == at {
			last.cost += cost
			return
		}
	}
	if r.n == len(r.buf) {
		r.grow()
	}
	r.n++
	*r.at(r.n - 1) = admission{at, cost}
}

// drop forgets the k oldest.
func (r *ring) drop(k int) {
	if k == 0 {
		return
	}
	r.head = (r.head + k) & (len(r.buf) - 1)
	r.n -= k
}

func (r *ring) grow() {
	next := make([]admission, max(4, 2*len(r.buf)))
	for i := range r.n {
		next[i] = *r.at(i)
	}
	r.buf, r.head = next, 0
}

func (r *ring) clone() *ring {
	c := &ring{buf: make([]admission, len(r.buf)), n: r.n}
	for i := range r.n {
		c.buf[i] = *r.at(i)
	}
	return c
}

package sim

// busiest keeps the largest count of instants in any interval [t, t+w), in
// memory for one such interval.
type busiest struct {
	w    Micros
	ring []Micros // a power of two
	head int      // of the oldest
	n    int
	most int64
}

func newBusiest(w Micros) busiest { return busiest{w: w, ring: make([]Micros, 64)} }

// add counts an instant, which is not before the last one.
func (b *busiest) add(t Micros) {
	mask := len(b.ring) - 1
	for b.n > 0 && b.ring[b.head] <= t-b.w {
		b.head = (b.head + 1) & mask
		b.n--
	}
	if b.n == len(b.ring) {
		ring := make([]Micros, 2*len(b.ring))
		k := copy(ring, b.ring[b.head:])
		copy(ring[k:], b.ring[:b.head])
		b.ring, b.head = ring, 0
		mask = len(ring) - 1
	}
	b.ring[(b.head+b.n)&mask] = t
	b.n++
	b.most = max(b.most, int64(b.n))
}

package sim

// slots is an open-addressing hash table from numbers to small values, which
// lets go of values that no longer matter each time it is full: its memory
// follows what is live and not what was ever put in. What it holds depends on
// the calls alone. A pointer to a value is good until the next put.
type slots[V any] struct {
	table []slot[V] // a power of two
	n     int
	most  int // highest n after a clearing
}

// slot has its number plus 1, so that the zero value is a free one.
type slot[V any] struct {
	mark uint64
	v    V
}

// mix is the finisher of splitmix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// get returns the value of key, or nil.
func (t *slots[V]) get(key uint64) *V {
	if t.n == 0 {
		return nil
	}
	mask := uint64(len(t.table) - 1)
	for i := mix(key) & mask; ; i = (i + 1) & mask {
		switch s := &t.table[i]; s.mark {
		case key + 1:
			return &s.v
		case 0:
			return nil
		}
	}
}

// put adds a key that is not there. keep tells which values still matter when
// there is no room.
func (t *slots[V]) put(key uint64, v V, keep func(*V) bool) *V {
	if t.n*2 >= len(t.table) {
		t.clear(keep)
	}
	t.n++
	return t.place(key, v)
}

func (t *slots[V]) place(key uint64, v V) *V {
	mask := uint64(len(t.table) - 1)
	i := mix(key) & mask
	for t.table[i].mark != 0 {
		i = (i + 1) & mask
	}
	t.table[i] = slot[V]{key + 1, v}
	return &t.table[i].v
}

// clear drops what no longer matters, and makes the table one of which that is
// at most a quarter.
func (t *slots[V]) clear(keep func(*V) bool) {
	old := t.table
	t.n = 0
	for i := range old {
		if old[i].mark != 0 {
			if keep(&old[i].v) {
				t.n++
			} else {
				old[i].mark = 0
			}
		}
	}
	t.most = max(t.most, t.n)
	size := 64
	for size < 4*t.n {
		size *= 2
	}
	t.table = make([]slot[V], size)
	for i := range old {
		if old[i].mark != 0 {
			t.place(old[i].mark-1, old[i].v)
		}
	}
}

// each calls f with every key and value, in no order that means anything.
func (t *slots[V]) each(f func(key uint64, v *V)) {
	for i := range t.table {
		if s := &t.table[i]; s.mark != 0 {
			f(s.mark-1, &s.v)
		}
	}
}

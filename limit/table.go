package limit

// entry is one key of a table. 56 bytes.
type entry struct {
	key   string
	state State
	mark  uint32 // hash with the top bit set; 0 when the slot is free
	next  uint32 // next of its chain, or of the free list; 0 ends it
}

// A chunk fills the runtime's 4,096-byte size class together with the 8 bytes
// that the runtime puts before it.
const chunkLen = 73

const live = 1 << 31

// table is a chained hash table whose entries sit in chunks: no entry moves
// when it grows, and a key costs its entry and four to eight bytes of heads.
// Slots are numbered from 1. The zero value is empty.
type table struct {
	heads  []uint32 // power of two
	chunks []*[chunkLen]entry
	n      int    // live entries
	high   uint32 // slots ever used
	free   uint32 // first of the free list
	cursor uint32 // last slot that a sweep looked at
}

func (t *table) slot(i uint32) *entry {
	return &t.chunks[(i-1)/chunkLen][(i-1)%chunkLen]
}

func (t *table) find(mark uint32, key string) *entry {
	if len(t.heads) == 0 {
		return nil
	}
	for i := t.heads[mark&uint32(len(t.heads)-1)]; i != 0; {
		e := t.slot(i)
		if e.mark == mark && e.key == key {
			return e
		}
		i = e.next
	}
	return nil
}

// insert adds a key that is not there.
func (t *table) insert(mark uint32, key string, s State) {
	if t.n >= len(t.heads) {
		t.grow()
	}
	i := t.free
	if i != 0 {
		t.free = t.slot(i).next
	} else {
		t.high++
		i = t.high
		if int(i) > len(t.chunks)*chunkLen {
			t.chunks = append(t.chunks, new([chunkLen]entry))
		}
	}
	head := &t.heads[mark&uint32(len(t.heads)-1)]
	*t.slot(i) = entry{key: key, state: s, mark: mark, next: *head}
	*head = i
	t.n++
}

// grow doubles the heads.
func (t *table) grow() {
	t.heads = make([]uint32, max(8, 2*len(t.heads)))
	for i := uint32(1); i <= t.high; i++ {
		if e := t.slot(i); e.mark != 0 {
			head := &t.heads[e.mark&uint32(len(t.heads)-1)]
			e.next, *head = *head, i
		}
	}
}

// remove frees slot i, which is live.
func (t *table) remove(i uint32) {
	e := t.slot(i)
	at := &t.heads[e.mark&uint32(len(t.heads)-1)]
	for *at != i {
		at = &t.slot(*at).next
	}
	*at = e.next
	*e = entry{next: t.free}
	t.free = i
	t.n--
}

// compact gives memory back once three quarters of the slots are free. It
// moves entries.
func (t *table) compact() {
	if t.high <= 4*chunkLen || t.n*4 > int(t.high) {
		return
	}
	var small table
	for i := uint32(1); i <= t.high; i++ {
		if e := t.slot(i); e.mark != 0 {
			small.insert(e.mark, e.key, e.state)
		}
	}
	*t = small
}

package load

import "math/bits"

// wheel holds calls that wait for an instant: two levels of slots linked
// through the calls themselves, and a small heap for the slot at hand, so that
// adding costs O(1) and a million waiting calls cost no memory of their own.
//
// Level 0 slots are 2^20 ns (about 1 ms) wide and reach about 4.3 s; level 1
// slots are that wide and reach about 4.9 h. What lies beyond is put in the
// last slot and looked at again when its turn comes.
type wheel struct {
	calls *[]call
	base  int64 // start of the current level-0 slot
	l0    level
	l1    level
	near  []int32 // heap by due: everything due before the end of the current slot
	n     int
}

const (
	slotBits = 20
	slotNS   = int64(1) << slotBits
	slots    = 4096
	turnNS   = slotNS * slots
	none     = int32(-1)
)

type level struct {
	head [slots]int32
	used [slots / 64]uint64
}

func (l *level) reset() {
	for i := range l.head {
		l.head[i] = none
	}
}

// next returns how many slots after i the next used one is, at most max.
func (l *level) next(i, max int) int {
	for d := 0; d < max; {
		j := (i + d) % slots
		w := l.used[j/64] >> (j % 64)
		if w != 0 {
			return min(d+bits.TrailingZeros64(w), max)
		}
		d += 64 - j%64
	}
	return max
}

func newWheel(calls *[]call, now int64) *wheel {
	w := &wheel{calls: calls, base: now &^ (slotNS - 1)}
	w.l0.reset()
	w.l1.reset()
	return w
}

func (w *wheel) due(i int32) int64 { return (*w.calls)[i].due }

// add files a call under its due time.
func (w *wheel) add(i int32) {
	w.n++
	w.file(i)
}

func (w *wheel) file(i int32) {
	due := w.due(i)
	switch {
	case due < w.base+slotNS:
		w.push(i)
	case due < w.base&^(turnNS-1)+turnNS:
		w.link(&w.l0, int(due>>slotBits)%slots, i)
	default:
		// At most slots-1 turns ahead, so that a slot never means two turns.
		turn := min(due/turnNS, w.base/turnNS+slots-1)
		w.link(&w.l1, int(turn)%slots, i)
	}
}

func (w *wheel) link(l *level, s int, i int32) {
	(*w.calls)[i].next = l.head[s]
	l.head[s] = i
	l.used[s/64] |= 1 << (s % 64)
}

func (w *wheel) unlink(l *level, s int) int32 {
	h := l.head[s]
	l.head[s] = none
	l.used[s/64] &^= 1 << (s % 64)
	return h
}

// advance moves the wheel so that everything due at or before now is in near.
func (w *wheel) advance(now int64) {
	for w.base+slotNS <= now {
		s := int(w.base>>slotBits) % slots
		left := slots - 1 - s // slots of this turn after the current one
		want := int((now-w.base)>>slotBits) - 1
		skip := 0
		if left > 0 {
			skip = w.l0.next((s+1)%slots, min(left, want))
		}
		w.base += int64(skip+1) * slotNS
		if w.base&(turnNS-1) == 0 {
			w.refill(w.unlink(&w.l1, int(w.base/turnNS)%slots))
		}
		w.refill(w.unlink(&w.l0, int(w.base>>slotBits)%slots))
	}
}

// refill files a list again, now that its slot has come near.
func (w *wheel) refill(i int32) {
	for i != none {
		next := (*w.calls)[i].next
		w.file(i)
		i = next
	}
}

// pop returns a call that is due at or before now, earliest first.
func (w *wheel) pop(now int64) (int32, bool) {
	w.advance(now)
	if len(w.near) == 0 || w.due(w.near[0]) > now {
		return none, false
	}
	i := w.near[0]
	last := len(w.near) - 1
	w.near[0] = w.near[last]
	w.near = w.near[:last]
	w.down(0)
	w.n--
	return i, true
}

// wake returns an instant at or before the next due time: exact when it lies
// in the current slot, else the start of a slot or turn.
func (w *wheel) wake() (int64, bool) {
	if w.n == 0 {
		return 0, false
	}
	if len(w.near) > 0 {
		return w.due(w.near[0]), true
	}
	s := int(w.base>>slotBits) % slots
	left := slots - 1 - s
	if left > 0 {
		if d := w.l0.next((s+1)%slots, left); d < left {
			return w.base + int64(d+1)*slotNS, true
		}
	}
	turn := w.base / turnNS
	d := w.l1.next(int(turn+1)%slots, slots-1)
	return (turn + 1 + int64(d)) * turnNS, true
}

func (w *wheel) push(i int32) {
	w.near = append(w.near, i)
	k := len(w.near) - 1
	for k > 0 {
		p := (k - 1) / 2
		if w.due(w.near[p]) <= w.due(w.near[k]) {
			return
		}
		w.near[p], w.near[k] = w.near[k], w.near[p]
		k = p
	}
}

func (w *wheel) down(k int) {
	for {
		c := 2*k + 1
		if c >= len(w.near) {
			return
		}
		if c+1 < len(w.near) && w.due(w.near[c+1]) < w.due(w.near[c]) {
			c++
		}
		if w.due(w.near[k]) <= w.due(w.near[c]) {
			return
		}
		w.near[k], w.near[c] = w.near[c], w.near[k]
		k = c
	}
}

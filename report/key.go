package report

// keyStat is what is kept about every key, about 180 bytes: a million of them
// fit. What an admission needs comes first, in two lines of the cache or three.
// What costs more lives behind log and exists for a bounded set.
type keyStat struct {
	offered, admitted uint64
	cost              int64 // units admitted

	refusedRun uint32 // of the present stretch, below
	pending    uint16 // index+1 of the newest obedient retry that waits for judgement
	flags      keyFlags

	// What a limiter that keeps the promise would have admitted of the same
	// offers (GCRA or a fixed window). Feeds findings, not the bound.
	modelAt int64 // theoretical arrival time, or start of the model's window
	model   int64 // units the model admitted

	log   *windowLog
	align *alignment
	bound boundState

	modelUsed       int64 // units used in the model's window
	refused, failed uint64
	// The present stretch of refusals: since when, when the key was last asked
	// for, and when it was first asked for after a pause (0: none).
	refusedFrom, asked, resumed int64
}

type keyFlags uint8

const (
	inBusiest keyFlags = 1 << iota
	inWorst
)

const (
	keySlab      = 1024
	keysMax      = 1 << 21 // keys with figures of their own
	clientSlab   = 4096
	clientsMax   = 1 << 22
	trackedMax   = 10_000  // keys with max_in
	admissionCap = 1 << 22 // admissions that all window logs together hold
)

// key returns the figures of key i, or the shared row of keys beyond the cap.
func (c *Collector) key(i uint32) *keyStat {
	slab := int(i / keySlab)
	if slab < len(c.keys) {
		if s := c.keys[slab]; s != nil {
			return &s[i%keySlab]
		}
	}
	if i >= keysMax {
		c.keysOver = true
		return &c.restKey
	}
	for slab >= len(c.keys) {
		c.keys = append(c.keys, nil)
	}
	c.keys[slab] = new([keySlab]keyStat)
	return &c.keys[slab][i%keySlab]
}

// known returns the figures of key i where there are some.
func (c *Collector) known(i uint32) *keyStat {
	if slab := int(i / keySlab); slab < len(c.keys) && c.keys[slab] != nil {
		return &c.keys[slab][i%keySlab]
	}
	return nil
}

// knownClient returns the figures of client i where there are some.
func (c *Collector) knownClient(i uint32) *clientStat {
	if slab := int(i / clientSlab); slab < len(c.clients) && c.clients[slab] != nil {
		return &c.clients[slab][i%clientSlab]
	}
	return nil
}

// eachKey calls f for every key that was asked for, in order of number.
func (c *Collector) eachKey(f func(i uint32, k *keyStat)) {
	for s, slab := range c.keys {
		if slab == nil {
			continue
		}
		for j := range slab {
			if k := &slab[j]; k.offered > 0 {
				f(uint32(s*keySlab+j), k)
			}
		}
	}
}

// clientStat is one virtual client, 40 bytes.
type clientStat struct {
	offered, admitted uint32
	key               uint32 // last key used
	manyKeys          bool
	// The last refusal that carried a wait: sent when, and the due time of the
	// retry that answers to it.
	refusedSent, nextDue int64
}

// client returns the figures of client i, or nil beyond the cap.
func (c *Collector) client(i uint32) *clientStat {
	slab := int(i / clientSlab)
	if slab < len(c.clients) {
		if s := c.clients[slab]; s != nil {
			return &s[i%clientSlab]
		}
	}
	if i >= clientsMax {
		c.clientsOver = true
		return nil
	}
	for slab >= len(c.clients) {
		c.clients = append(c.clients, nil)
	}
	c.clients[slab] = new([clientSlab]clientStat)
	return &c.clients[slab][i%clientSlab]
}

// alignment counts a key's admissions in windows aligned to the start of the
// run and to the wall clock, which is how fixed-window limiters count.
type alignment struct {
	index [2]int64
	used  [2]int64
	most  [2]int64
}

func (a *alignment) add(sent, cost, window int64, offset [2]int64) {
	for i := range offset {
		n := (sent + offset[i]) / window
		switch {
		case n > a.index[i] || a.used[i] == 0:
			a.index[i], a.used[i] = n, cost
		case n == a.index[i]:
			a.used[i] += cost
		default:
			continue // a late answer from the window before
		}
		a.most[i] = max(a.most[i], a.used[i])
	}
}

// topKeys keeps some of the keys with the highest score, for snapshots.
type topKeys struct {
	ids  [topMax]uint32
	n    int
	flag keyFlags
}

const topMax = 128

// offer puts i on the list if it belongs there. more(a, b) reports that a
// ranks above b.
func (t *topKeys) offer(c *Collector, i uint32, k *keyStat, more func(a, b *keyStat) bool) {
	if k.flags&t.flag != 0 {
		return
	}
	if t.n < topMax {
		t.ids[t.n] = i
		t.n++
		k.flags |= t.flag
		return
	}
	least := 0
	for j := 1; j < topMax; j++ {
		if more(c.key(t.ids[least]), c.key(t.ids[j])) {
			least = j
		}
	}
	if l := c.key(t.ids[least]); more(k, l) {
		l.flags &^= t.flag
		t.ids[least] = i
		k.flags |= t.flag
	}
}

package limit

import (
	"math"
	"time"
)

// DenyCache answers refusals without the store: it knows until when a key will
// be refused anyway. Only refusals are stored, and only until their wait is
// over, so it never admits and never refuses what the store would admit, as
// long as tokens come by time alone.
//
// It is bounded. When it is full, the entry whose time is over soonest makes
// way, which may be the new one: it is the one that saves least. Not safe for
// concurrent use; the zero value holds nothing.
type DenyCache[K comparable] struct {
	most int
	at   map[K]*denial
	heap []*denial // soonest over first, a binary heap
	key  []K       // key[i] belongs to heap[i]
}

// denial is an entry: costs from cost up are refused before until.
type denial struct {
	until, cost int64
	index       int // in the heap
}

// NewDenyCache makes a cache of at most so many keys.
func NewDenyCache[K comparable](most int) *DenyCache[K] {
	return &DenyCache[K]{most: max(0, most), at: make(map[K]*denial)}
}

// Learn takes a decision of the store on cost at now. An admission, a peek, and
// a refusal without a wait to count on, Never and Unknown, are not stored. One
// for a key that is there replaces what was known of it.
func (c *DenyCache[K]) Learn(key K, now, cost int64, d Decision) {
	if d.OK || d.RetryAfter <= 0 || cost <= 0 || c.most == 0 {
		return
	}
	until := int64(math.MaxInt64)
	if now < until-int64(d.RetryAfter) {
		until = now + int64(d.RetryAfter)
	}
	e := c.at[key]
	switch {
	case e != nil:
	case len(c.heap) < c.most:
		e = &denial{index: len(c.heap)}
		c.at[key] = e
		c.heap, c.key = append(c.heap, e), append(c.key, key)
	case c.heap[0].until > until:
		return
	default:
		e = c.heap[0]
		delete(c.at, c.key[0])
		c.at[key], c.key[0] = e, key
	}
	e.until, e.cost = until, cost
	c.down(c.up(e.index))
}

// Refused reports whether a cost is known to be refused at now, and for how
// long. A refusal says nothing about costs below the one that was refused. An
// entry whose time is over is dropped.
func (c *DenyCache[K]) Refused(key K, now, cost int64) (wait time.Duration, refused bool) {
	e := c.at[key]
	if e == nil {
		return 0, false
	}
	if now >= e.until {
		c.remove(e.index)
		return 0, false
	}
	if cost < e.cost {
		return 0, false
	}
	wait = time.Duration(e.until - now)
	if wait < 0 { // now is far before zero
		wait = math.MaxInt64
	}
	return wait, true
}

// Forget drops a key, as when its limit was raised. It reports whether the key
// was there.
func (c *DenyCache[K]) Forget(key K) bool {
	e := c.at[key]
	if e == nil {
		return false
	}
	c.remove(e.index)
	return true
}

// Sweep drops every entry whose time is over and returns how many. Without it
// they stay until they are asked for or make way.
func (c *DenyCache[K]) Sweep(now int64) (dropped int) {
	for len(c.heap) > 0 && now >= c.heap[0].until {
		c.remove(0)
		dropped++
	}
	return dropped
}

// Len is the number of keys held.
func (c *DenyCache[K]) Len() int { return len(c.heap) }

func (c *DenyCache[K]) remove(i int) {
	delete(c.at, c.key[i])
	last := len(c.heap) - 1
	c.swap(i, last)
	var none K
	c.heap[last], c.key[last] = nil, none
	c.heap, c.key = c.heap[:last], c.key[:last]
	if i < last {
		c.down(c.up(i))
	}
}

func (c *DenyCache[K]) swap(i, j int) {
	c.heap[i], c.heap[j] = c.heap[j], c.heap[i]
	c.key[i], c.key[j] = c.key[j], c.key[i]
	c.heap[i].index, c.heap[j].index = i, j
}

// up moves an entry towards the top as far as it belongs and returns where.
func (c *DenyCache[K]) up(i int) int {
	for i > 0 {
		parent := (i - 1) / 2
		if c.heap[parent].until <= c.heap[i].until {
			break
		}
		c.swap(i, parent)
		i = parent
	}
	return i
}

func (c *DenyCache[K]) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.heap); child++ {
			if c.heap[child].until < c.heap[least].until {
				least = child
			}
		}
		if least == i {
			return
		}
		c.swap(i, least)
		i = least
	}
}

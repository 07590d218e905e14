package report

import "sync/atomic"

// chunkEvents is how many events one chunk holds: 57 KB, so that a loop at
// 200,000 events a second hands over about forty chunks between two merges.
const chunkEvents = 512

// spareChunks is how many empty chunks a shard keeps for reuse; what a long
// pause of the collector made beyond that goes back to the garbage collector.
const spareChunks = 128

// chunk is one fixed piece of a shard's log. n is published by the producer
// after the event is in place; next is set once, before a new chunk's first
// event is published.
type chunk struct {
	n    atomic.Uint32
	next atomic.Pointer[chunk]
	down *chunk // link in the free list
	ev   [chunkEvents]Event
}

// Shard is the log of one engine loop. Exactly one goroutine may call Record,
// Advance and Close; the collector reads concurrently. Recording takes no
// lock, uses no channel and does not allocate once chunks circulate.
type Shard struct {
	// Producer's side.
	cur *chunk
	n   uint32
	_   [44]byte // keeps the two sides on different cache lines

	mark  atomic.Int64 // no event recorded from now on is done before this
	free  atomic.Pointer[chunk]
	spare atomic.Int32
	_     [44]byte

	// Collector's side.
	head *chunk
	pos  uint32
	seen uint32 // published length of head at the last look
	edge int64  // how far this shard lets a merge go, at the last look
}

// forever is the mark of a shard that will record nothing more.
const forever = int64(1<<63 - 1)

func newShard() *Shard {
	c := new(chunk)
	return &Shard{cur: c, head: c}
}

// Record appends a copy of ev. Events should come in order of Done; one that
// comes late is counted all the same and the bound check stays sound.
func (s *Shard) Record(ev *Event) {
	if s.n == chunkEvents {
		s.grow()
	}
	c := s.cur
	c.ev[s.n] = *ev
	s.n++
	c.n.Store(s.n)
}

// grow moves the producer to an empty chunk. Only the producer pops the free
// list, so the compare-and-swap cannot meet the ABA problem.
func (s *Shard) grow() {
	var c *chunk
	for {
		if c = s.free.Load(); c == nil {
			c = new(chunk)
			break
		}
		if s.free.CompareAndSwap(c, c.down) {
			s.spare.Add(-1)
			c.down = nil
			break
		}
	}
	s.cur.next.Store(c)
	s.cur, s.n = c, 0
}

// Advance promises that no event recorded from now on is done before now
// (nanoseconds since the start of the run). An idle loop calls it so that it
// does not hold up the merge of the others.
func (s *Shard) Advance(now int64) { s.mark.Store(now) }

// Close promises that nothing more will be recorded.
func (s *Shard) Close() { s.mark.Store(forever) }

// recycle gives a drained chunk back to the producer.
func (s *Shard) recycle(c *chunk) {
	if s.spare.Load() >= spareChunks {
		return
	}
	c.n.Store(0)
	c.next.Store(nil)
	s.spare.Add(1)
	for {
		top := s.free.Load()
		c.down = top
		if s.free.CompareAndSwap(top, c) {
			return
		}
	}
}

// peek returns the next unread event, or nil. Collector only.
func (s *Shard) peek() *Event {
	for {
		if s.pos < s.seen {
			return &s.head.ev[s.pos]
		}
		if s.seen = s.head.n.Load(); s.pos < s.seen {
			return &s.head.ev[s.pos]
		}
		if s.pos < chunkEvents {
			return nil
		}
		next := s.head.next.Load()
		if next == nil {
			return nil
		}
		old := s.head
		s.head, s.pos, s.seen = next, 0, 0
		s.recycle(old)
	}
}

// look reads how far the shard's own clock has come. The mark is read before
// the events, so nothing older than it can still be unpublished.
func (s *Shard) look() {
	s.edge = s.mark.Load()
	// The newest visible event is a mark as well.
	for c := s.head; c != nil; c = c.next.Load() {
		if n := c.n.Load(); n > 0 {
			if d := c.ev[n-1].Done; d > s.edge {
				s.edge = d
			}
		}
	}
}

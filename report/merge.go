package report

// holdMax is how long a merge waits for a shard that says nothing. Events
// taken out of order after that are still counted, and the bound check then
// claims wider intervals, never narrower ones.
const holdMax = int64(2e9)

// Merge takes what the shards hold, in order of Done, up to the time that no
// shard can still fall behind, and publishes a snapshot. now is nanoseconds
// since the start of the run.
func (c *Collector) Merge(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	edge := c.drain(now)
	c.settle(min(edge, now))
	c.latest.Store(c.snapshot(now, false))
}

// Feed takes events in their order, as a merge does with those of a single
// shard, but publishes nothing: for a run that one goroutine sees all of and
// nobody watches.
func (c *Collector) Feed(events []Event) {
	if len(events) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.load(events)
	for i := range events {
		c.add(&events[i])
	}
	c.settle(events[len(events)-1].Done)
}

// load looks at what the events' keys and clients have so far. Far apart as
// that lies in memory, it comes faster when it is asked for together.
func (c *Collector) load(events []Event) {
	sum := c.loaded
	for i := range events {
		if k := c.known(events[i].Key); k != nil {
			sum += k.offered + uint64(k.bound.last.at) + uint64(k.bound.cost)
		}
		if cl := c.knownClient(events[i].Client); cl != nil {
			sum += uint64(cl.offered)
		}
	}
	for i := range events {
		if k := c.known(events[i].Key); k != nil && k.log != nil {
			sum += k.log.tail + uint64(k.log.first)
		}
	}
	for i := range events {
		if k := c.known(events[i].Key); k != nil && k.log != nil {
			for j := range k.log.wins {
				sum += uint64(k.log.wins[j].best)
			}
			if n := uint64(len(k.log.ring)); n > 0 {
				sum += uint64(k.log.ring[k.log.tail&(n-1)].sent)
			}
		}
	}
	c.loaded = sum
}

// Latest is the newest snapshot; never nil, never changed once published.
func (c *Collector) Latest() *Snapshot { return c.latest.Load() }

// drain merges up to the slowest shard's edge and returns that edge.
func (c *Collector) drain(now int64) int64 {
	edge := forever
	for _, s := range c.shards {
		s.look()
		edge = min(edge, s.edge)
	}
	edge = max(edge, now-holdMax)
	for {
		// The shard with the earliest head, and how far it may run before
		// another one's head comes first.
		var least *Shard
		var at int64
		limit := edge
		for _, s := range c.shards {
			e := s.peek()
			if e == nil || e.Done > edge {
				continue
			}
			switch {
			case least == nil:
				least, at = s, e.Done
			case e.Done < at:
				limit = at
				least, at = s, e.Done
			default:
				limit = min(limit, e.Done)
			}
		}
		if least == nil {
			return edge
		}
		for {
			e := least.peek()
			if e == nil || e.Done > limit {
				break
			}
			c.add(e)
			least.pos++
		}
	}
}

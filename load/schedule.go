package load

// arrival is one call of one population before it is numbered and merged.
type arrival struct {
	due    int64
	caller uint32 // from 0 within the population
	call   uint64 // of that caller, from 0
	row    int    // of the trace; -1 when there is none
}

// cursor walks the arrivals of one population in order of due time.
type cursor interface {
	next() (arrival, bool)
}

// round deals calls out to callers in turn.
type round struct {
	clients uint64 // 0: every call is a new caller
	block   uint64 // client numbers held for new callers; at least 1
}

func (r round) deal(i uint64) (caller uint32, call uint64) {
	if r.clients == 0 {
		return uint32(i % r.block), i / r.block
	}
	return uint32(i % r.clients), i / r.clients
}

// indexCursor walks an indexed process whose count is known.
type indexCursor struct {
	p     indexed
	i, n  uint64
	last  int64 // due times never decrease, whatever the rounding
	run   int64
	round round
	trace bool
}

func (c *indexCursor) next() (arrival, bool) {
	if c.i == c.n {
		return arrival{}, false
	}
	c.last = max(c.last, min(c.p.at(c.i), c.run-1))
	a := arrival{due: c.last, row: -1}
	a.caller, a.call = c.round.deal(c.i)
	if c.trace {
		a.row = int(c.i)
	}
	c.i++
	return a, true
}

// poissonCursor walks a Poisson process to the end of the run.
type poissonCursor struct {
	gaps  poissonGaps
	i     uint64
	run   int64
	round round
}

func (c *poissonCursor) next() (arrival, bool) {
	due := c.gaps.next()
	if due >= c.run {
		c.gaps.t = float64(c.run) // stays ended however often it is asked
		return arrival{}, false
	}
	a := arrival{due: due, row: -1}
	a.caller, a.call = c.round.deal(c.i)
	c.i++
	return a, true
}

// burstCursor walks bursts. A burst is one caller's, as a page's calls are one
// browser's, unless every call is a new caller.
type burstCursor struct {
	b     bursts
	burst uint64
	k     uint64 // calls of this burst already given out
	size  uint64 // of this burst; 0 before it is drawn
	i     uint64
	run   int64
	round round
}

func (c *burstCursor) next() (arrival, bool) {
	if c.size == 0 {
		c.size = c.b.size(c.burst)
	}
	due := c.b.at(c.burst)
	if due >= c.run {
		return arrival{}, false
	}
	a := arrival{due: due, row: -1}
	if c.round.clients == 0 {
		a.caller, a.call = c.round.deal(c.i)
	} else {
		caller, turn := c.round.deal(c.burst)
		a.caller, a.call = caller, turn*c.b.high+c.k
	}
	c.i++
	if c.k++; c.k == c.size {
		c.burst, c.k, c.size = c.burst+1, 0, 0
	}
	return a, true
}

// merged yields the slots of all open populations in order of due time;
// equal times go by population. part and of select clients of a split.
type merged struct {
	plan     *Plan
	heap     []head
	n        uint64
	part, of uint32
}

// head is the next arrival of one population.
type head struct {
	a          arrival
	population int
	c          cursor
}

func (h head) before(o head) bool {
	return h.a.due < o.a.due || h.a.due == o.a.due && h.population < o.population
}

// Schedule returns a fresh walk over the open-loop slots, in order of due time.
func (p *Plan) Schedule() Schedule { return p.SchedulePart(0, 1) }

// SchedulePart returns the slots of the clients whose number is part modulo
// of. The parts together are exactly [Plan.Schedule], positions included, so
// engines on any number of cores or machines send the same plan.
func (p *Plan) SchedulePart(part, of uint32) Schedule {
	m := &merged{plan: p, part: part, of: max(of, 1)}
	for i := range p.Populations {
		if !p.Populations[i].Open {
			continue
		}
		c := p.rules[i].cursor()
		if a, ok := c.next(); ok {
			m.heap = append(m.heap, head{a, i, c})
		}
	}
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		m.sink(i)
	}
	return m
}

func (m *merged) Next() (Slot, bool) {
	for len(m.heap) > 0 {
		top := &m.heap[0]
		a, population, n := top.a, top.population, m.n
		m.n++
		if next, ok := top.c.next(); ok {
			top.a = next
		} else {
			last := len(m.heap) - 1
			m.heap[0] = m.heap[last]
			m.heap = m.heap[:last]
		}
		m.sink(0)
		client := m.plan.Populations[population].First + a.caller
		if m.of > 1 && client%m.of != m.part {
			continue
		}
		return m.plan.slot(n, population, client, a), true
	}
	return Slot{}, false
}

func (m *merged) sink(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(m.heap) && m.heap[child].before(m.heap[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		m.heap[i], m.heap[least] = m.heap[least], m.heap[i]
		i = least
	}
}

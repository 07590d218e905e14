package load

// Calls of an open loop come and go, but the budgets and breakers of their
// callers stay: they are kept here, per client of the populations whose
// arrivals go round a fixed number of callers.
type callers struct {
	of []([]Memory) // per population, by client; nil when callers are new
}

// newCallers makes room for the callers of a plan.
func newCallers(p *Plan) callers {
	c := callers{of: make([][]Memory, len(p.Populations))}
	for i := range p.Populations {
		if pop := &p.Populations[i]; pop.Open && !pop.NewCallers {
			c.of[i] = make([]Memory, pop.Clients)
		}
	}
	return c
}

// recall gives a call its caller's budget and breaker; what is the call's
// own, its last wait and what its last retry cost, stays.
func (l *loop) recall(c *call) {
	if all := l.callers.of[c.pop]; all != nil {
		prev, paid := c.mem.Prev, c.mem.Paid
		c.mem = all[c.client-l.e.cfg.Plan.Populations[c.pop].First]
		c.mem.Prev, c.mem.Paid = prev, paid
	}
}

func (l *loop) remember(c *call) {
	if all := l.callers.of[c.pop]; all != nil {
		all[c.client-l.e.cfg.Plan.Populations[c.pop].First] = c.mem
	}
}

package gateway

import (
	"context"
	"time"

	"github.com/weir-cli/weir/limit"
)

const (
	// denialJitter is the most that a gateway comes back later than the store
	// said, so that gateways do not return together.
	denialJitter = 50 * time.Millisecond
	// leaseTries is how often a request looks at what its gateway holds, with
	// a lease awaited in between, before the store is asked about it alone.
	leaseTries = 3
)

// held is what one gateway holds of one key.
type held struct {
	block   limit.BlockHeld
	batch   limit.BatchHeld
	by      *readyLimit   // the limit that it was last asked for under
	flying  chan struct{} // closed when the lease in flight is settled; nil for none
	subject string
}

// idle reports whether h is as good as its zero value.
func (h *held) idle(now int64) bool {
	return h.flying == nil && h.block.Tokens() == 0 && h.block.Wait(now) == 0 && h.batch.Until() <= now
}

func (h *held) refund(p *hitState, now int64) {
	if p.ready.block != nil {
		p.ready.block.Refund(&h.block, p.Cost)
	} else if p.ready.batch != nil {
		p.ready.batch.Refund(&h.batch, now)
	}
}

// giveUp takes out everything.
func (h *held) giveUp(now int64) int64 { return h.block.GiveUp() + h.batch.GiveUp(now) }

// leases reports whether the part's tokens may be held by gateways at all. A
// cost above what one lease brings is the store's to decide.
func (p *hitState) leases() bool {
	l := p.ready
	return l.block != nil && p.Cost <= l.block.Block || l.batch != nil && p.Cost == 1
}

// spend decides a part by what the gateway holds, and asks for more when it is
// time. It reports false when the store has to be asked about the part itself.
func (g *gateway) spend(ctx context.Context, r *run, p *hitState, now int64) bool {
	d := r.desks[g.n]
	for range leaseTries {
		s := d.shard(p)
		h := s.held.row(p.account(), now, func(h *held) bool { return h.idle(now) })
		if h == nil {
			s.mu.Unlock()
			return false
		}
		step, dead := h.request(p, now)
		if step.Asks() {
			// Batches ask again while one is on its way; one is enough.
			if h.flying == nil {
				h.flying = make(chan struct{})
				h.by, h.subject = p.ready, p.Subject
				g.ask(r, s, h, now)
			}
		}
		left, wait, flying := h.left(now), h.wait(p, now), h.flying
		s.mu.Unlock()
		if dead > 0 {
			g.giveBack(r, hitState{ready: p.ready, Subject: p.Subject}, dead)
		}
		switch {
		case step.Admits():
			p.Decision = limit.Decision{OK: true, Limit: capacity(p.ready.spec), Remaining: left, ResetAfter: limit.Unknown}
			p.Source, p.leased = FromLease, true
			return true
		case wait > 0:
			p.Decision = limit.Decision{Limit: capacity(p.ready.spec), Remaining: min(left, p.Cost-1), RetryAfter: wait, ResetAfter: limit.Unknown}
			p.Source = FromLease
			return true
		case flying == nil:
			return false
		}
		select {
		case <-flying:
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// request puts a request to what is held. dead is what must go back to the
// store, because it has outlived its lease.
func (h *held) request(p *hitState, now int64) (step limit.LeaseStep, dead int64) {
	if l := p.ready.block; l != nil {
		dead = l.Expired(&h.block, now)
		return l.Request(&h.block, now, p.Cost), dead
	}
	step = p.ready.batch.Request(&h.batch, now)
	if step == limit.LeaseSpendAndAsk && h.batch.Wait(now) > 0 {
		p.ready.batch.Granted(&h.batch, now, 0) // the store has just said so
		step = limit.LeaseSpend
	}
	return step, 0
}

func (h *held) left(now int64) int64 { return h.block.Tokens() + h.batch.Tokens(now) }

func (h *held) wait(p *hitState, now int64) time.Duration {
	if p.ready.block != nil {
		return h.block.Wait(now)
	}
	return h.batch.Wait(now)
}

// ask sends for a lease, with the shard locked. The answer comes in the
// background.
func (g *gateway) ask(r *run, s *deskShard, h *held, now int64) {
	p := hitState{ready: h.by, Subject: h.subject}
	b := r.backends[g.n]
	node := b.node(&p)
	ticket := g.breakers.ask(node, now)
	if ticket.Way == limit.Locally {
		h.settle(s, &p, now, 0, 0, true)
		return
	}
	g.fleet.background.Go(func() {
		var block, least int64
		if l := p.ready.block; l != nil {
			block, least = l.Block, l.Block
		} else {
			block, least = p.ready.batch.Batch, 1
		}
		granted, wait, err := b.lease(context.Background(), &p, g.now(), block, least)
		g.outcome(node, ticket, err)
		g.fleet.lent.asked(granted, err)
		s.mu.Lock()
		defer s.mu.Unlock()
		h.settle(s, &p, g.now(), granted, wait, err != nil)
	})
}

// settle takes the answer of a lease in, with the shard locked.
func (h *held) settle(s *deskShard, p *hitState, now, granted int64, wait time.Duration, lost bool) {
	if l := p.ready.block; l != nil {
		switch {
		case lost:
			l.Lost(&h.block)
		case granted > 0:
			// What has died meanwhile is spent within the new life: fewer
			// calls, and no more than is held anyway.
			l.Granted(&h.block, now, granted)
		default:
			jitter := s.random.Int64N(int64(denialJitter))
			l.Denied(&h.block, now+max(int64(wait), int64(p.ready.pause))+jitter)
		}
	} else {
		l := p.ready.batch
		l.Granted(&h.batch, now, granted)
		if !lost && granted == 0 {
			l.Denied(&h.batch, now+max(int64(wait), int64(p.ready.pause)))
		}
	}
	close(h.flying)
	h.flying = nil
}

// giveBack returns tokens to the store in the background. Those that cannot be
// returned are lost, which errs to the side of the limit.
func (g *gateway) giveBack(r *run, p hitState, n int64) {
	b := r.backends[g.n]
	node := b.node(&p)
	ticket := g.breakers.ask(node, g.now())
	if ticket.Way == limit.Locally {
		return
	}
	g.fleet.background.Go(func() {
		err := b.giveBack(context.Background(), &p, g.now(), n)
		g.outcome(node, ticket, err)
		g.fleet.lent.gaveBack(n, err)
	})
}

// tidy gives back what has outlived its lease, and everything of limits that
// are leased no more; all of it when the fleet stops.
func (g *gateway) tidy(r *run, now int64, all bool) {
	d := r.desks[g.n]
	current := g.rules.Load()
	for i := range d.shards {
		s := &d.shards[i]
		type due struct {
			p hitState
			n int64
		}
		var back []due
		s.mu.Lock()
		for _, h := range s.held.rows {
			if h.by == nil {
				continue
			}
			n := int64(0)
			switch {
			case all || !current.lends(h.by.name):
				n = h.giveUp(now)
			case h.by.block != nil:
				n = h.by.block.Expired(&h.block, now)
			}
			if n > 0 {
				back = append(back, due{hitState{ready: h.by, Subject: h.subject}, n})
			}
		}
		s.mu.Unlock()
		for _, b := range back {
			g.giveBack(r, b.p, b.n)
		}
	}
}

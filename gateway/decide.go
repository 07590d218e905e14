package gateway

import (
	"context"
	"errors"
	"sync"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// mostShadows bounds the shadow checks under way in a fleet. What is beyond is
// not measured, and counted as such.
const mostShadows = 256

// scratch is what one request needs while it is decided. Reused.
type scratch struct {
	parts  []hitState // enforced
	shadow []hitState
	ended  chan struct{} // closed when it is freed; nil when nobody waits for that
}

var scratches = sync.Pool{New: func() any {
	return &scratch{parts: make([]hitState, 0, 4)}
}}

// free lets the next request have it. What it points to stays until then.
func (s *scratch) free() {
	if s.ended != nil {
		close(s.ended)
		s.ended = nil
	}
	s.parts, s.shadow = s.parts[:0], s.shadow[:0]
	scratches.Put(s)
}

// decide decides a request of cost that is under hits, which are of set, at
// now on the gateway's clock. All of its limits let it pass, or none is
// charged.
func (g *gateway) decide(ctx context.Context, r *run, set *ready, s *scratch, hits []rules.Hit, now, cost int64) (v verdict) {
	for i := range hits {
		h := &hits[i]
		if h.Rule.Shadow {
			s.shadow = set.add(s.shadow, h, cost)
		} else {
			s.parts = set.add(s.parts, h, cost)
		}
	}
	v.OK = true
	if len(s.parts) > 0 {
		decided, by := g.enforce(ctx, r, s.parts, now), 0
		if len(decided) == 1 {
			v.Decision = decided[0].Decision
		} else {
			v.Decision, by = together(decided)
		}
		p := &decided[by]
		v.By, v.Limit, v.Source = p.Rule, p.Limit, p.Source
		p.ready.book.decided.Add(1)
		if !v.OK {
			p.ready.book.refused.Add(1)
		}
		v.Hits = decided
	}
	if len(s.shadow) > 0 && v.OK {
		v.Shadow = g.shadowed(r, s, now)
	}
	return v
}

// enforce decides parts, at least one. It returns those that were decided, in
// an order of its own: a refusal may be known before the others are asked
// about.
func (g *gateway) enforce(ctx context.Context, r *run, parts []hitState, now int64) []hitState {
	design, d := g.fleet.cfg.Design, r.desks[g.n]
	if design <= Central && g.fleet.cfg.Redis == nil {
		r.backends[g.n].take(ctx, parts, now) // memory has no errors
		return parts
	}
	if design.denies() {
		defer d.told(parts)
		if refused := front(parts, func(p *hitState) bool { return d.refused(ctx, p, now) }); refused > 0 {
			return parts[:refused]
		}
	}
	held := 0
	if design.leases() {
		held = front(parts, func(p *hitState) bool { return p.leases() && g.spend(ctx, r, p, now) })
		if short(parts[:held]) {
			d.refund(parts[:held], now)
			return refusals(parts[:held])
		}
	}
	if held == len(parts) {
		d.keep(parts, now)
		return parts
	}
	rest := g.check(ctx, r, parts[held:], now)
	if short(rest) {
		d.refund(parts[:held], now)
		if design.denies() {
			d.learn(rest, now)
		}
		return rest
	}
	if g.fleet.cfg.Redis != nil {
		d.keep(parts, now)
	}
	return parts
}

// check decides parts by the store, or by their fail mode where the store does
// not answer. It returns those that were decided.
func (g *gateway) check(ctx context.Context, r *run, parts []hitState, now int64) []hitState {
	b, d := r.backends[g.n], r.desks[g.n]
	if g.fleet.cfg.Redis == nil {
		b.take(ctx, parts, now) // memory has no errors
		return parts
	}
	var room [2]asked
	nodes := room[:0]
	// Which of the parts' shards are asked? Most requests have one.
	alone := front(parts, func(p *hitState) bool {
		n := b.node(p)
		for i := range nodes {
			if nodes[i].node == n {
				return nodes[i].ticket.Way == limit.Locally
			}
		}
		nodes = append(nodes, asked{n, g.breakers.ask(n, now)})
		return nodes[len(nodes)-1].ticket.Way == limit.Locally
	})
	for i := range alone {
		d.standIn(&parts[i], now, g.breakers.probe(b.node(&parts[i]), now))
	}
	if short(parts[:alone]) {
		d.refund(parts[:alone], now)
		for _, n := range nodes {
			g.breakers.unsent(n.node, n.ticket, now)
		}
		return refusals(parts[:alone])
	}
	if alone == len(parts) {
		return parts
	}
	rest := parts[alone:]
	// A caller that hangs up must not leave it open whether it was counted.
	err := b.take(context.WithoutCancel(ctx), rest, now)
	g.settle(nodes, err)
	if err != nil {
		after := g.now()
		g.undo(b, rest, err, after)
		for i := range rest {
			d.standIn(&rest[i], after, g.breakers.probe(b.node(&rest[i]), after))
		}
	}
	if short(rest) {
		d.refund(parts[:alone], now)
		if err != nil {
			d.refund(rest, now)
		}
		return rest
	}
	return parts
}

// asked is a shard that a request needs, and where its breaker sends it.
type asked struct {
	node   string
	ticket limit.Ticket
}

// settle tells the breakers what became of a call to several shards. Of an
// error it is known which one it is about.
func (g *gateway) settle(nodes []asked, err error) {
	at, known := nodeOf(err)
	for _, n := range nodes {
		switch {
		case n.ticket.Way == limit.Locally:
		case err == nil || len(nodes) == 1 || !known || n.node == at:
			g.outcome(n.node, n.ticket, err)
		default:
			g.breakers.unsent(n.node, n.ticket, g.now())
		}
	}
}

// shadowed decides parts on trial, each apart. They are not obeyed, and with a
// store outside of this process nobody waits for them: then none is returned.
func (g *gateway) shadowed(r *run, s *scratch, now int64) []hitState {
	b, parts := r.backends[g.n], s.shadow
	if g.fleet.cfg.Redis == nil {
		for i := range parts {
			b.take(context.Background(), parts[i:i+1], now)
			parts[i].ready.book.trial(!parts[i].Decision.OK)
		}
		return parts
	}
	for i := range parts {
		p := parts[i]
		node := b.node(&p)
		ticket := g.breakers.ask(node, now)
		if ticket.Way == limit.Locally {
			p.ready.book.missed.Add(1)
			continue
		}
		slot := p.ready.spec.Algorithm == limit.Concurrency
		if slot && s.ended == nil {
			s.ended = make(chan struct{})
		}
		ended := s.ended
		if !g.fleet.background.try(mostShadows, func() {
			one := []hitState{p}
			err := b.take(context.Background(), one, now)
			g.outcome(node, ticket, err)
			if err != nil {
				p.ready.book.missed.Add(1)
				return
			}
			p.ready.book.trial(!one[0].Decision.OK)
			if one[0].Decision.OK && slot {
				<-ended
				b.release(context.Background(), one, now)
			}
		}) {
			g.breakers.unsent(node, ticket, now)
			p.ready.book.missed.Add(1)
		}
	}
	return nil
}

// front moves the parts that is says yes to before the others, both in their
// order, and returns how many they are. It asks about each once.
func front(parts []hitState, is func(p *hitState) bool) int {
	n := 0
	for i := range parts {
		if !is(&parts[i]) {
			continue
		}
		for j := i; j > n; j-- {
			parts[j], parts[j-1] = parts[j-1], parts[j]
		}
		n++
	}
	return n
}

func short(parts []hitState) bool {
	for i := range parts {
		if !parts[i].Decision.OK {
			return true
		}
	}
	return false
}

// refusals are the parts that refused, moved to the front.
func refusals(parts []hitState) []hitState {
	return parts[:front(parts, func(p *hitState) bool { return !p.Decision.OK })]
}

// undo gives slots back of which it is not known whether they were taken.
func (g *gateway) undo(b backend, parts []hitState, err error, now int64) {
	var e *redislimit.StoreError
	if !errors.As(err, &e) || !e.Ambiguous() {
		return
	}
	for i := range parts {
		if parts[i].ready.spec.Algorithm == limit.Concurrency {
			one := []hitState{parts[i]}
			g.fleet.background.Go(func() { b.release(context.Background(), one, now) })
		}
	}
}

// releases reports whether anything is to be given back once the request is
// over.
func (s *scratch) releases() bool { return holds(s.parts) || holds(s.shadow) }

// holds reports whether any of the parts holds slots.
func holds(parts []hitState) bool {
	for i := range parts {
		if p := &parts[i]; p.Decision.OK && p.ready.spec.Algorithm == limit.Concurrency {
			return true
		}
	}
	return false
}

// release gives back the slots of an admitted request. What cannot be given
// back to a store that is away comes free there by itself.
func (g *gateway) release(r *run, s *scratch) {
	now := g.now()
	for _, parts := range [][]hitState{s.parts, s.shadow} {
		for i := range parts {
			p := &parts[i]
			switch {
			case !p.Decision.OK || p.ready.spec.Algorithm != limit.Concurrency:
			case p.atShare:
				share := p.share()
				r.desks[g.n].slots.release(&share, now)
			case p.Source == FromStore || p.Source == FromMemory:
				r.backends[g.n].release(context.Background(), parts[i:i+1], now)
			}
		}
	}
}

// nodeOf is the shard that an error of the store is about, if that is known.
func nodeOf(err error) (node string, known bool) {
	var e *redislimit.StoreError
	if errors.As(err, &e) {
		return e.Node, e.Node != ""
	}
	return "", false
}

package gateway

import (
	"time"

	"github.com/weir-cli/weir/limit"
)

// standby decides for one key while the store does not.
type standby struct {
	limit.Fallback
	by *readyLimit // the limit that it is made for
}

// share is the part under the gateway's own share of a concurrency limit.
func (p *hitState) share() hitState {
	return hitState{ready: p.ready.shareOf, Subject: p.Subject, Cost: p.Cost, common: p.common}
}

// standIn decides a part by its rule's fail mode. probe is how long until the
// store is asked again, which is when a caller that is refused for nothing but
// the store's silence may be told something else.
func (d *desk) standIn(p *hitState, now int64, probe time.Duration) {
	l := p.ready
	if l.shareOf != nil {
		share := p.share()
		p.Decision, p.Source = d.slots.take1(&share, now), FromLocalShare
		p.atShare, p.common = p.Decision.OK, share.common
		return
	}
	switch l.fallback.Mode() {
	case limit.FailOpen:
		// What is left is not known. Saying little would hold back callers
		// that are let through.
		p.Decision = limit.Decision{OK: true, Limit: capacity(l.spec), Remaining: capacity(l.spec), ResetAfter: limit.Unknown}
		p.Source = FromOpen
	case limit.FailClosed:
		p.Decision = limit.Decision{Limit: capacity(l.spec), RetryAfter: probe, ResetAfter: limit.Unknown}
		p.Source = FromClosed
	default:
		s := d.shard(p)
		p.Decision, p.Source = s.standby(p, now).Decide(now, p.Cost), FromLocalShare
		s.mu.Unlock()
	}
}

// keep takes what the store has admitted from the gateway's own share as well,
// so that an outage begins with what is really left of it.
func (d *desk) keep(parts []hitState, now int64) {
	for i := range parts {
		p := &parts[i]
		if p.Decision.OK && p.ready.fallback.Mode() == limit.FailLocal && (p.Source == FromStore || p.Source == FromLease) {
			s := d.shard(p)
			s.standby(p, now).Keep(now, p.Cost)
			s.mu.Unlock()
		}
	}
}

// refund puts back what parts were granted without the store, because another
// part of the request was refused.
func (d *desk) refund(parts []hitState, now int64) {
	for i := range parts {
		p := &parts[i]
		switch {
		case !p.Decision.OK:
		case p.atShare:
			share := p.share()
			d.slots.release(&share, now)
			p.atShare = false
		case p.Source == FromLocalShare:
			s := d.shard(p)
			s.standby(p, now).Refund(now, p.Cost)
			s.mu.Unlock()
		case p.leased:
			s := d.shard(p)
			if h := s.held.rows[p.account()]; h != nil {
				h.refund(p, now)
			}
			s.mu.Unlock()
			p.leased = false
		}
	}
}

// standby finds or makes the part's in a locked shard. Keys beyond its bound
// share one for each rule, so they get less than a share and never more.
func (s *deskShard) standby(p *hitState, now int64) *standby {
	b := s.alone.row(p.account(), now, func(b *standby) bool { return b.Idle(now) })
	if b == nil {
		if b = s.rest[p.ready.name]; b == nil {
			if s.rest == nil {
				s.rest = map[string]*standby{}
			}
			b = new(standby)
			s.rest[p.ready.name] = b
		}
	}
	if b.by != p.ready {
		fresh := p.ready.fallback
		if b.by != nil {
			fresh.Follow(&b.Fallback, now)
		}
		b.Fallback, b.by = fresh, p.ready
	}
	return b
}

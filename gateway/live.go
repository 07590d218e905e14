package gateway

import (
	"fmt"
	"math"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// maxRollout bounds Config.Rollout.
const maxRollout = time.Hour

// mostOffers bounds the rule sets that are on their way to one gateway.
const mostOffers = 64

// offer is a rule set that reaches a gateway at a time.
type offer struct {
	at    int64
	rules *ready
}

// OldRulesError says that a rule set came whose version is not above the one
// in force.
type OldRulesError struct{ Version, InForce int64 }

func (e *OldRulesError) Error() string {
	return fmt.Sprintf("rules of version %d come too late: version %d is in force", e.Version, e.InForce)
}

// Rules is the newest rule set that the fleet was given. With a rollout not
// every gateway may have it yet.
func (f *Fleet) Rules() *rules.Set { return f.newest.Load().set }

// SetRules puts a new rule set in force, whose version must be above the
// newest: an [*OldRulesError] says otherwise. Requests in progress end under
// the rules that they began with. Buckets stay what they are: a changed limit
// goes on with the tokens that are there, at most its new burst.
func (f *Fleet) SetRules(set *rules.Set) error { return f.setRules(set, f.now()) }

func (f *Fleet) setRules(set *rules.Set, now int64) error {
	f.ruling.Lock()
	defer f.ruling.Unlock()
	if old := f.newest.Load().set.Version; set.Version <= old {
		return &OldRulesError{set.Version, old}
	}
	r, err := f.prepare(set)
	if err != nil {
		f.books.keep(f.Rules())
		return err
	}
	f.newest.Store(r)
	f.books.keep(set)
	f.observer.rulesLoaded(set.Version, nil)
	for i, g := range f.gateways {
		g.offer(offer{plus(now, int64(f.cfg.Rollout)*int64(i)/int64(len(f.gateways))), r})
	}
	return nil
}

// current is the rule set in force in g at now.
func (g *gateway) current(now int64) *ready {
	if now >= g.next.Load() {
		g.adopt(now)
	}
	return g.rules.Load()
}

// offer has a rule set reach g when it is due.
func (g *gateway) offer(o offer) {
	g.coming.Lock()
	defer g.coming.Unlock()
	if len(g.offers) == mostOffers {
		g.offers = append(g.offers[:0], g.offers[1:]...)
	}
	g.offers = append(g.offers, o)
	g.next.Store(min(g.next.Load(), o.at))
}

// adopt takes over what has come by now. Versions only go up.
func (g *gateway) adopt(now int64) {
	g.coming.Lock()
	defer g.coming.Unlock()
	next, later := int64(math.MaxInt64), g.offers[:0]
	for _, o := range g.offers {
		switch {
		case o.at > now:
			next, later = min(next, o.at), append(later, o)
		case g.versions.Offer(o.rules.set.Version, o.rules):
			g.rules.Store(o.rules)
			g.fleet.run.Load().desks[g.n].forget()
		}
	}
	clear(g.offers[len(later):])
	g.offers = later
	g.next.Store(next)
}

// add appends what a request of this cost asks of the limit of a hit.
func (r *ready) add(dst []hitState, h *rules.Hit, cost int64) []hitState {
	n, l := len(dst), r.limits[h.Limit.Index]
	if n == cap(dst) {
		dst = append(dst, hitState{})
	}
	// Field by field: with the collector at work, copying a whole one with its
	// pointers costs as much as a decision in memory.
	dst = dst[:n+1]
	p := &dst[n]
	p.Rule, p.Limit, p.ready = l.rule, l.limit, l
	p.Subject, p.Cost = h.Subject, times(h.Cost, cost)
	p.leased, p.asks, p.atShare, p.common, p.id, p.key = false, false, false, false, "", ""
	p.Decision, p.Source = limit.Decision{}, FromMemory
	return dst
}

// lends reports whether any limit of the rule is leased.
func (r *ready) lends(name string) bool {
	for _, l := range r.limits {
		if l.name == name && (l.block != nil || l.batch != nil) {
			return true
		}
	}
	return false
}

// promise is what the fleet promises in a few words.
func (f *Fleet) promise() string {
	if f.cfg.Rules == nil {
		return f.cfg.Limit.String()
	}
	set := f.Rules()
	if len(set.Rules) == 1 {
		return fmt.Sprintf("1 rule, version %d", set.Version)
	}
	return fmt.Sprintf("%d rules, version %d", len(set.Rules), set.Version)
}

// tidyUntilStopped gives back what outlives its lease.
func (f *Fleet) tidyUntilStopped() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			for _, g := range f.gateways {
				g.tidy(f.run.Load(), g.now(), false)
			}
		case <-f.stopped:
			return
		}
	}
}

// settleUp gives back what gateways hold, and waits for what is under way in
// the store: for as long as a check may take.
func (f *Fleet) settleUp() {
	f.background.wait()
	if f.cfg.Design.leases() {
		for _, g := range f.gateways {
			g.tidy(f.run.Load(), g.now(), true)
		}
		f.background.wait()
	}
	for _, s := range f.stores {
		s.Close()
	}
}

package gateway

import (
	"context"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/weir-cli/weir/limit"
)

const (
	deskShards = 16
	// deskKeys bounds each of a gateway's tables: refusals, leases, fallbacks.
	deskKeys = 100_000
)

// desk is what one gateway keeps of the keys that it has seen, beside the
// store: refusals, tokens that it holds, and its own share for when the store
// is away. Safe for concurrent use.
type desk struct {
	seed   maphash.Seed
	slots  *bank // the gateway's share of concurrency limits
	shards [deskShards]deskShard
	// patience is how long a request waits for what another one is told.
	patience time.Duration
}

type deskShard struct {
	mu     sync.Mutex
	denied *limit.DenyCache[refusalKey]
	asking map[refusalKey]*asking
	held   roster[held]
	alone  roster[standby]
	rest   map[string]*standby // by rule; of the keys that found no room
	random *rand.Rand          // jitter of denials
	_      [64]byte            // keeps neighbours' locks off one cache line
}

func newDesk(seed int64, gateway int, patience time.Duration) *desk {
	d := &desk{seed: maphash.MakeSeed(), slots: newBank(deskKeys, 0, bankSlack), patience: patience}
	for i := range d.shards {
		d.shards[i].denied = limit.NewDenyCache[refusalKey](deskKeys / deskShards)
		d.shards[i].random = rand.New(rand.NewPCG(uint64(seed), uint64(gateway)<<8|uint64(i)))
	}
	return d
}

// accountKey is whose bucket it is, under which rule.
type accountKey struct{ subject, rule string }

// shard locks and returns the part's.
func (d *desk) shard(p *hitState) *deskShard {
	s := &d.shards[maphash.String(d.seed, p.Subject)%deskShards]
	s.mu.Lock()
	return s
}

// forget drops the refusals, as when limits have changed: they are not asked
// for any more, and hold on to what is gone.
func (d *desk) forget() {
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.Lock()
		s.denied = limit.NewDenyCache[refusalKey](deskKeys / deskShards)
		s.mu.Unlock()
	}
}

func (p *hitState) account() accountKey { return accountKey{p.Subject, p.ready.name} }

// refusalKey is whom which limit refuses: its successor, or the one that an
// override gives way to, has not said so.
type refusalKey struct {
	subject string
	by      *readyLimit
}

// refusal is the part's. The subject may be part of a whole request line, so
// what is kept gets its own.
func (p *hitState) refusal() refusalKey { return refusalKey{p.Subject, p.ready} }
func (k refusalKey) kept() refusalKey   { k.subject = strings.Clone(k.subject); return k }

// asking is a request that asks the store about a key whose refusal has ended,
// while others wait to hear what it is told.
type asking struct {
	known chan struct{} // closed when the store has said
	// left is how many units it said were left: for those who waited to ask
	// about. Guarded by the shard.
	left int64
}

// refused reports whether a refusal by the store is still in force. When it has
// just ended, the first request asks the store again, and those that come
// meanwhile wait to hear what it is told. When it was let through, as many of
// them ask as there are units left, and again one more, for the rest to hear: a
// flood costs one call, and one for each unit that it gets.
func (d *desk) refused(ctx context.Context, p *hitState, now int64) bool {
	s := d.shard(p)
	defer s.mu.Unlock()
	known := s.denied.Len()
	wait, refused := s.denied.Refused(p.refusal(), now, p.Cost)
	ended := s.denied.Len() < known
	var patience *time.Timer
	for !refused {
		a := s.asking[p.refusal()]
		switch {
		case a == nil && ended:
			s.ask(p)
			return false
		case a == nil:
			return false
		case patience == nil:
			patience = time.NewTimer(d.patience)
			defer patience.Stop()
		}
		s.mu.Unlock()
		heard := false
		select {
		case <-a.known:
			heard = true
		case <-patience.C:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if !heard {
			return false
		}
		wait, refused = s.denied.Refused(p.refusal(), now, p.Cost)
		if !refused && a.left >= p.Cost {
			a.left -= p.Cost
			return false
		}
		ended = true
	}
	p.Decision, p.Source = standing(p.ready.spec, p.Cost, wait), FromDenyCache
	return true
}

// ask has the part ask for all, in a locked shard.
func (s *deskShard) ask(p *hitState) {
	if s.asking == nil {
		s.asking = map[refusalKey]*asking{}
	}
	s.asking[p.refusal().kept()] = &asking{known: make(chan struct{})}
	p.asks = true
}

// told lets those go on who wait for what parts are told.
func (d *desk) told(parts []hitState) {
	for i := range parts {
		p := &parts[i]
		if !p.asks {
			continue
		}
		s := d.shard(p)
		if a := s.asking[p.refusal()]; a != nil {
			a.left = p.leaves()
			close(a.known)
			delete(s.asking, p.refusal())
		}
		s.mu.Unlock()
		p.asks = false
	}
}

// leaves is how many units others may ask about once the part was decided. Who
// was not asked, since another limit refused, leaves it to the next to ask.
func (p *hitState) leaves() int64 {
	switch {
	case p.Source != FromStore && p.Source != FromMemory || p.Decision.RetryAfter < 0:
		return math.MaxInt64
	case p.Decision.OK:
		return p.Decision.Remaining
	}
	return 0
}

// learn keeps the store's refusals among parts.
func (d *desk) learn(parts []hitState, now int64) {
	for i := range parts {
		p := &parts[i]
		if p.Decision.OK || p.Decision.RetryAfter <= 0 || p.Source != FromStore && p.Source != FromMemory {
			continue
		}
		s := d.shard(p)
		s.denied.Learn(p.refusal().kept(), now, p.Cost, p.Decision)
		s.mu.Unlock()
	}
}

// standing is a refusal of which only the wait is left: cost passes after it,
// if nobody else asks. What else can be said of a bucket follows from that.
func standing(s limit.Spec, cost int64, wait time.Duration) limit.Decision {
	d := limit.Decision{Limit: capacity(s), RetryAfter: wait, ResetAfter: limit.Unknown}
	if s.Rate.Units == 0 {
		return d
	}
	// Amounts in tokens; for people, so doubles will do.
	perNs := float64(s.Rate.Units) / float64(s.Rate.Per)
	d.Remaining = max(0, min(cost-1, int64(float64(cost)-float64(wait)*perNs)))
	if more := float64(d.Limit-cost) / perNs; more < math.MaxInt64/4 {
		d.ResetAfter = wait + time.Duration(more)
	}
	return d
}

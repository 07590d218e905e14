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
	denied *limit.DenyCache[accountKey]
	// asking has the keys whose refusal has ended and about which one request
	// is asking the store again; closed when it knows.
	asking map[accountKey]chan struct{}
	held   roster[held]
	alone  roster[standby]
	rest   map[string]*standby // by rule; of the keys that found no room
	random *rand.Rand          // jitter of denials
	_      [64]byte            // keeps neighbours' locks off one cache line
}

func newDesk(seed int64, gateway int, patience time.Duration) *desk {
	d := &desk{seed: maphash.MakeSeed(), slots: newBank(deskKeys, 0, bankSlack), patience: patience}
	for i := range d.shards {
		d.shards[i].denied = limit.NewDenyCache[accountKey](deskKeys / deskShards)
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

// forget drops the refusals, as when limits have changed.
func (d *desk) forget() {
	for i := range d.shards {
		s := &d.shards[i]
		s.mu.Lock()
		s.denied = limit.NewDenyCache[accountKey](deskKeys / deskShards)
		s.mu.Unlock()
	}
}

func (p *hitState) account() accountKey { return accountKey{p.Subject, p.ready.name} }

// refused reports whether a refusal by the store is still in force. When it has
// just ended, the first request asks the store again, and those that come
// meanwhile wait to hear what it is told: a flood costs one call.
func (d *desk) refused(ctx context.Context, p *hitState, now int64) bool {
	s := d.shard(p)
	known := s.denied.Len()
	wait, refused := s.denied.Refused(p.account(), now, p.Cost)
	asking := s.asking[p.account()]
	switch {
	case refused:
	case asking != nil:
		s.mu.Unlock()
		patience := time.NewTimer(d.patience)
		defer patience.Stop()
		select {
		case <-asking:
		case <-patience.C:
			return false
		case <-ctx.Done():
			return false
		}
		s.mu.Lock()
		wait, refused = s.denied.Refused(p.account(), now, p.Cost)
	case s.denied.Len() < known:
		if s.asking == nil {
			s.asking = map[accountKey]chan struct{}{}
		}
		k := p.account()
		k.subject = strings.Clone(k.subject)
		s.asking[k] = make(chan struct{})
		p.asks = true
	}
	s.mu.Unlock()
	if refused {
		p.Decision, p.Source = standing(p.ready.spec, p.Cost, wait), FromDenyCache
	}
	return refused
}

// told lets those go on who wait for what parts are told.
func (d *desk) told(parts []hitState) {
	for i := range parts {
		p := &parts[i]
		if !p.asks {
			continue
		}
		s := d.shard(p)
		if c := s.asking[p.account()]; c != nil {
			close(c)
			delete(s.asking, p.account())
		}
		s.mu.Unlock()
		p.asks = false
	}
}

// learn keeps the store's refusals among parts.
func (d *desk) learn(parts []hitState, now int64) {
	for i := range parts {
		p := &parts[i]
		if p.Decision.OK || p.Decision.RetryAfter <= 0 || p.Source != FromStore && p.Source != FromMemory {
			continue
		}
		k := p.account()
		k.subject = strings.Clone(k.subject)
		s := d.shard(p)
		s.denied.Learn(k, now, p.Cost, p.Decision)
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

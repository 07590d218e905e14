package gateway

import (
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
}

type deskShard struct {
	mu     sync.Mutex
	denied *limit.DenyCache[accountKey]
	held   roster[held]
	alone  roster[standby]
	rest   map[string]*standby // by rule; of the keys that found no room
	random *rand.Rand          // jitter of denials
	_      [64]byte            // keeps neighbours' locks off one cache line
}

func newDesk(seed int64, gateway int) *desk {
	d := &desk{seed: maphash.MakeSeed(), slots: newBank(deskKeys, 0, bankSlack)}
	for i := range d.shards {
		d.shards[i].denied = limit.NewDenyCache[accountKey](deskKeys / deskShards)
		d.shards[i].random = rand.New(rand.NewPCG(uint64(seed), uint64(gateway)<<8|uint64(i)))
	}
	return d
}

// accountKey is whose bucket it is, under which rule.
type accountKey struct{ subject, rule string }

// shard locks and returns the part's.
func (d *desk) shard(p *part) *deskShard {
	s := &d.shards[maphash.String(d.seed, p.subject)%deskShards]
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

func (p *part) account() accountKey { return accountKey{p.subject, p.limit.name} }

// refused reports whether a refusal by the store is still in force.
func (d *desk) refused(p *part, now int64) bool {
	s := d.shard(p)
	wait, refused := s.denied.Refused(p.account(), now, p.cost)
	s.mu.Unlock()
	if refused {
		p.d, p.source = standing(p.limit.spec, p.cost, wait), FromDenyCache
	}
	return refused
}

// learn keeps the store's refusals among parts.
func (d *desk) learn(parts []part, now int64) {
	for i := range parts {
		p := &parts[i]
		if p.d.OK || p.d.RetryAfter <= 0 || p.source != FromStore && p.source != FromMemory {
			continue
		}
		k := p.account()
		k.subject = strings.Clone(k.subject)
		s := d.shard(p)
		s.denied.Learn(k, now, p.cost, p.d)
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

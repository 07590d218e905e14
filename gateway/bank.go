package gateway

import (
	"hash/maphash"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-cli/weir/limit"
)

const (
	bankShards = 256
	// bankSlack is how much longer than it must an account is kept, so that
	// clocks that differ by less never notice that it was dropped.
	bankSlack = 5 * time.Second
	// sweepLeast is the shortest time between two looks at all of a full
	// shard's accounts, which a flood of new keys would otherwise ask for each
	// time.
	sweepLeast = int64(time.Second)
	firstSweep = 1024
)

// accountKey is whose bucket it is, under which rule.
type accountKey struct{ subject, rule string }

// account is the state of one subject under one rule, whatever its limit is at
// the moment.
type account struct {
	state   limit.State
	limiter limit.Limiter // that wrote the state
}

// bank keeps limits in memory: one gateway's, or the one store of a fleet. It
// decides any number of limits all or nothing. A limit that changes carries
// its state along. Safe for concurrent use.
//
// It holds at most so many accounts. Those above that share one per rule and
// shard, which fails safe: such keys get less than their limit, never more.
type bank struct {
	max    int64
	slack  int64
	seed   maphash.Seed
	order  int // of its locks among those of other banks
	n      atomic.Int64
	shards [bankShards]bankShard
}

type bankShard struct {
	mu       sync.Mutex
	accounts map[accountKey]*account
	common   map[string]*account // by rule; of those that found no room
	sweepAt  int                 // accounts
	swept    int64               // when
	_        [64]byte            // keeps neighbours' locks off one cache line
}

func newBank(maxKeys, order int, slack time.Duration) *bank {
	b := &bank{max: int64(maxKeys), slack: int64(slack), seed: maphash.MakeSeed(), order: order}
	for i := range b.shards {
		b.shards[i].sweepAt = firstSweep
	}
	return b
}

// shardOf is where a subject's account under a rule is. Subjects share a shard
// with themselves under other rules, so that most requests lock one.
func (b *bank) shardOf(subject string) int {
	return int(maphash.String(b.seed, subject) % bankShards)
}

// account finds or makes an account in a locked shard, and brings it under
// the part's limit.
func (b *bank) account(s *bankShard, p *part, now int64) *account {
	a := s.accounts[accountKey{p.subject, p.limit.name}]
	if a == nil {
		a = b.open(s, p, now)
	}
	if a.limiter != p.limit.limiter {
		if a.limiter != nil && a.limiter.Spec() != p.limit.spec {
			a.state = carry(&a.state, a.limiter, p.limit.limiter, now)
		}
		a.limiter = p.limit.limiter
	}
	return a
}

// open makes an account, or shares one when there is no room.
func (b *bank) open(s *bankShard, p *part, now int64) *account {
	if len(s.accounts) >= s.sweepAt {
		b.sweep(s, now)
	}
	if b.n.Add(1) > b.max {
		b.n.Add(-1)
		if now-s.swept >= sweepLeast {
			b.sweep(s, now)
		}
		if a := s.common[p.limit.name]; a != nil {
			return a
		}
		if s.common == nil {
			s.common = map[string]*account{}
		}
		a := new(account)
		s.common[p.limit.name] = a
		return a
	}
	if s.accounts == nil {
		s.accounts = map[accountKey]*account{}
	}
	a := new(account)
	// The subject may be part of a whole request line; keep no more than it.
	s.accounts[accountKey{strings.Clone(p.subject), p.limit.name}] = a
	return a
}

// sweep drops the accounts that can no longer matter.
func (b *bank) sweep(s *bankShard, now int64) {
	before := len(s.accounts)
	for k, a := range s.accounts {
		if a.limiter == nil || a.limiter.Fresh(&a.state, now-b.slack) {
			delete(s.accounts, k)
		}
	}
	b.n.Add(int64(len(s.accounts) - before))
	s.sweepAt = max(firstSweep, 2*len(s.accounts))
	s.swept = now
}

// take1 decides one part.
func (b *bank) take1(p *part, now int64) limit.Decision {
	s := &b.shards[b.shardOf(p.subject)]
	s.mu.Lock()
	a := b.account(s, p, now)
	d := a.limiter.Take(&a.state, now, p.cost)
	s.mu.Unlock()
	return d
}

// release gives back what a concurrency limit's part holds.
func (b *bank) release(p *part, now int64) {
	s := &b.shards[b.shardOf(p.subject)]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[accountKey{p.subject, p.limit.name}]
	if a == nil {
		a = s.common[p.limit.name]
	}
	if a == nil {
		return
	}
	if l, ok := a.limiter.(limit.Releaser); ok {
		l.Release(&a.state, now, p.cost)
	}
}

// lease takes block tokens, or what there is when that is at least least. When
// it takes nothing, wait is how long until least are there.
func (b *bank) lease(p *part, now, block, least int64) (granted int64, wait time.Duration) {
	s := &b.shards[b.shardOf(p.subject)]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := b.account(s, p, now)
	granted = min(block, a.limiter.Take(&a.state, now, 0).Remaining)
	if granted < least {
		return 0, a.limiter.Take(&a.state, now, least).RetryAfter
	}
	a.limiter.Take(&a.state, now, granted)
	return granted, 0
}

// giveBack returns leased tokens.
func (b *bank) giveBack(p *part, now, n int64) {
	s := &b.shards[b.shardOf(p.subject)]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := b.account(s, p, now)
	a.state = giveBack(&a.state, a.limiter, now, n)
}

// place is a part's shard in its bank.
type place struct {
	bank  *bank
	shard int
}

func (l place) cmp(o place) int {
	if l.bank != o.bank {
		return l.bank.order - o.bank.order
	}
	return l.shard - o.shard
}

// takeAll decides parts that may be in several banks, all or nothing: where(p)
// has the account of p. It fills their decisions in.
func takeAll(parts []part, now int64, where func(p *part) *bank) {
	if len(parts) == 1 {
		p := &parts[0]
		p.d = where(p).take1(p, now)
		return
	}
	var room [maxParts]place
	places := room[:0]
	for i := range parts {
		b := where(&parts[i])
		places = append(places, place{b, b.shardOf(parts[i].subject)})
	}
	// One order for all callers, and each lock once.
	locks := slices.Clone(places)
	slices.SortFunc(locks, place.cmp)
	locks = slices.Compact(locks)
	for _, l := range locks {
		l.bank.shards[l.shard].mu.Lock()
	}
	defer func() {
		for _, l := range locks {
			l.bank.shards[l.shard].mu.Unlock()
		}
	}()
	ok := true
	for i := range parts {
		p := &parts[i]
		a := places[i].bank.account(&places[i].bank.shards[places[i].shard], p, now)
		// Remaining is what would pass, so this needs no trial.
		if p.d = a.limiter.Take(&a.state, now, 0); p.cost == 0 || p.cost > 0 && p.cost <= p.d.Remaining {
			p.d.OK, p.d.RetryAfter = true, 0
			continue
		}
		p.d = a.limiter.Take(&a.state, now, p.cost)
		ok = false
	}
	if !ok {
		return
	}
	for i := range parts {
		p := &parts[i]
		if p.cost != 0 {
			a := places[i].bank.account(&places[i].bank.shards[places[i].shard], p, now)
			p.d = a.limiter.Take(&a.state, now, p.cost)
		}
	}
}

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

// account is the state of one subject under one rule, whatever its limit is at
// the moment.
type account struct {
	rule    string // "" for one that those without room share
	state   limit.State
	limiter limit.Limiter // that wrote the state
}

// holder is a subject with its accounts: few, since there are few rules.
type holder struct {
	first account
	more  []*account
}

// find returns the subject's account under a rule; nil when there is none.
func (h *holder) find(rule string) *account {
	if h == nil {
		return nil
	}
	if h.first.rule == rule {
		return &h.first
	}
	for _, a := range h.more {
		if a.rule == rule {
			return a
		}
	}
	return nil
}

// open makes an account for a rule that has none.
func (h *holder) open(rule string) *account {
	if h.first.rule == "" {
		h.first.rule = rule
		return &h.first
	}
	a := &account{rule: rule}
	h.more = append(h.more, a)
	return a
}

// drop removes the accounts that can no longer matter at now, except those of
// keep, and returns how many are left and how many went. The first stays where
// it is as long as there are others.
func (h *holder) drop(now int64, keep []*account) (left, dropped int) {
	idle := func(a *account) bool {
		return (a.limiter == nil || a.limiter.Fresh(&a.state, now)) && !slices.Contains(keep, a)
	}
	before := len(h.more)
	h.more = slices.DeleteFunc(h.more, idle)
	dropped = before - len(h.more)
	if h.first.rule == "" || idle(&h.first) {
		if h.first.rule != "" {
			dropped++
		}
		h.first = account{}
		return len(h.more), dropped
	}
	return len(h.more) + 1, dropped
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
	steal  atomic.Uint32 // the shard to look for room in next
	shards [bankShards]bankShard
}

type bankShard struct {
	mu      sync.Mutex
	holders map[string]*holder  // by subject
	common  map[string]*account // by rule; of those that found no room
	sweepAt int                 // holders
	swept   int64               // when
	_       [64]byte            // keeps neighbours' locks off one cache line
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
// the part's limit. Those of keep stay where they are.
func (b *bank) account(s *bankShard, p *hitState, now int64, keep []*account) *account {
	a := s.holders[p.Subject].find(p.ready.name)
	if a == nil {
		a = b.open(s, p, now, keep)
	}
	p.common = a.rule == ""
	if a.limiter != p.ready.limiter {
		if a.limiter != nil && a.limiter.Spec() != p.ready.spec {
			a.state = carry(&a.state, a.limiter, p.ready.limiter, now)
		}
		a.limiter = p.ready.limiter
	}
	return a
}

// open makes an account, or shares one when there is no room.
func (b *bank) open(s *bankShard, p *hitState, now int64, keep []*account) *account {
	if len(s.holders) >= s.sweepAt {
		b.sweep(s, now, keep)
	}
	if !b.reserve(s, now, keep) {
		if a := s.common[p.ready.name]; a != nil {
			return a
		}
		if s.common == nil {
			s.common = map[string]*account{}
		}
		a := new(account)
		s.common[p.ready.name] = a
		return a
	}
	h := s.holders[p.Subject]
	if h == nil {
		if s.holders == nil {
			s.holders = map[string]*holder{}
		}
		h = new(holder)
		// The subject may be part of a whole request line; keep no more than it.
		s.holders[strings.Clone(p.Subject)] = h
	}
	return h.open(p.ready.name)
}

// reserve counts one more account if there is room, after looking for some to
// drop in this shard and in a few others.
func (b *bank) reserve(s *bankShard, now int64, keep []*account) bool {
	if b.count() {
		return true
	}
	if now-s.swept >= sweepLeast {
		b.sweep(s, now, keep)
	}
	for range 4 {
		other := &b.shards[b.steal.Add(1)%bankShards]
		// Waiting for a second lock while holding one could deadlock.
		if other == s || !other.mu.TryLock() {
			continue
		}
		if now-other.swept >= sweepLeast {
			b.sweep(other, now, nil) // whoever keeps accounts of it has it locked
		}
		other.mu.Unlock()
	}
	return b.count()
}

func (b *bank) count() bool {
	if b.n.Add(1) <= b.max {
		return true
	}
	b.n.Add(-1)
	return false
}

// sweep drops the accounts that can no longer matter, except those of keep.
func (b *bank) sweep(s *bankShard, now int64, keep []*account) {
	for k, h := range s.holders {
		left, dropped := h.drop(now-b.slack, keep)
		b.n.Add(int64(-dropped))
		if left == 0 {
			delete(s.holders, k)
		}
	}
	s.sweepAt = max(firstSweep, 2*len(s.holders))
	s.swept = now
}

// take1 decides one part.
func (b *bank) take1(p *hitState, now int64) limit.Decision {
	s := &b.shards[b.shardOf(p.Subject)]
	s.mu.Lock()
	a := b.account(s, p, now, nil)
	d := a.limiter.Take(&a.state, now, p.Cost)
	s.mu.Unlock()
	return d
}

// release gives back what a concurrency limit's part holds.
func (b *bank) release(p *hitState, now int64) {
	s := &b.shards[b.shardOf(p.Subject)]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.common[p.ready.name]
	if !p.common {
		a = s.holders[p.Subject].find(p.ready.name)
	}
	if a == nil {
		return
	}
	if l, ok := a.limiter.(limit.Releaser); ok {
		l.Release(&a.state, now, p.Cost)
	}
}

// lease takes block tokens, or what there is when that is at least least. When
// it takes nothing, wait is how long until least are there.
func (b *bank) lease(p *hitState, now, block, least int64) (granted int64, wait time.Duration) {
	s := &b.shards[b.shardOf(p.Subject)]
	s.mu.Lock()
	defer s.mu.Unlock()
	a := b.account(s, p, now, nil)
	granted = min(block, a.limiter.Take(&a.state, now, 0).Remaining)
	if granted < least {
		return 0, a.limiter.Take(&a.state, now, least).RetryAfter
	}
	a.limiter.Take(&a.state, now, granted)
	return granted, 0
}

// giveBack returns leased tokens to the part's own account, under the limit that
// it is under by now: an old one would fill it at its own rate. An account that
// is no more was full.
func (b *bank) giveBack(p *hitState, now, n int64) {
	s := &b.shards[b.shardOf(p.Subject)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.holders[p.Subject].find(p.ready.name); a != nil && a.limiter.Spec().Algorithm == limit.TokenBucket {
		a.state = giveBack(&a.state, a.limiter, now, n)
	}
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
func takeAll(parts []hitState, now int64, where func(p *hitState) *bank) {
	var room [maxParts]place
	places := room[:0]
	for i := range parts {
		b := where(&parts[i])
		places = append(places, place{b, b.shardOf(parts[i].Subject)})
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
	// What is looked at is what is charged: an account that was full when it was
	// looked at must not make room for a later part's, and then find none itself.
	var kept [maxParts]*account
	accounts, ok := kept[:0], true
	for i := range parts {
		p := &parts[i]
		a := places[i].bank.account(&places[i].bank.shards[places[i].shard], p, now, accounts)
		accounts = append(accounts, a)
		// Remaining is what would pass, so this needs no trial.
		if p.Decision = a.limiter.Take(&a.state, now, 0); p.Cost == 0 || p.Cost > 0 && p.Cost <= p.Decision.Remaining {
			p.Decision.OK, p.Decision.RetryAfter = true, 0
			continue
		}
		p.Decision = a.limiter.Take(&a.state, now, p.Cost)
		ok = false
	}
	if !ok {
		return
	}
	for i := range parts {
		p := &parts[i]
		if a := accounts[i]; p.Cost != 0 {
			p.Decision = a.limiter.Take(&a.state, now, p.Cost)
		}
	}
}

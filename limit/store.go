package limit

import (
	"hash/maphash"
	"math"
	"math/bits"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"
)

// WhenFull says what a store does with a key it has no room for.
type WhenFull uint8

const (
	// ShareOne lets all keys above the cap share one state per shard. It fails
	// safe: no key ever gets more than its limit, and keys above the cap get
	// less. A key that moves from the shared state to one of its own, once
	// there is room, starts with what the shared one has.
	ShareOne WhenFull = iota
	// RefuseNew refuses keys above the cap, with an Unknown wait.
	RefuseNew
	// AdmitNew lets keys above the cap pass as if never seen and remembers
	// nothing of them. It fails open: such keys have no limit but the burst of
	// one call.
	AdmitNew
)

// String names the policy.
func (w WhenFull) String() string {
	switch w {
	case ShareOne:
		return "share-one"
	case RefuseNew:
		return "refuse-new"
	case AdmitNew:
		return "admit-new"
	}
	return "unknown"
}

// DefaultMaxKeys is the cap on keys when none is given.
const DefaultMaxKeys = 1_000_000

// StoreOptions are a store's numbers; the zero value is the default of each.
type StoreOptions struct {
	MaxKeys  int // cap on keys; 0 means DefaultMaxKeys
	WhenFull WhenFull
	Shards   int // rounded up to a power of two; 0 means 256
	// Slack is how much longer than it must a key is kept, so that callers
	// whose clocks differ by less never notice that it was dropped. 0 means
	// 5 s, or an hour for a spec with Follow.
	Slack time.Duration
}

// Store keeps one state per key for one limiter, in memory. It is safe for
// concurrent use; keys are spread over shards with a lock each.
//
// Keys are dropped once their state can no longer matter. Every call looks at
// a few others' keys for that, so there is no goroutine, and a store that
// nobody calls keeps its memory (see Sweep). If the clock steps back by more
// than Slack, keys that are new or were dropped start no earlier than the
// instant that keys of their shard were last dropped at, so the step gives
// nobody a second helping. A call whose clock is far ahead therefore holds up
// new keys of its shard until the others' clocks get there.
type Store struct {
	limiter  Limiter
	releaser Releaser // nil unless units are given back
	follow   bool
	full     WhenFull
	max      int64
	slack    int64
	seed     maphash.Seed
	shift    uint // the top bits of the hash choose the shard
	shards   []shard
	keys     atomic.Int64
	steal    atomic.Uint32 // the shard to look for room in next
}

// NewStore makes an empty store around l.
func NewStore(l Limiter, o StoreOptions) *Store {
	s := &Store{limiter: l, follow: l.Spec().Follow, full: o.WhenFull, seed: maphash.MakeSeed()}
	s.releaser, _ = l.(Releaser)
	s.max = DefaultMaxKeys
	if o.MaxKeys > 0 {
		s.max = int64(o.MaxKeys)
	}
	s.slack = int64(5 * time.Second)
	if s.follow {
		s.slack = int64(time.Hour)
	}
	if o.Slack > 0 {
		s.slack = int64(o.Slack)
	}
	n := 256
	if o.Shards > 0 {
		n = 1 << bits.Len(uint(min(o.Shards, 1<<16)-1))
	}
	s.shards = make([]shard, n)
	for i := range s.shards {
		s.shards[i].floor = math.MinInt64
	}
	s.shift = uint(64 - bits.TrailingZeros(uint(n)))
	return s
}

// Limiter returns what the store decides with.
func (s *Store) Limiter() Limiter { return s.limiter }

// Take decides for key. It keeps a copy of a key it has not seen.
func (s *Store) Take(key string, now, cost int64) Decision {
	h := maphash.String(s.seed, key)
	sh := &s.shards[h>>s.shift]
	sh.Lock()
	d := s.take(sh, uint32(h)|live, key, now, cost)
	sh.Unlock()
	return d
}

// TakeBytes is Take without an allocation for a key that is known. It does not
// keep key.
func (s *Store) TakeBytes(key []byte, now, cost int64) Decision {
	// The string lives no longer than the call; insert copies it.
	return s.Take(unsafe.String(unsafe.SliceData(key), len(key)), now, cost)
}

// Release gives back units of a concurrency limit. For other limiters, and for
// keys that hold nothing, it does nothing.
func (s *Store) Release(key string, now, cost int64) {
	if s.releaser == nil {
		return
	}
	h := maphash.String(s.seed, key)
	sh := &s.shards[h>>s.shift]
	sh.Lock()
	defer sh.Unlock()
	if e := sh.find(uint32(h)|live, key); e != nil {
		s.releaser.Release(&e.state, now, cost)
	} else if sh.shared {
		s.releaser.Release(&sh.common, now, cost)
	}
}

// take decides with the shard locked.
func (s *Store) take(sh *shard, mark uint32, key string, now, cost int64) Decision {
	sh.calls++
	if sh.calls%16 == 0 {
		s.sweep(sh, now, 1)
	}
	if e := sh.find(mark, key); e != nil {
		return s.limiter.Take(&e.state, now, cost)
	}
	s.sweep(sh, now, 2)
	if sh.shared && s.limiter.Fresh(&sh.common, s.before(now)) {
		sh.shared, sh.common = false, State{}
		sh.raise(s.before(now))
	}
	if cost <= 0 {
		return s.peek(sh, now, cost)
	}
	if sh.shared && s.releaser != nil {
		// What the shared state holds may be this key's own.
		return s.share(sh, now, cost)
	}
	if !s.reserve(sh, now) {
		return s.turnAway(sh, now, cost)
	}
	if sh.shared {
		sh.scratch = sh.common.Clone()
	} else {
		sh.scratch = State{}
	}
	d := s.takeNew(sh, &sh.scratch, now, cost)
	if d.OK || !s.limiter.Fresh(&sh.scratch, now) {
		sh.insert(mark, strings.Clone(key), sh.scratch)
		sh.inserted++
	} else {
		s.keys.Add(-1)
	}
	sh.scratch = State{}
	return d
}

// peek answers a call that must not change anything for a key not in the table.
func (s *Store) peek(sh *shard, now, cost int64) Decision {
	if sh.shared {
		return s.limiter.Take(&sh.common, now, cost)
	}
	if s.full == RefuseNew && s.keys.Load() >= s.max {
		return s.refusal(sh, now)
	}
	sh.scratch = State{}
	return s.takeNew(sh, &sh.scratch, now, cost)
}

// takeNew decides for a state that may have been dropped before: not before
// the shard's floor.
func (s *Store) takeNew(sh *shard, st *State, now, cost int64) Decision {
	if s.follow || now >= sh.floor {
		return s.limiter.Take(st, now, cost)
	}
	d := s.limiter.Take(st, sh.floor, cost)
	d.behind(instant(sh.floor) - instant(now))
	return d
}

// turnAway decides for a key that there is no room for.
func (s *Store) turnAway(sh *shard, now, cost int64) Decision {
	switch s.full {
	case RefuseNew:
		sh.turnedAway++
		return s.refusal(sh, now)
	case AdmitNew:
		sh.turnedAway++
		sh.scratch = State{}
		d := s.limiter.Take(&sh.scratch, now, cost)
		sh.scratch = State{}
		return d
	}
	return s.share(sh, now, cost)
}

// share decides on the shard's shared state.
func (s *Store) share(sh *shard, now, cost int64) Decision {
	sh.turnedAway++
	if !sh.shared {
		sh.shared = true
		return s.takeNew(sh, &sh.common, now, cost)
	}
	return s.limiter.Take(&sh.common, now, cost)
}

// refusal is the answer of RefuseNew.
func (s *Store) refusal(sh *shard, now int64) Decision {
	sh.scratch = State{}
	d := s.limiter.Take(&sh.scratch, now, 0)
	return Decision{Limit: d.Limit, RetryAfter: Unknown, ResetAfter: Unknown}
}

// before is now less the slack.
func (s *Store) before(now int64) int64 {
	if now < math.MinInt64+s.slack {
		return math.MinInt64
	}
	return now - s.slack
}

// reserve counts one more key if there is room, after looking for keys to drop
// in this shard and then in a few others.
func (s *Store) reserve(sh *shard, now int64) bool {
	if s.count() {
		return true
	}
	found := s.sweep(sh, now, 4)
	for range 4 {
		if found > 0 {
			break
		}
		other := &s.shards[s.steal.Add(1)&uint32(len(s.shards)-1)]
		// Waiting for a second lock while holding one could deadlock.
		if other != sh && other.TryLock() {
			found = s.sweep(other, now, 4)
			other.Unlock()
		}
	}
	return s.count()
}

func (s *Store) count() bool {
	if s.keys.Add(1) <= s.max {
		return true
	}
	s.keys.Add(-1)
	return false
}

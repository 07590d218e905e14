package limit

import "sync"

// shard is one lock's worth of a store.
type shard struct {
	sync.Mutex
	table
	// floor is the latest instant, in the caller's time, that a key was
	// dropped at.
	floor int64
	// common is the state of the keys above the cap, in use while shared.
	common State
	shared bool
	// scratch is where states of keys not in the table are tried; a local
	// would escape through the Limiter interface.
	scratch State

	calls      uint64
	inserted   uint64
	dropped    uint64
	turnedAway uint64

	_ [64]byte // keeps two shards off one cache line
}

// raise moves the floor up.
func (sh *shard) raise(at int64) { sh.floor = max(sh.floor, at) }

// sweep looks at the next n slots of a locked shard and drops the keys that
// were fresh already slack ago. It returns how many it dropped, and may move
// entries.
func (s *Store) sweep(sh *shard, now int64, n int) int {
	at := s.before(now)
	dropped := 0
	for range min(n, int(sh.high)) {
		if sh.cursor++; sh.cursor > sh.high {
			sh.cursor = 1
		}
		e := sh.slot(sh.cursor)
		if e.mark != 0 && s.limiter.Fresh(&e.state, at) {
			sh.remove(sh.cursor)
			dropped++
		}
	}
	if dropped > 0 {
		sh.raise(at)
		sh.dropped += uint64(dropped)
		s.keys.Add(int64(-dropped))
		sh.compact()
	}
	return dropped
}

// Sweep looks at every key and drops those it can. Calls do this little by
// little; Sweep is for a store that has gone quiet.
func (s *Store) Sweep(now int64) (dropped int) {
	for i := range s.shards {
		sh := &s.shards[i]
		sh.Lock()
		sh.cursor = 0
		dropped += s.sweep(sh, now, int(sh.high))
		sh.Unlock()
	}
	return dropped
}

// Len is the number of keys held.
func (s *Store) Len() int { return int(s.keys.Load()) }

// StoreStats are counts since the store was made, summed over shards that go on
// counting meanwhile.
type StoreStats struct {
	Keys       int    // held now
	Calls      uint64 // Take and TakeBytes
	Inserted   uint64 // keys given a state of their own
	Dropped    uint64 // keys forgotten again
	TurnedAway uint64 // calls decided by WhenFull, peeks aside
	SharedNow  int    // shards whose shared state is in use
}

// Stats sums the counts.
func (s *Store) Stats() StoreStats {
	st := StoreStats{Keys: s.Len()}
	for i := range s.shards {
		sh := &s.shards[i]
		sh.Lock()
		st.Calls += sh.calls
		st.Inserted += sh.inserted
		st.Dropped += sh.dropped
		st.TurnedAway += sh.turnedAway
		if sh.shared {
			st.SharedNow++
		}
		sh.Unlock()
	}
	return st
}

// Range calls f with every key and what a peek at now finds, in no order, until
// f returns false. A shard is locked while f sees its keys: f must not call the
// store.
func (s *Store) Range(now int64, f func(key string, d Decision) bool) {
	for i := range s.shards {
		if !s.rangeShard(&s.shards[i], now, f) {
			return
		}
	}
}

func (s *Store) rangeShard(sh *shard, now int64, f func(string, Decision) bool) bool {
	sh.Lock()
	defer sh.Unlock()
	for i := uint32(1); i <= sh.high; i++ {
		e := sh.slot(i)
		if e.mark != 0 && !f(e.key, s.limiter.Take(&e.state, now, 0)) {
			return false
		}
	}
	return true
}

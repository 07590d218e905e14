package sim

import "github.com/weir-cli/weir/limit"

// fleetShard is a shard with the keys that live on it and what gateways hold
// of them. Shards share nothing that changes, so they may run at once.
type fleetShard struct {
	rules  []fleetRule
	cache  bool
	keys   slots[fleetKey]
	leases slots[limit.BatchHeld] // by key and gateway
	now    Micros

	calls    []int64 // by aligned second
	store    storeCounts
	requests int64
	admitted int64
	ideal    int64
	granted  int64
}

// fleetKey is a key: its bucket, the bucket to compare with, and how it was
// held.
type fleetKey struct {
	bucket  [1]limit.Bucket
	one     limit.Bucket
	over    int64 // excess.now as of last
	worst   int64
	last    Micros
	busy    Micros // until when some gateway may hold something of it
	offered int64
	passed  int64
	ideal   int64 // what one would have admitted
	tier    uint8
	told    bool // kept whatever comes of it
}

// leaseSlot is the number of a lease in its table.
func leaseSlot(key uint32, gateway int64) uint64 { return uint64(key)<<16 | uint64(gateway) }

// find returns the key's state.
func (s *fleetShard) find(key uint32) *fleetKey {
	if k := s.keys.get(uint64(key)); k != nil {
		return k
	}
	tier := len(s.rules) - 1
	for key < s.rules[tier].from {
		tier--
	}
	return s.keys.put(uint64(key), fleetKey{tier: uint8(tier), told: key == 0}, s.keepKey)
}

// keepKey reports whether a key's state still matters: it is not as good as
// new, or it was held in a way that must be told.
func (s *fleetShard) keepKey(k *fleetKey) bool {
	r := &s.rules[k.tier]
	ns := int64(s.now) * 1000
	return k.told || k.passed != k.offered || k.ideal != k.offered || k.worst > r.burst || k.busy > s.now ||
		!r.book.Full(0, &k.bucket[0], ns) || k.one.Level(&r.one, ns) < r.one.Burst()*int64(r.one.Grain()) ||
		k.over > int64(s.now-k.last)*1000*r.over.units
}

func (s *fleetShard) keepLease(h *limit.BatchHeld) bool { return h.Until() > int64(s.now)*1000 }

// request decides a request for key at gateway. Times must not fall.
func (s *fleetShard) request(key uint32, gateway int64, now Micros) {
	s.now = now
	k := s.find(key)
	r := &s.rules[k.tier]
	ns := int64(now) * 1000
	s.requests++
	k.offered++
	if k.one.Take(&r.one, ns, 1).OK {
		k.ideal++
		s.ideal++
	}
	if s.decide(r, k, key, gateway, now) {
		k.passed++
		s.admitted++
		over := r.over
		over.now, over.worst, over.last = k.over, k.worst, k.last
		over.admit(now)
		k.over, k.worst, k.last = over.now, over.worst, over.last
	}
}

// decide is the gateway's part and the store's.
func (s *fleetShard) decide(r *fleetRule, k *fleetKey, key uint32, gateway int64, now Micros) bool {
	ns := int64(now) * 1000
	var found *limit.BatchHeld
	if k.busy > now {
		found = s.leases.get(leaseSlot(key, gateway))
	}
	held := limit.BatchHeld{}
	if found != nil {
		held = *found
	}
	ok := false
	switch r.lease.Request(&held, ns) {
	case limit.LeaseSpend:
		ok = true
	case limit.LeaseSpendAndAsk:
		ok = true
		s.store.background++
		n, _ := s.call(r, k, now)
		r.lease.Granted(&held, ns, n)
	case limit.LeaseRefuse:
		s.store.cached++
		return false
	case limit.LeaseAskFirst:
		if n, wait := s.call(r, k, now); n > 0 {
			r.lease.Fetched(&held, ns, n)
			ok = true
		} else if s.cache {
			r.lease.Denied(&held, ns+wait)
		}
	}
	until := Micros((held.Until() + 999) / 1000)
	if found != nil {
		*found = held
	} else if until > now {
		s.leases.put(leaseSlot(key, gateway), held, s.keepLease)
	}
	k.busy = max(k.busy, until)
	return ok
}

// call asks the store for a batch.
func (s *fleetShard) call(r *fleetRule, k *fleetKey, now Micros) (granted, wait int64) {
	for int(now/Second) >= len(s.calls) {
		s.calls = append(s.calls, 0)
	}
	s.calls[now/Second]++
	s.store.calls++
	n, w := r.book.Lease(k.bucket[:], int64(now)*1000, r.lease.Batch)
	if n > 0 {
		s.store.granting++
		s.granted += n
	}
	return n, int64(w)
}

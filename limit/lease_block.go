package limit

import "time"

// BlockLease is the gateway's side of leases in whole blocks. A request spends
// a local token or is refused; then, when few are left, no lease is in flight
// and no denial is in force, the gateway asks for a block. The fleet can be
// ahead of the central bucket by what its gateways hold, at most Block + Low
// each. The zero value holds nothing and refuses everything. Immutable.
type BlockLease struct {
	Block int64 // tokens of one lease
	Low   int64 // ask when no more than this many are left
	// Life is how long after the last grant tokens may be spent; what is left
	// then goes back to the store. 0 means for ever.
	Life time.Duration
}

// BlockHeld is what one gateway holds of one key. The zero value holds nothing
// and may ask at any time. Its owner serialises access.
type BlockHeld struct {
	tokens int64
	dies   int64 // instant; 0 means never
	denied int64 // instant before which it does not ask
	asked  bool  // a lease is in flight
}

// Tokens is how many are held, alive or not.
func (h *BlockHeld) Tokens() int64 { return h.tokens }

// Wait is how long a denial is still in force at now; 0 when none is.
func (h *BlockHeld) Wait(now int64) time.Duration {
	return time.Duration(max(0, h.denied-instant(now)))
}

// Request decides a request of this cost at now. When the step asks, a lease
// is in flight until Granted, Denied or Lost. A cost below 1 is refused.
// Expired must have been called at now.
func (l *BlockLease) Request(h *BlockHeld, now, cost int64) LeaseStep {
	step := LeaseRefuse
	if cost > 0 && h.tokens >= cost {
		h.tokens -= cost
		step = LeaseSpend
	}
	if h.tokens <= l.Low && !h.asked && instant(now) >= h.denied {
		h.asked = true
		step++ // the variant that asks
	}
	return step
}

// Refund puts back what a request spent that another of its limits refused.
func (l *BlockLease) Refund(h *BlockHeld, cost int64) { h.tokens += max(0, cost) }

// Granted adds the tokens of a lease whose answer arrives at now. Anything
// expired must have been taken out before.
func (l *BlockLease) Granted(h *BlockHeld, now, n int64) {
	h.tokens += n
	h.asked = false
	if l.Life > 0 {
		h.dies = addCapped(instant(now), int64(l.Life))
	}
}

// Denied settles a lease that the store did not grant: do not ask before
// until. To keep gateways from returning together, until should be the store's
// and a random time of the caller's.
func (l *BlockLease) Denied(h *BlockHeld, until int64) {
	h.asked = false
	h.denied = instant(until)
}

// Lost settles a lease that got no answer. The store may have taken the block;
// then those tokens are gone, which errs on the side of the limit.
func (l *BlockLease) Lost(h *BlockHeld) { h.asked = false }

// Expired takes out what is held past its life and returns it, to be given
// back to the store.
func (l *BlockLease) Expired(h *BlockHeld, now int64) (unspent int64) {
	if h.tokens == 0 || h.dies == 0 || instant(now) < h.dies {
		return 0
	}
	return h.GiveUp()
}

// GiveUp takes out everything that is held, as when a gateway stops, and
// returns it, to be given back to the store.
func (h *BlockHeld) GiveUp() (unspent int64) {
	unspent, h.tokens = h.tokens, 0
	return unspent
}

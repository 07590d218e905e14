package limit

import (
	"math/big"
	"time"
)

// BatchLease is the gateway's side of leases in batches. A request spends a
// local token when one is alive; with fewer than half a batch left, the next
// batch is asked for in the background. Without tokens the request waits for
// the store, unless a denial is in force, which is the refusal cache: then it
// is refused at once. Immutable.
type BatchLease struct {
	Batch int64 // tokens to ask for, at least 1
	// Life is how long after tokens were last added all of them may be spent;
	// tokens of a dead lease are dropped. It must be above zero.
	Life time.Duration
}

// BatchSize is the batch that takes a gateway span to use when each of
// gateways uses its equal part of r: span*r/gateways, cut to whole tokens and
// at least 1.
func BatchSize(r Rate, gateways int64, span time.Duration) int64 {
	n := new(big.Int).Mul(big.NewInt(int64(span)), big.NewInt(r.Units))
	d := new(big.Int).Mul(big.NewInt(gateways), big.NewInt(int64(r.Per)))
	n.Div(n, d)
	if !n.IsInt64() || n.Int64() > maxLevel {
		return maxLevel
	}
	return max(1, n.Int64())
}

// BatchHeld is what one gateway holds of one key. The zero value holds nothing
// and is not denied. Its owner serialises access.
type BatchHeld struct {
	tokens int64
	dies   int64 // instant at which the tokens are dropped
	denied int64 // instant before which requests are refused
	asked  bool  // a background lease is in flight
}

// Tokens is how many are held at now.
func (h *BatchHeld) Tokens(now int64) int64 {
	if instant(now) >= h.dies {
		return 0
	}
	return h.tokens
}

// Wait is how long a denial is still in force at now; 0 when none is.
func (h *BatchHeld) Wait(now int64) time.Duration {
	return time.Duration(max(0, h.denied-instant(now)))
}

// Until is the instant from which h is as good as its zero value, once no
// lease is in flight.
func (h *BatchHeld) Until() int64 {
	if h.tokens == 0 {
		return h.denied - origin
	}
	return max(h.dies, h.denied) - origin
}

// Request decides a request of one token at now. After LeaseAskFirst, call
// Fetched or Denied; after LeaseSpendAndAsk, call Granted with what the store
// gave, 0 included and on a failure.
func (l *BatchLease) Request(h *BatchHeld, now int64) LeaseStep {
	t := instant(now)
	if h.tokens > 0 && t < h.dies {
		h.tokens--
		if h.tokens < l.Batch/2 && !h.asked {
			h.asked = true
			return LeaseSpendAndAsk
		}
		return LeaseSpend
	}
	h.tokens = 0
	if t < h.denied {
		return LeaseRefuse
	}
	return LeaseAskFirst
}

// Fetched adds the tokens, at least 1, that a request waited for and spends
// one of them for it: the request is admitted.
func (l *BatchLease) Fetched(h *BatchHeld, now, n int64) { l.add(h, instant(now), n-1) }

// Granted adds the tokens of a background lease whose answer arrives at now. A
// grant of 0 changes nothing else.
func (l *BatchLease) Granted(h *BatchHeld, now, n int64) {
	h.asked = false
	if n > 0 {
		l.add(h, instant(now), n)
	}
}

// Refund puts back the token of a request that another of its limits refused,
// unless the lease has died since.
func (l *BatchLease) Refund(h *BatchHeld, now int64) {
	if instant(now) < h.dies {
		h.tokens++
	}
}

// GiveUp takes out what is alive at now, as when a gateway stops, and returns
// it, to be given back to the store.
func (h *BatchHeld) GiveUp(now int64) (unspent int64) {
	unspent = h.Tokens(now)
	h.tokens = 0
	return unspent
}

// add renews the life of all tokens that are held. Those that died before are
// dropped first.
func (l *BatchLease) add(h *BatchHeld, t, n int64) {
	if t >= h.dies {
		h.tokens = 0
	}
	h.tokens += n
	h.dies = addCapped(t, int64(l.Life))
}

// Denied notes that the store had nothing: refuse until then.
func (l *BatchLease) Denied(h *BatchHeld, until int64) { h.denied = instant(until) }

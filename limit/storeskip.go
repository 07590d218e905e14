package limit

import "time"

// StoreSkip decides whether a store is worth asking: after a number of
// failures in a row it is left alone for a while, then the next call tries it
// again. One more failure leaves it alone again, an answer ends the row.
// Immutable.
type StoreSkip struct {
	After int64         // failures in a row, at least 1
	For   time.Duration // how long it is left alone
}

// SkipState is one gateway's view of one store. The zero value has seen no
// failure. Its owner serialises access.
type SkipState struct {
	fails int64
	until int64 // instant from which it may be asked
}

// Ask reports whether to call the store at now.
func (k *StoreSkip) Ask(s *SkipState, now int64) bool { return instant(now) >= s.until }

// Failed notes a failure that became known at now. skips reports whether the
// store is left alone from now on.
func (k *StoreSkip) Failed(s *SkipState, now int64) (skips bool) {
	s.fails++
	if s.fails < k.After {
		return false
	}
	s.until = addCapped(instant(now), int64(k.For))
	return true
}

// Answered notes an answer.
func (k *StoreSkip) Answered(s *SkipState) { *s = SkipState{} }

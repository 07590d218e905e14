package limit

import (
	"math"
	"time"
)

// Slots gives every refused caller of a key an instant of its own to come back
// at. The exact wait of a refusal is the same for all who are refused at once:
// they come back together, and all but the first are refused again. Slots hands
// out the instants at which units will have come back, each to one caller, so
// that a caller who comes at its slot passes if nobody takes its units before.
//
// Nothing is held back for anybody: a newcomer who finds a unit takes it.
//
// It is bounded, and forgets a key once its last slot is over. Not safe for
// concurrent use. K is what a limit counts by.
type Slots[K comparable] struct {
	most  int
	sweep int   // the keys are swept when there are so many
	swept int64 // when a full table was swept last
	lines map[K]slotLine
}

// slotLine is one key's line of reservations.
type slotLine struct {
	// empty is the instant at which the key would have no unit if everybody
	// came at its slot: units from then on are nobody's.
	empty int64
	last  int64 // the latest slot; the line means nothing after it
}

// SlotPace says how a key's units come back. The zero value of Step is not
// valid.
type SlotPace struct {
	// Step is how long one unit takes to come back.
	Step time.Duration
	// Burst is how many units a key can save up; below 1 it is 1.
	Burst int64
	// Grain is what a wait is told in: every wait is a whole multiple of it.
	// Callers who are told the same come together, so as many as the units of
	// one grain, if the key can save these up, get one slot. 0 tells waits
	// exactly.
	Grain time.Duration
	// Reach is how far after its exact wait a caller may be put; when the line
	// is longer, which it only is when callers do not come as told, it begins
	// anew. 0 is a minute.
	Reach time.Duration
}

// DefaultReach is the Reach of a zero [SlotPace].
const DefaultReach = time.Minute

const firstSlotSweep = 1024

// NewSlots keeps a line for at most so many keys at once. Callers of further
// ones get their exact wait.
func NewSlots[K comparable](most int) *Slots[K] {
	return &Slots[K]{most: max(0, most), sweep: firstSlotSweep, lines: map[K]slotLine{}}
}

// Reserve gives the caller who was refused cost units at now its slot, as a
// wait. exact is what the limiter said: the wait is never shorter, and is a
// multiple of the grain. A wait that is no wait, Never or Unknown, is returned
// as it is.
func (s *Slots[K]) Reserve(key K, now, cost int64, exact time.Duration, p SlotPace) time.Duration {
	if exact < 0 || cost <= 0 || p.Step <= 0 {
		return exact
	}
	need := timesCapped(cost, int64(p.Step))
	// What can be saved up for one instant: what comes in one grain, but no
	// more than the key holds, and no less than this call needs.
	saved := max(need, min(timesCapped(max(p.Burst, 1), int64(p.Step)), max(int64(p.Grain), int64(p.Step))))
	reach := int64(p.Reach)
	if reach <= 0 {
		reach = int64(DefaultReach)
	}
	line, known := s.lines[key]
	if !known {
		s.makeRoom(now)
	}
	soonest := satAdd(now, int64(exact))
	free := satSub(soonest, need) // by the limiter's own word
	if known && line.last > now && line.empty > free {
		free = line.empty
	}
	wait := upTo(max(int64(exact), satSub(satAdd(free, need), now)), int64(p.Grain))
	if wait-int64(exact) > max(reach, int64(p.Grain)) {
		free = satSub(soonest, need)
		wait = upTo(int64(exact), int64(p.Grain))
	}
	slot := satAdd(now, wait)
	if known || len(s.lines) < s.most {
		s.lines[key] = slotLine{
			empty: satAdd(max(free, satSub(slot, saved)), need),
			last:  max(line.last, slot),
		}
	}
	return time.Duration(wait)
}

// makeRoom drops the keys whose last slot is over, when there are twice as many
// as the last time, or when all places are taken and a second has passed since.
func (s *Slots[K]) makeRoom(now int64) {
	if len(s.lines) < s.sweep && (len(s.lines) < s.most || now < satAdd(s.swept, int64(time.Second))) {
		return
	}
	s.swept = now
	for k, l := range s.lines {
		if l.last <= now {
			delete(s.lines, k)
		}
	}
	s.sweep = max(firstSlotSweep, 2*len(s.lines))
}

// Len is the number of keys with a line.
func (s *Slots[K]) Len() int { return len(s.lines) }

// upTo rounds d, not negative, up to a multiple of grain.
func upTo(d, grain int64) int64 {
	if grain <= 0 || d%grain == 0 {
		return d
	}
	if d > math.MaxInt64-grain {
		return d
	}
	return d - d%grain + grain
}

// timesCapped multiplies two numbers above zero.
func timesCapped(a, b int64) int64 {
	if a > math.MaxInt64/b {
		return math.MaxInt64
	}
	return a * b
}

// satAdd and satSub stop at the ends of an int64; b is not negative.
func satAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

func satSub(a, b int64) int64 {
	if a < math.MinInt64+b {
		return math.MinInt64
	}
	return a - b
}

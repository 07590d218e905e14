package inspect

import (
	"fmt"
	"math"
	"strings"

	"github.com/weir-cli/weir/limit"
)

// decodeSelfLimiters is the next slot of a queue in ms and what is left in it.
// Nobody is refused: a caller is told for when it may go.
func decodeSelfLimiters(f *frame) *verdict {
	f.r.Algorithm = limit.LeakyQueue.String()
	rate, burst, known := f.bucket()
	slot, tokens := 0.0, 0.0
	text, there := "", false
	if e := f.main(); e != nil {
		text, there = string(e.Text), true
	}
	if there {
		at, left, two := strings.Cut(text, " ")
		ns, ok := f.instant(at, "The next slot")
		n, isNumber := f.number(left, "What is left in the slot")
		if !two || !ok || !isNumber {
			return nil
		}
		s, _ := parseNumber(at)
		slot, tokens = s.double, n.double
		if ns > f.now {
			f.r.note(fmt.Sprintf("The slot that is handed out next is in %s, and holds %g more.", shownWait(ns-f.now), math.Max(0, tokens)))
		}
	}
	if !known {
		return nil
	}
	q := slotQueue{there: there, slot: slot, tokens: tokens, each: float64(rate.Per) / 1e6, amount: float64(rate.Units), most: float64(burst)}
	now := float64(f.now/1000) / 1000
	last, of := int64(0), int64(0)
	next := func(cost int64) int64 {
		if of != cost {
			slot := math.Min(q.after(now, cost), 1e12*8)
			whole := math.Floor(slot)
			last, of = int64(whole)*1e6+int64((slot-whole)*1e6), cost
		}
		return last
	}
	return &verdict{most: min(burst, maxQueued), gone: math.MaxInt64, passes: func(at, cost int64) bool { return at >= next(cost) }}
}

// maxQueued bounds for how many calls a slot is looked for.
const maxQueued = 1000

// slotQueue hands out slots, in ms.
type slotQueue struct {
	there              bool
	slot, tokens       float64
	each, amount, most float64
}

// after is the slot of the last of n calls at now.
func (q slotQueue) after(now float64, n int64) float64 {
	for range min(n, maxQueued) {
		if !q.there {
			q.there, q.slot, q.tokens = true, now+q.each, q.amount
		} else {
			if q.slot < now+20 {
				q.tokens += (q.slot - now) / q.each
				q.slot += q.each
				q.tokens = math.Min(q.tokens, q.most)
			}
			if q.tokens <= 0 {
				q.slot += q.each
				q.tokens = q.amount
			}
		}
		q.tokens--
		q.slot, q.tokens = math.Trunc(q.slot), math.Trunc(q.tokens)
	}
	return q.slot
}

// isSlotAndTokens reports whether an entry is such a value.
func isSlotAndTokens(e *Entry) bool {
	slot, tokens, two := strings.Cut(string(e.Text), " ")
	at, ok := parseNumber(slot)
	left, ok2 := parseNumber(tokens)
	return two && ok && ok2 && at.isWhole && left.isWhole && at.whole > 1e12
}

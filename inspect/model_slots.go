package inspect

import (
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// The models "slots-until" and "slots-since": who holds a slot, in a sorted
// set with the time at which it is dropped, or at which it began. Of those that
// began, lasts says for how long they count; without it the key is given that
// long at each beginning.

func checkSlots(l *Layout) string {
	switch {
	case l.Keys[0].Type != "zset":
		return "needs a sorted set"
	case l.Decode.Unit == "":
		return "needs unit"
	}
	return ""
}

func decodeSlots(f *frame) *verdict {
	f.r.Algorithm = limit.Concurrency.String()
	most, known := f.slots()
	e := f.main()
	if f.unread() {
		return nil
	}
	var held, dropped, missing int64
	var first int64 = math.MaxInt64 // when the first slot is dropped
	if e != nil {
		missing = max(0, e.Len-int64(len(e.Members)))
		ends, ok := f.slotEnds(e)
		if !ok {
			return nil
		}
		for _, end := range ends {
			if end <= f.now {
				dropped++
				continue
			}
			held++
			first = min(first, end)
		}
	}
	if missing > 0 {
		held += missing
		f.r.problem("truncated", fmt.Sprintf("Of %d holders %d were read; the others count as holding.", e.Len, len(e.Members)))
	}
	f.r.Used = &held
	if dropped > 0 {
		f.r.problem("crashed-holders", fmt.Sprintf("%d holders are over their time: they crashed, or forgot to give back; the next call drops them.", dropped))
	}
	if first != math.MaxInt64 {
		f.r.note(fmt.Sprintf("The first of %d slots is dropped in %s when it is not given back before.", held, shownWait(first-f.now)))
	}
	if !known {
		return nil
	}
	return &verdict{most: most, slots: true, passes: func(_, cost int64) bool { return cost <= satSub(most, held) }}
}

// slotEnds are when the holders are dropped, unix ns; MaxInt64 when that is
// not known.
func (f *frame) slotEnds(e *Entry) ([]int64, bool) {
	m := &f.layout.Decode
	var ends []int64
	newest := int64(math.MinInt64)
	for _, member := range e.Members {
		at, ok := instantOf(member.Score, units[m.Unit], m.Epoch)
		if !ok {
			f.r.problem("not-a-time", fmt.Sprintf("The score of %s is no time.", shownValue(member.Name)))
			return nil, false
		}
		ends = append(ends, at)
		newest = max(newest, at)
	}
	if m.Name == "slots-until" || len(ends) == 0 {
		return ends, true
	}
	f.ahead("The last beginning", newest, 1e9)
	lasts := m.Lasts * 1e9
	if lasts == 0 {
		if e.TTL < 0 {
			for i := range ends {
				ends[i] = math.MaxInt64
			}
			return ends, true
		}
		lasts = int64(e.TTL) + f.now - newest
	}
	for i := range ends {
		ends[i] += min(lasts, math.MaxInt64-max(0, ends[i]))
	}
	return ends, true
}

// The model "slot-count": how many hold a slot, in a string that each counts
// down when it is done.
func decodeSlotCount(f *frame) *verdict {
	f.r.Algorithm = limit.Concurrency.String()
	most, known := f.slots()
	held := int64(0)
	if text, there := f.text(f.layout.Keys[0].Role); there {
		n, ok := f.whole(text, "The count")
		if !ok {
			return nil
		}
		held = n
	}
	if held < 0 {
		f.r.problem("negative", fmt.Sprintf("The count is below zero: %d. More was given back than taken, and more than the limit pass.", held))
	}
	f.r.Used = &held
	if !known {
		return nil
	}
	return &verdict{most: most, slots: true, passes: func(_, cost int64) bool { return cost <= satSub(most, held) }}
}

// The model "owned-slot": one slot of several, each with a key that is there
// while somebody holds it.
func decodeOwnedSlot(f *frame) *verdict {
	f.r.Algorithm = limit.Concurrency.String()
	e := f.main()
	if e == nil {
		f.r.note("This slot is free.")
		return nil
	}
	one := int64(1)
	f.r.Used = &one
	if e.TTL < 0 {
		f.r.problem("no-ttl", "The slot has no time to live: when its holder has crashed it stays taken for ever.")
		return nil
	}
	f.r.note(fmt.Sprintf("This slot is taken, for %s at the most. The others have keys of their own, with other numbers at the end.", shownWait(int64(e.TTL))))
	return nil
}

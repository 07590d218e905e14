package inspect

import (
	"slices"
	"strconv"
)

// planCount changes the count of the window that now is in.
func planCount(p *plan) error {
	r := p.before
	role := p.f.layout.Keys[0].Role
	if r.WindowStart != nil && r.WindowEnd != nil && (r.Now < *r.WindowStart || r.Now >= *r.WindowEnd) {
		return refused("", "the window of this key is not the one of now: what it counts no longer decides")
	}
	text, there := p.f.text(role)
	if !there || r.Used == nil {
		return refused("", "there is no count of the window of now to change")
	}
	count, ok := p.f.whole(text, "The count")
	if !ok || len(p.f.r.Problems) > 0 {
		return refused("weir inspect bucket reset --help", "the count cannot be read")
	}
	by := -p.sign() * p.units
	if r.Remaining != nil {
		by = satSub(satSub(*r.Capacity, p.left), *r.Used)
		if p.order.Action == Drain {
			by = max(by, 0) // what is over the limit already stays so
		}
	}
	to := -satSub(-count, by)
	if p.f.layout.Decode.Counts == "remaining" {
		to = p.left
	}
	if r.Remaining == nil {
		to = max(0, to)
	}
	if to < 0 {
		return refused("weir inspect bucket reset --help", "only %d can be given back: the rest was used in the window before", count)
	}
	p.f.keys[role].setText(strconv.FormatInt(to, 10))
	return nil
}

// planLog takes out the oldest calls, as if they had left the window already.
func planLog(p *plan) error {
	e := p.f.keys[p.f.layout.Keys[0].Role]
	if p.before.Limit == nil {
		return refused("--limit "+p.f.layout.Example, "which calls count is not known without the limit")
	}
	edge := p.f.now - int64(p.before.Limit.Window)
	if p.f.layout.Decode.Edge == "inside" {
		edge--
	}
	var counted []int64
	for _, m := range e.Members {
		at, ok := p.f.memberTime(m)
		if !ok {
			return refused("weir inspect bucket reset --help", "an entry of the log cannot be read")
		}
		if at > edge {
			counted = append(counted, at)
		}
	}
	slices.Sort(counted)
	drop := int64(len(counted)) - (*p.before.Capacity - p.left)
	if drop <= 0 || drop > int64(len(counted)) {
		return refused("weir inspect bucket reset --help", "the log does not show which calls count")
	}
	last, same := counted[drop-1], int64(0)
	for _, at := range counted[:drop] {
		if at == last {
			same++
		}
	}
	// A list may begin with the newest: of calls at one time any will do.
	var kept []Member
	for _, m := range e.Members {
		at, _ := p.f.memberTime(m)
		if at < last || at == last && same > 0 {
			if at == last {
				same--
			}
			continue
		}
		kept = append(kept, m)
	}
	if e.Members, e.Len = kept, int64(len(kept)); len(kept) == 0 {
		*e = gone(e)
	}
	return nil
}

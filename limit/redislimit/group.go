package redislimit

import (
	"context"
	"slices"
	"sync"

	"github.com/weir-cli/weir/limit"
)

// groupParts are the parts of a request by the slot of a cluster that they
// are in: their places, in order. Groups whose limits all take back what was
// taken come first, so that as little as can be stays taken when a later one
// refuses.
func groupParts(parts []Part) [][]int {
	var groups [][]int
	var in []int // slot of each group
	for i := range parts {
		slot := slotOf(parts[i].Key)
		g := slices.Index(in, slot)
		if g < 0 {
			g, in, groups = len(in), append(in, slot), append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	slices.SortStableFunc(groups, func(a, b []int) int {
		return boolInt(keeps(parts, a)) - boolInt(keeps(parts, b))
	})
	return groups
}

// keeps reports whether something that was taken in group cannot go back.
func keeps(parts []Part, group []int) bool {
	return slices.ContainsFunc(group, func(i int) bool {
		r := parts[i].Rule
		return parts[i].Cost > 0 && !r.Gives() && !r.Releases()
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// takeGroups charges one group after another. When one refuses, those that
// follow are only looked at, and what was taken goes back; when one fails, what
// was taken goes back too. Nothing is charged when a part can never pass.
func (s *Store) takeGroups(ctx context.Context, parts []Part, groups [][]int) (Answer, error) {
	a := Answer{Parts: make([]limit.Decision, len(parts))}
	never := slices.ContainsFunc(parts, func(p Part) bool { return p.Cost < 0 || p.Cost > p.Rule.most })
	refused := false
	for g, group := range groups {
		asked := pick(parts, group)
		if never || refused {
			asked = looks(asked)
		}
		one, err := s.take(ctx, asked)
		if err != nil {
			if !never {
				s.giveBack(ctx, parts, groups[:g])
			}
			return Answer{}, err
		}
		for i, at := range group {
			a.Parts[at] = one.Parts[i]
		}
		a.At = max(a.At, one.At)
		a.Unreadable += one.Unreadable
		if !one.OK && !never && !refused {
			refused = true
			s.giveBack(ctx, parts, groups[:g])
			for _, group := range groups[:g] {
				for _, i := range group {
					if d := &a.Parts[i]; parts[i].Cost > 0 && !keeps(parts, []int{i}) {
						d.Remaining = min(d.Limit, d.Remaining+parts[i].Cost)
					}
				}
			}
		}
	}
	a.join()
	return a, nil
}

// looks are parts that take nothing. Those that can never pass stay as they
// are and say so.
func looks(parts []Part) []Part {
	for i := range parts {
		if p := &parts[i]; p.Cost > 0 && p.Cost <= p.Rule.most {
			p.Cost = 0
		}
	}
	return parts
}

// giveBack returns what groups took and returns when that is done. What cannot
// be given back stays taken: it errs to the side of the limit.
func (s *Store) giveBack(ctx context.Context, parts []Part, groups [][]int) {
	ctx = context.WithoutCancel(ctx) // the caller may be gone, its tokens not
	var all sync.WaitGroup
	for _, group := range groups {
		for _, i := range group {
			switch p := parts[i]; {
			case p.Cost <= 0:
			case p.Rule.Gives():
				all.Go(func() { _ = s.GiveBack(ctx, p.Key, p.Rule, p.Cost) })
			case p.Rule.Releases():
				all.Go(func() { _ = s.release(ctx, p) })
			}
		}
	}
	all.Wait()
}

func pick(parts []Part, group []int) []Part {
	out := make([]Part, len(group))
	for i, at := range group {
		out[i] = parts[at]
	}
	return out
}

package limit

// Counted is the state at now of a fixed window or a sliding counter whose
// counts are kept elsewhere, such as under two keys of a store: the units of
// the window before the one that now is in, and of that one. More than the
// limit counts as the limit, for no more can have been admitted. Other
// algorithms have no such state; theirs is that of a key never seen.
func (s Spec) Counted(now, before, current int64) State {
	t, w := instant(now), int64(s.Window)
	before, current = min(max(before, 0), s.Limit), min(max(current, 0), s.Limit)
	switch s.Algorithm {
	case FixedWindow:
		return State{a: current, b: t - intoWindow(t, w) + w}
	case SlidingCounter:
		return State{a: before, b: current, c: t}
	}
	return State{}
}

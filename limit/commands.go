package limit

// Commands is how many commands one check costs a store that knows plain
// commands only, or one script call where the algorithm needs a script. A
// fixed window is INCR and EXPIRE, a sliding window counter those and a GET of
// the window before; both take a refusal back with one more.
func (a Algorithm) Commands(admitted bool) int {
	n := 1
	switch a {
	case FixedWindow:
		n = 2
	case SlidingCounter:
		n = 3
	default:
		return n
	}
	if !admitted {
		n++
	}
	return n
}

package limit

// State is what a limiter remembers about one key. The zero value is a key
// never seen: a full bucket or an empty window, at any time. What the words
// mean is each algorithm's own affair. Use one State with one limiter only.
//
// A used State of a sliding log must not be copied by assignment, since the
// copy would share its entries; see Clone. For every other algorithm
// assignment is a copy.
type State struct {
	a, b, c int64
	log     *ring // sliding log only
}

// Clone returns a copy that shares nothing with s.
func (s *State) Clone() State {
	c := *s
	if s.log != nil {
		c.log = s.log.clone()
	}
	return c
}

package redislimit

// Source is the check of one limit under r as it is sent to a store: the
// script, and its arguments. The first argument is the time in µs, "" for the
// store's own, and the third the cost; both are the caller's to fill in. Its
// only key is the state, and its reply the time, whether the check passed (0
// or 1), and the wait in µs, with further numbers after these.
func (r *Rule) Source() (script string, args []string) {
	part := Part{Key: "k", Rule: r}
	args = append(args, "", r.letter, "1", "")
	for _, n := range r.numbers {
		if n == "" {
			n = "0"
		}
		args = append(args, n)
	}
	return scriptFor([]Part{part}).source, args
}

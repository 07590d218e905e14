package limit

// State is what a limiter remembers about one key. The zero value is a key
// never seen. What the words mean is each algorithm's own affair.
type State struct {
	a, b, c int64
	log     *ring // sliding log only
}

// ring holds admission times in order; see the sliding log.
type ring struct{}

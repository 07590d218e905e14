package gateway

import "sync"

// errands are calls to the store that no request waits for. Unlike a
// sync.WaitGroup it may be waited for while more come.
type errands struct {
	mu   sync.Mutex
	n    int
	idle sync.Cond
}

func newErrands() *errands {
	e := new(errands)
	e.idle.L = &e.mu
	return e
}

// Go runs f in the background.
func (e *errands) Go(f func()) {
	e.mu.Lock()
	e.n++
	e.mu.Unlock()
	go func() {
		defer e.done()
		f()
	}()
}

// try is Go unless more than most are under way.
func (e *errands) try(most int, f func()) bool {
	e.mu.Lock()
	if e.n >= most {
		e.mu.Unlock()
		return false
	}
	e.n++
	e.mu.Unlock()
	go func() {
		defer e.done()
		f()
	}()
	return true
}

func (e *errands) done() {
	e.mu.Lock()
	if e.n--; e.n == 0 {
		e.idle.Broadcast()
	}
	e.mu.Unlock()
}

// wait returns once nothing is under way.
func (e *errands) wait() {
	e.mu.Lock()
	for e.n > 0 {
		e.idle.Wait()
	}
	e.mu.Unlock()
}

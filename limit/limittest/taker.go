// Package limittest is the conformance suite that every limiter and every
// store around one must pass, wherever it keeps its state, and a reference to
// measure them against: slow, in fractions of big integers, told the way the
// algorithms are told in books.
package limittest

import (
	"sync"

	"github.com/weir-cli/weir/limit"
)

// Taker is what is tested: one spec, many keys, safe for concurrent use. The
// caller supplies the time. An error fails the test that met it.
type Taker interface {
	Take(key string, now, cost int64) (limit.Decision, error)
}

// Releaser is a Taker for a concurrency limit.
type Releaser interface {
	Taker
	Release(key string, now, cost int64) error
}

// FromStore adapts a store.
func FromStore(s *limit.Store) Releaser { return storeTaker{s} }

type storeTaker struct{ s *limit.Store }

func (t storeTaker) Take(key string, now, cost int64) (limit.Decision, error) {
	return t.s.Take(key, now, cost), nil
}

func (t storeTaker) Release(key string, now, cost int64) error {
	t.s.Release(key, now, cost)
	return nil
}

// FromLimiter adapts a bare limiter with a map of states that forgets nothing.
func FromLimiter(l limit.Limiter) Releaser {
	return &bare{l: l, states: map[string]*limit.State{}}
}

type bare struct {
	mu     sync.Mutex
	l      limit.Limiter
	states map[string]*limit.State
}

func (b *bare) state(key string) *limit.State {
	s := b.states[key]
	if s == nil {
		s = new(limit.State)
		b.states[key] = s
	}
	return s
}

func (b *bare) Take(key string, now, cost int64) (limit.Decision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.l.Take(b.state(key), now, cost), nil
}

func (b *bare) Release(key string, now, cost int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r, ok := b.l.(limit.Releaser); ok {
		r.Release(b.state(key), now, cost)
	}
	return nil
}

package gateway

import (
	"maps"
	"sync"
	"sync/atomic"
)

// series resolves what a label's value stands for once, so that counting needs
// a lookup in a map that is never written to. Values beyond its room share
// one, because names come from rule files and from a cluster's answers. Safe
// for concurrent use.
type series[K comparable, V any] struct {
	known atomic.Pointer[map[K]V]
	mu    sync.Mutex
	names map[string]V // by label value
	room  int
	label func(K) string
	make  func(label string) V
}

// otherLabel is the value that names beyond the room share.
const otherLabel = "other"

func newSeries[K comparable, V any](room int, label func(K) string, make func(string) V) *series[K, V] {
	s := &series[K, V]{names: map[string]V{}, room: room, label: label, make: make}
	s.known.Store(&map[K]V{})
	return s
}

// of finds or makes the value for k.
func (s *series[K, V]) of(k K) V {
	if v, ok := (*s.known.Load())[k]; ok {
		return v
	}
	return s.resolve(k)
}

func (s *series[K, V]) resolve(k K) V {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := *s.known.Load()
	if v, ok := known[k]; ok {
		return v
	}
	name := s.label(k)
	v, ok := s.names[name]
	if !ok {
		if len(s.names) >= s.room {
			name = otherLabel
		}
		if v, ok = s.names[name]; !ok {
			v = s.make(name)
			s.names[name] = v
		}
	}
	next := map[K]V{}
	if len(known) < 2*s.room { // else it is full of what is gone
		next = maps.Clone(known)
	}
	next[k] = v
	s.known.Store(&next)
	return v
}

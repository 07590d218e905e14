package redislimit

import (
	"errors"
	"sync"

	"github.com/redis/go-redis/v9"
)

// maxStrays bounds the nodes that only redirects know.
const maxStrays = 64

// strays are nodes that a redirect named and the cluster's map does not show:
// one that is about to get its first slot. Their clients are the Store's.
type strays struct {
	mu     sync.Mutex
	at     map[string]*node
	closed bool
}

// stray is the node at addr, reached as like is. nil when there are too many.
func (s *Store) stray(addr string, like *redis.Client) *node {
	t := &s.strays
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.at[addr]; n != nil {
		return n
	}
	if t.closed || len(t.at) >= maxStrays {
		return nil
	}
	o := *like.Options()
	o.Addr, o.MaxRetries, o.ContextTimeoutEnabled = addr, -1, true
	o.PushNotificationProcessor = nil // each client has its own
	if t.at == nil {
		t.at = map[string]*node{}
	}
	t.at[addr] = s.newNode(redis.NewClient(&o))
	return t.at[addr]
}

// close drains them and ends their connections.
func (t *strays) close() error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	var errs []error
	for _, n := range t.at {
		n.drain()
		errs = append(errs, n.c.Close())
	}
	return errors.Join(errs...)
}

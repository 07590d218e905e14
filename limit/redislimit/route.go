package redislimit

import (
	"context"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"
)

// errKindOfClient refuses clients whose way of finding a key's server the
// Store does not know.
var errKindOfClient = errors.New("only *redis.Client and *redis.ClusterClient can carry a limiter")

// nodeFor is the node that key is on.
func (s *Store) nodeFor(ctx context.Context, key string) (*node, error) {
	if s.single != nil {
		return s.single, nil
	}
	if s.cluster == nil {
		return nil, errKindOfClient
	}
	c, err := s.cluster.MasterForKey(ctx, key)
	if err != nil {
		return nil, err
	}
	return s.nodeOf(c), nil
}

// nodeOf is the node behind one of the cluster client's clients.
func (s *Store) nodeOf(c *redis.Client) *node {
	if n, ok := s.nodes.Load(c); ok {
		return n.(*node)
	}
	n, _ := s.nodes.LoadOrStore(c, s.newNode(c))
	return n.(*node)
}

func (s *Store) newNode(c *redis.Client) *node {
	return &node{s: s, c: c.WithTimeout(s.o.Timeout), addr: c.Options().Addr}
}

// failed hears that a call got no reply. The cluster may have lost the node:
// its map is read anew, at most one reading at a time, and a client that the
// map no longer has is forgotten.
func (s *Store) failed(n *node, kind Kind) {
	if s.cluster == nil {
		return
	}
	s.cluster.ReloadState(context.Background())
	if kind != KindClosed {
		return
	}
	s.nodes.Range(func(c, other any) bool {
		if other == n {
			s.nodes.Delete(c)
		}
		return true
	})
}

// follow sends c to where a MOVED or ASK reply says, and tells false when it
// has been sent on too often. A MOVED also has the cluster's map read anew.
func (s *Store) follow(c *call) bool {
	if s.cluster == nil || c.redirects >= s.cluster.Options().MaxRedirects {
		return false
	}
	words := strings.Fields(c.reply.fault)
	if len(words) != 3 {
		return false
	}
	to := s.nodeAt(words[2])
	if to == nil {
		return false
	}
	asking := words[0] == "ASK"
	if !asking {
		s.cluster.ReloadState(context.Background())
	}
	s.stats.redirects.Add(1)
	c.redirects++
	c.again = false
	c.ready(asking)
	if !c.state.CompareAndSwap(taken, queued) {
		return false
	}
	to.submit(c)
	return true
}

// nodeAt is the node at addr, or nil when the cluster client does not know it
// either.
func (s *Store) nodeAt(addr string) (found *node) {
	s.nodes.Range(func(_, n any) bool {
		if n := n.(*node); n.addr == addr {
			found = n
			return false
		}
		return true
	})
	return found
}

package redislimit

import (
	"context"
	"errors"
	"net"
	"strings"

	"github.com/redis/go-redis/v9"
)

// maxNodes is how many nodes of a cluster are remembered; none has as many.
const maxNodes = 1024

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
	s.makeRoom()
	n, _ := s.nodes.LoadOrStore(c, s.newNode(c))
	return n.(*node)
}

// makeRoom forgets the nodes that nobody asks just now when there are as many
// as may be: the map's clients are gone by then, or are found again.
func (s *Store) makeRoom() {
	n := 0
	s.nodes.Range(func(any, any) bool { n++; return true })
	if n < maxNodes {
		return
	}
	s.nodes.Range(func(c, n any) bool {
		if n.(*node).idles() {
			s.nodes.Delete(c)
		}
		return true
	})
}

// newNode makes c keep to the Store's timeout: its contexts do, if the client
// heeds them, and otherwise a copy of it does, which go-redis leaves without
// the client's hooks.
func (s *Store) newNode(c *redis.Client) *node {
	n := &node{s: s, c: c, addr: c.Options().Addr}
	if n.heeds = c.Options().ContextTimeoutEnabled; !n.heeds {
		n.c = c.WithTimeout(s.o.Timeout)
	}
	n.idle.L = &n.mu
	return n
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

// follow sends c to where n's MOVED or ASK reply says, and tells false when it
// has been sent on too often. A MOVED also has the cluster's map read anew.
func (s *Store) follow(n *node, c *call) bool {
	if s.cluster == nil || c.redirects >= s.cluster.Options().MaxRedirects {
		return false
	}
	words := strings.Fields(c.reply.fault)
	if len(words) != 3 {
		return false
	}
	host, port, err := net.SplitHostPort(words[2])
	if err != nil {
		return false
	}
	if host == "" { // a node that does not know its own name
		host, _, _ = net.SplitHostPort(n.addr)
	}
	to := s.nodeAt(net.JoinHostPort(host, port), n.c)
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
	return to.submit(c, false)
}

// nodeAt is the node at addr, reached as like is when it is new.
func (s *Store) nodeAt(addr string, like *redis.Client) (found *node) {
	s.nodes.Range(func(_, n any) bool {
		if n := n.(*node); n.addr == addr {
			found = n
			return false
		}
		return true
	})
	if found == nil {
		found = s.stray(addr, like)
	}
	return found
}

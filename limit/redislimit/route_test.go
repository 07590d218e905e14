package redislimit

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// A cluster whose nodes are never the same ones does not make the Store grow.
func TestNodesAreBounded(t *testing.T) {
	c := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"127.0.0.1:1"}})
	defer c.Close()
	s := NewStore(c, Options{})
	defer s.Close()
	size := func() (n int) {
		s.nodes.Range(func(any, any) bool { n++; return true })
		return n
	}
	one := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true})
	defer one.Close()
	busy := s.nodeOf(one)
	busy.lanes++
	for range 2 * maxNodes {
		other := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", ContextTimeoutEnabled: true})
		s.nodeOf(other)
		other.Close()
	}
	if n := size(); n > maxNodes {
		t.Errorf("%d nodes are kept", n)
	}
	if s.nodeOf(one) != busy {
		t.Error("one at work was forgotten")
	}
	busy.lanes--
}

package gateway

import (
	"strconv"

	"github.com/weir-cli/weir/limit"
)

// owners says which gateway decides for a key under Sticky: the same in every
// process, so that a run can be repeated. Immutable once made.
type owners struct {
	ring   *limit.HashRing
	number map[string]int // by name on the ring
}

func newOwners(n int) *owners {
	o := &owners{number: make(map[string]int, n)}
	names := make([]string, n)
	for i := range names {
		names[i] = "gateway-" + strconv.Itoa(i+1)
		o.number[names[i]] = i
	}
	o.ring = limit.NewHashRing(0, names...)
	return o
}

func (o *owners) of(key string) int { return o.number[o.ring.Owner(key)] }

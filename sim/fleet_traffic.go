package sim

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/weir-cli/weir/load"
)

// A run goes in epochs of fleetChunks chunks. Chunks of an epoch are drawn at
// once, each from a random stream of its own and each sorted by shard; then
// the shards go through them in order, at once. Who does what when changes
// nothing.
const (
	chunkRequests = 1 << 14
	fleetChunks   = 1 << 6
	epochRequests = chunkRequests * fleetChunks
)

// fleetCall is a request: its number in the epoch and its key.
type fleetCall struct{ j, key uint32 }

// fleetChunk is a chunk sorted by shard: shard s has calls[from[s]:from[s+1]].
type fleetChunk struct {
	calls [chunkRequests]fleetCall
	from  []uint32
	keys  [chunkRequests]uint32 // as drawn
}

// shardOf spreads keys over shards by a hash.
func shardOf(key uint32, shards uint64) uint32 {
	hi, _ := bits.Mul64(mix((uint64(key)+1)*0x9e3779b97f4a7c15), shards)
	return uint32(hi)
}

// draw fills the chunk with requests first, first+1, … of the epoch, n of
// them. number is the chunk's in the whole run.
func (c *fleetChunk) draw(keys alias, seed int64, number uint64, first uint32, n int, home []uint16) {
	random := load.NewRand(seed, 0, number)
	clear(c.from)
	for i := range c.keys[:n] {
		key := keys.draw(random.Uint64())
		c.keys[i] = key
		c.from[home[key]+1]++
	}
	for s := 1; s < len(c.from); s++ {
		c.from[s] += c.from[s-1]
	}
	// Placing moves each start to the next one's; shift them back after.
	for i, key := range c.keys[:n] {
		at := &c.from[home[key]]
		c.calls[*at] = fleetCall{first + uint32(i), key}
		*at++
	}
	copy(c.from[1:], c.from)
	c.from[0] = 0
}

// onAllCores calls f for 0 to n-1 on as many cores as there are.
func onAllCores(n int, f func(i int)) {
	workers := min(runtime.GOMAXPROCS(0), n)
	if workers == 1 {
		for i := range n {
			f(i)
		}
		return
	}
	var next atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wait.Wait()
}

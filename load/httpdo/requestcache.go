package httpdo

// requestCacheMax bounds the rendered requests that are kept.
const requestCacheMax = 4096

// requestCacheBytes is the size beyond which a request is not kept.
const requestCacheBytes = 16 << 10

// requestCache keeps rendered requests that are the same for every attempt
// of one key on one route.
type requestCache struct {
	m        map[uint64][]byte
	lastSlot uint64
	last     []byte
}

func cacheSlot(request int, key uint32) uint64 { return uint64(request)<<32 | uint64(key) }

func (c *requestCache) get(request int, key uint32) []byte {
	s := cacheSlot(request, key)
	if s == c.lastSlot && c.last != nil {
		return c.last
	}
	b := c.m[s]
	if b != nil {
		c.lastSlot, c.last = s, b
	}
	return b
}

// put stores a copy and returns it, or returns b itself when it is too large
// or the cache is full.
func (c *requestCache) put(request int, key uint32, b []byte) []byte {
	if len(c.m) >= requestCacheMax || len(b) > requestCacheBytes {
		return b
	}
	if c.m == nil {
		c.m = make(map[uint64][]byte)
	}
	own := append([]byte(nil), b...)
	c.m[cacheSlot(request, key)] = own
	return own
}

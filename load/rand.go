package load

// Rand is a small seeded source: splitmix64 over a stream that is fixed by
// (seed, client, call). 8 bytes, so that a million clients can each have one.
type Rand struct{ s uint64 }

// NewRand returns the stream of one call of one client.
func NewRand(seed int64, client uint32, call uint64) Rand {
	r := Rand{uint64(seed)}
	r.s = r.Uint64() ^ (uint64(client)+1)*0x9e3779b97f4a7c15
	r.s = r.Uint64() ^ (call+1)*0xd1342543de82ef95
	return r
}

// Uint64 returns the next 64 bits (Steele, Lea and Flood, splitmix64).
func (r *Rand) Uint64() uint64 {
	r.s += 0x9e3779b97f4a7c15
	z := r.s
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Float64 is uniform in [0, 1).
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) / (1 << 53) }

// Int64n is uniform in [0, n); 0 when n is not positive. The bias of the
// multiply-free form is below n/2^64.
func (r *Rand) Int64n(n int64) int64 {
	if n <= 0 {
		return 0
	}
	return int64(r.Uint64() % uint64(n))
}

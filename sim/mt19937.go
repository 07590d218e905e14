package sim

import (
	"math"
	"math/bits"
)

const (
	mtLen   = 624
	mtShift = 397
)

// PyRandom draws what CPython's random.Random draws from the same seed, so
// that a run can be compared with a model written in Python: the Mersenne
// Twister MT19937 (Matsumoto and Nishimura, 1998) and CPython 3.11's way to
// make numbers of its words. Expovariate goes through the platform's
// logarithm and may differ in the last bit; everything else is the same bit
// for bit. Not safe for concurrent use.
type PyRandom struct {
	mt [mtLen]uint32
	at int // words of mt used up
}

// NewPyRandom is random.Random(seed). Like there, a seed and its negative are
// the same.
func NewPyRandom(seed int64) *PyRandom {
	n := uint64(seed)
	if seed < 0 {
		n = -n
	}
	key := []uint32{uint32(n)}
	if n>>32 != 0 {
		key = append(key, uint32(n>>32))
	}
	r := &PyRandom{}
	r.initByArray(key)
	return r
}

// initByArray is init_by_array of the authors' reference code.
func (r *PyRandom) initByArray(key []uint32) {
	mt := &r.mt
	mt[0] = 19650218
	for i := 1; i < mtLen; i++ {
		mt[i] = 1812433253*(mt[i-1]^mt[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	step := func() {
		if i++; i >= mtLen {
			mt[0], i = mt[mtLen-1], 1
		}
	}
	for range max(mtLen, len(key)) {
		mt[i] = (mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1664525) + key[j] + uint32(j)
		step()
		if j++; j >= len(key) {
			j = 0
		}
	}
	for range mtLen - 1 {
		mt[i] = (mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1566083941) - uint32(i)
		step()
	}
	mt[0] = 1 << 31
	r.at = mtLen
}

// refill makes the next words.
func (r *PyRandom) refill() {
	mt := &r.mt
	for k := range mtLen {
		y := mt[k]&(1<<31) | mt[(k+1)%mtLen]&(1<<31-1)
		mt[k] = mt[(k+mtShift)%mtLen] ^ y>>1 ^ -(y&1)&0x9908b0df
	}
	r.at = 0
}

// word is the next 32 bits.
func (r *PyRandom) word() uint32 {
	if r.at == mtLen {
		r.refill()
	}
	y := r.mt[r.at]
	r.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Random is a number in [0, 1) with 53 random bits.
func (r *PyRandom) Random() float64 {
	a, b := r.word()>>5, r.word()>>6
	return (float64(a)*(1<<26) + float64(b)) / (1 << 53)
}

// Uniform is a number between a and b.
func (r *PyRandom) Uniform(a, b float64) float64 {
	// The conversion keeps a compiler from fusing the two operations.
	return a + float64((b-a)*r.Random())
}

// Expovariate is a waiting time at rate lambd.
func (r *PyRandom) Expovariate(lambd float64) float64 {
	return -math.Log(1-r.Random()) / lambd
}

// Randrange is a whole number in [0, n). n must be above zero.
func (r *PyRandom) Randrange(n int64) int64 {
	return int64(r.below(uint64(n)))
}

// Randint is a whole number in [a, b]. b must not be below a.
func (r *PyRandom) Randint(a, b int64) int64 {
	return a + int64(r.below(uint64(b-a)+1))
}

// below draws as many bits as n has until they are below it.
func (r *PyRandom) below(n uint64) uint64 {
	k := bits.Len64(n)
	for {
		if x := r.bits(k); x < n {
			return x
		}
	}
}

// bits is getrandbits(k), 1 to 64.
func (r *PyRandom) bits(k int) uint64 {
	if k <= 32 {
		return uint64(r.word() >> (32 - k))
	}
	low := r.word()
	return uint64(low) | uint64(r.word()>>(64-k))<<32
}

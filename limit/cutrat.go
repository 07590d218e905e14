package limit

import "math/big"

// Bounds of a fraction's denominator, in bits: above the first, a fraction is
// cut down to the second.
const (
	ratBits  = 256
	ratGrain = 128
)

// CutRat is x, or x cut towards 0 to a multiple of 2^-128 when its denominator
// has grown beyond 256 bits. Splitting pools by
// needs again and again multiplies denominators, and demand that never rests
// would double them for ever. What a cut takes off a grant stays in the pool.
func CutRat(x *big.Rat) *big.Rat {
	if x.Denom().BitLen() <= ratBits {
		return x
	}
	n := new(big.Int).Lsh(x.Num(), ratGrain)
	return new(big.Rat).SetFrac(n.Quo(n, x.Denom()), new(big.Int).Lsh(big.NewInt(1), ratGrain))
}

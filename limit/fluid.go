package limit

import "math/big"

// Fluid is a token bucket for traffic that flows, in steps: in each step the
// bucket gains share*dt, what is demanded flows out as far as it is there, and
// of the rest at most depth*share stays. Amounts are exact. The zero value is
// an empty bucket.
type Fluid struct{ Tokens big.Rat }

// FluidRun is a number of steps in a row that admit the same each.
type FluidRun struct {
	Steps int64
	Each  *big.Rat
}

// Flow advances the bucket by n steps of dt seconds at one share and one
// demand a second; depth is in seconds. Steps that admit alike are taken
// together, so that its work does not grow with n.
func (f *Fluid) Flow(share, demand, dt, depth *big.Rat, n int64) []FluidRun {
	if n <= 0 {
		return nil
	}
	var runs []FluidRun
	add := func(steps int64, each *big.Rat) {
		switch last := len(runs) - 1; {
		case steps <= 0:
		case last >= 0 && runs[last].Each.Cmp(each) == 0:
			runs[last].Steps += steps
		default:
			runs = append(runs, FluidRun{steps, each})
		}
		n -= steps
	}
	in := new(big.Rat).Mul(share, dt)
	out := new(big.Rat).Mul(demand, dt)
	full := new(big.Rat).Mul(share, depth)

	gain := new(big.Rat).Sub(in, out)
	if gain.Sign() >= 0 {
		f.Tokens.Add(&f.Tokens, gain.Mul(gain, new(big.Rat).SetInt64(n)))
		f.keep(full)
		add(n, out)
		return runs
	}
	add(1, f.step(in, out, full)) // which may find more than a full bucket
	if f.Tokens.Sign() > 0 {
		loss := new(big.Rat).Neg(gain)
		k := min(wholeQuo(&f.Tokens, loss), n)
		f.Tokens.Sub(&f.Tokens, loss.Mul(loss, new(big.Rat).SetInt64(k)))
		add(k, out)
		if n > 0 {
			add(1, f.step(in, out, full))
		}
	}
	add(n, in)
	return runs
}

// step is one step to the letter; it returns what was admitted.
func (f *Fluid) step(in, out, full *big.Rat) *big.Rat {
	f.Tokens.Add(&f.Tokens, in)
	admitted := new(big.Rat).Set(out)
	if admitted.Cmp(&f.Tokens) > 0 {
		admitted.Set(&f.Tokens)
	}
	f.Tokens.Sub(&f.Tokens, admitted)
	f.keep(full)
	return admitted
}

// keep spills what is above full.
func (f *Fluid) keep(full *big.Rat) {
	if f.Tokens.Cmp(full) > 0 {
		f.Tokens.Set(full)
	}
	f.Tokens.Set(CutRat(&f.Tokens))
}

// wholeQuo is how often b, above 0, goes into a, not below 0; at most 2^62.
func wholeQuo(a, b *big.Rat) int64 {
	q := new(big.Rat).Quo(a, b)
	n := new(big.Int).Quo(q.Num(), q.Denom())
	if !n.IsInt64() || n.Int64() > 1<<62 {
		return 1 << 62
	}
	return n.Int64()
}

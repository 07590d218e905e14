package limit

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// Flow takes steps together; step by step it comes to the same.
func TestFluidIsStepByStep(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 2))
		var f Fluid
		f.Tokens.SetInt64(r.Int64N(50))
		tokens := new(big.Rat).Set(&f.Tokens)
		dt, depth := rat(1, 1+r.Int64N(100)), rat(r.Int64N(5), 2)
		for range 4 {
			share, demand := rat(r.Int64N(30), 1+r.Int64N(3)), rat(r.Int64N(30), 1+r.Int64N(3))
			n := 1 + r.Int64N(40)
			runs := f.Flow(share, demand, dt, depth, n)
			for step := range n {
				available := new(big.Rat).Add(tokens, new(big.Rat).Mul(share, dt))
				admitted := new(big.Rat).Mul(demand, dt)
				if admitted.Cmp(available) > 0 {
					admitted = available
				}
				tokens = new(big.Rat).Sub(available, admitted)
				if full := new(big.Rat).Mul(share, depth); tokens.Cmp(full) > 0 {
					tokens = full
				}
				if len(runs) == 0 || runs[0].Each.Cmp(admitted) != 0 {
					t.Fatalf("seed %d: step %d of %d admits %s, runs %v", seed, step, n, admitted, runs)
				}
				if runs[0].Steps--; runs[0].Steps == 0 {
					runs = runs[1:]
				}
			}
			if len(runs) > 0 || f.Tokens.Cmp(tokens) != 0 {
				t.Fatalf("seed %d: %s tokens left, want %s; runs too long %v", seed, &f.Tokens, tokens, runs)
			}
		}
	}
}

func TestFluid(t *testing.T) {
	f := Fluid{}
	f.Tokens.SetInt64(2_700)
	runs := f.Flow(rat(1_350, 1), rat(7_200, 1), rat(1, 100), rat(2, 1), 100)
	want := []FluidRun{{46, rat(72, 1)}, {1, rat(45, 2)}, {53, rat(27, 2)}}
	if len(runs) != len(want) {
		t.Fatalf("runs %v, want %v", runs, want)
	}
	for i, run := range runs {
		if run.Steps != want[i].Steps || run.Each.Cmp(want[i].Each) != 0 {
			t.Errorf("run %d: %d x %s, want %d x %s", i, run.Steps, run.Each, want[i].Steps, want[i].Each)
		}
	}
	if f.Flow(rat(1, 1), rat(1, 1), rat(1, 1), rat(1, 1), 0) != nil {
		t.Error("no steps admit something")
	}
}

func TestCutRat(t *testing.T) {
	x := rat(22, 7)
	if CutRat(x) != x {
		t.Error("a small fraction was cut")
	}
	third := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(3), big.NewInt(700), nil))
	for _, sign := range []int64{1, -1} {
		long := new(big.Rat).Add(rat(sign, 3), third)
		cut := CutRat(long)
		off := new(big.Rat).Sub(long, cut)
		if off.Sign() != int(sign) || off.Abs(off).Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), ratGrain))) >= 0 {
			t.Errorf("cut off %s of %s", off.FloatString(60), long.FloatString(60))
		}
		if cut.Denom().BitLen() > ratGrain+1 {
			t.Errorf("%d bits are left", cut.Denom().BitLen())
		}
	}
}

package report

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestHistIsWithinItsError(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var h, a, b Hist
		vs := make([]int64, r.IntN(2000)+1)
		top := int64(1) << (r.IntN(42) + 1)
		for i := range vs {
			vs[i] = r.Int64N(top)
			h.Record(vs[i])
			if i%2 == 0 {
				a.Record(vs[i])
			} else {
				b.Record(vs[i])
			}
		}
		a.Merge(&b)
		slices.Sort(vs)
		for _, q := range []float64{0, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
			rank := max(int(math.Ceil(q*float64(len(vs)))), 1)
			want, got := vs[rank-1], h.Quantile(q)
			if d := math.Abs(float64(got - want)); d > float64(want)*0.004+1 {
				t.Fatalf("q %v of %d values: %d, want %d", q, len(vs), got, want)
			}
			if m := a.Quantile(q); m != got {
				t.Fatalf("merged q %v: %d, not %d", q, m, got)
			}
		}
		if h.Max() != vs[len(vs)-1] || a.Max() != h.Max() || h.Count() != uint64(len(vs)) {
			t.Fatalf("max %d, want %d", h.Max(), vs[len(vs)-1])
		}
	}
}

func TestHistBucketsAreContiguous(t *testing.T) {
	last := -1
	for v := range int64(1 << 20) {
		if i := bucketOf(v); i != last && i != last+1 {
			t.Fatalf("value %d jumps from bucket %d to %d", v, last, i)
		} else {
			last = i
		}
	}
	for _, v := range []int64{1 << 43, math.MaxInt64} {
		if i := bucketOf(v); i != histBuckets-1 {
			t.Errorf("%d is in bucket %d of %d", v, i, histBuckets)
		}
	}
	if i := bucketOf(1<<43 - 1); i != histBuckets-1 {
		t.Errorf("the last value in range is in bucket %d of %d", i, histBuckets)
	}
	var h Hist
	h.Record(-5)
	if h.Quantile(1) != 0 || h.Max() != 0 || h.Count() != 1 {
		t.Error("a negative value must count as 0")
	}
}

func TestWideEqualsBig(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pick := func() int64 {
		return []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(r.Uint64()), int64(r.Uint32()), -int64(r.Uint32())}[r.IntN(8)]
	}
	asBig := func(w wide) *big.Int {
		b := new(big.Int).Lsh(big.NewInt(w.hi), 64)
		return b.Add(b, new(big.Int).SetUint64(w.lo))
	}
	for range 20_000 {
		a, b, c, d := pick(), pick(), pick(), pick()
		x, y := wideMul(a, b), wideMul(c, d)
		bx := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		by := new(big.Int).Mul(big.NewInt(c), big.NewInt(d))
		if asBig(x).Cmp(bx) != 0 {
			t.Fatalf("%d*%d", a, b)
		}
		if x.less(y) != (bx.Cmp(by) < 0) || x.positive() != (bx.Sign() > 0) {
			t.Fatalf("order of %d*%d and %d*%d", a, b, c, d)
		}
		if diff := new(big.Int).Sub(bx, by); diff.BitLen() < 127 && asBig(x.sub(y)).Cmp(diff) != 0 {
			t.Fatalf("%d*%d - %d*%d", a, b, c, d)
		}
		if w := wideOf(a); asBig(w).Cmp(big.NewInt(a)) != 0 {
			t.Fatalf("%d widened", a)
		}
	}
}

func TestHistRecordN(t *testing.T) {
	var one, many Hist
	for _, v := range []int64{5, -3, 0, 1 << 50, 1234567} {
		for n := range 4 {
			many.RecordN(v, uint64(n))
			for range n {
				one.Record(v)
			}
		}
	}
	if one != many {
		t.Errorf("%d of mean %v and %d of mean %v", one.Count(), one.Mean(), many.Count(), many.Mean())
	}
}

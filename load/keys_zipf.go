package load

import "math"

// zipf draws ranks 1 to n with probability proportional to 1/rank^s, in
// constant time and memory for any s above 0, s = 1 included.
//
// Method: W. Hörmann and G. Derflinger, "Rejection-inversion to generate
// variates from monotone discrete distributions", ACM TOMACS 6(3), 1996. A
// point drawn under the continuous hat x^-s is rounded to a rank and kept
// unless it falls in the sliver by which the hat is larger than the bar.
type zipf struct {
	n        float64
	s        float64
	from, to float64 // the hat's integral at the ends of the range
	sure     float64 // ranks at most this far above the point need no test
}

func newZipf(n uint64, s float64) zipf {
	z := zipf{n: float64(n), s: s}
	z.from = z.area(1.5) - 1
	z.to = z.area(z.n + 0.5)
	z.sure = 2 - z.areaInverse(z.area(2.5)-math.Pow(2, -s))
	return z
}

func (z *zipf) draw(r *Rand) uint64 {
	for {
		u := z.to + r.Float64()*(z.from-z.to)
		x := z.areaInverse(u)
		k := min(max(math.Floor(x+0.5), 1), z.n)
		if k-x <= z.sure || u >= z.area(k+0.5)-math.Pow(k, -z.s) {
			return uint64(k)
		}
	}
}

// area is (x^(1-s) - 1)/(1-s), an integral of x^-s that turns into ln x
// smoothly as s nears 1.
func (z *zipf) area(x float64) float64 {
	l := math.Log(x)
	e := (1 - z.s) * l
	if math.Abs(e) < 1e-8 {
		return l * (1 + e/2)
	}
	return l * math.Expm1(e) / e
}

// areaInverse is (1 + u(1-s))^(1/(1-s)).
func (z *zipf) areaInverse(u float64) float64 {
	e := max(u*(1-z.s), -1)
	if math.Abs(e) < 1e-8 {
		return math.Exp(u * (1 - e/2))
	}
	return math.Exp(u * math.Log1p(e) / e)
}

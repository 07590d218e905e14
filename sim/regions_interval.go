package sim

import (
	"math/big"

	"github.com/weir-cli/weir/limit"
)

// regionExcess is the largest admitted - limit x time over all intervals of
// whole steps, the empty one included.
type regionExcess struct {
	perStep  *big.Rat // the limit's
	now      *big.Rat // of the best interval that ends now
	from     Micros   // where that begins
	best     *big.Rat
	bestFrom Micros
	bestTo   Micros
}

func newRegionExcess(perStep *big.Rat) regionExcess {
	return regionExcess{perStep: perStep, now: new(big.Rat), best: new(big.Rat)}
}

func (e *regionExcess) add(at Micros, k int64, each *big.Rat, step Micros) {
	if e.now.Sign() == 0 {
		e.from = at
	}
	gain := new(big.Rat).Sub(each, e.perStep)
	sum := gain.Mul(gain, new(big.Rat).SetInt64(k)).Add(gain, e.now)
	if sum.Sign() <= 0 {
		e.now = new(big.Rat)
		return
	}
	e.now = limit.CutRat(sum)
	if e.now.Cmp(e.best) > 0 {
		e.best, e.bestFrom, e.bestTo = e.now, e.from, at+Micros(k)*step
	}
}

// regionBound finds the end of the first step at which the admissions since
// from exceed limit x time + margin.
type regionBound struct {
	from   Micros
	margin *big.Rat
	over   *big.Rat // admissions since from, less limit x time
	at     Micros
	broken bool
}

// add takes k steps that each admit gain more than the limit; from lies on
// the boundary of such steps.
func (b *regionBound) add(at Micros, k int64, gain *big.Rat, step Micros) {
	if at < b.from || b.broken {
		return
	}
	if gain.Sign() > 0 {
		left := new(big.Rat).Sub(b.margin, b.over) // not below 0
		q := left.Quo(left, gain)
		need := new(big.Int).Quo(q.Num(), q.Denom())
		if need.IsInt64() && need.Int64() < k {
			b.at, b.broken = at+Micros(need.Int64()+1)*step, true
			return
		}
	}
	sum := new(big.Rat).Mul(gain, new(big.Rat).SetInt64(k))
	b.over = limit.CutRat(sum.Add(sum, b.over))
}

// regionWindow is the most that was admitted in any window of whole steps.
// What was admitted up to a time is a line between the ends of runs, so the
// most is met where a window begins or ends at one of these.
type regionWindow struct {
	span, step Micros
	ends       []regionMark // within the last span, and one before
	best       *big.Rat
	bestFrom   Micros
}

// regionMark is what was admitted up to a time, and what each step before it
// admitted.
type regionMark struct {
	at   Micros
	sum  *big.Rat
	each *big.Rat
}

func newRegionWindow(span, step Micros) regionWindow {
	return regionWindow{span: span, step: step, best: new(big.Rat), ends: []regionMark{{sum: new(big.Rat)}}}
}

func (v *regionWindow) add(at Micros, k int64, each *big.Rat) {
	last := v.ends[len(v.ends)-1]
	sum := new(big.Rat).Mul(each, new(big.Rat).SetInt64(k))
	to := at + Micros(k)*v.step
	v.ends = append(v.ends, regionMark{to, limit.CutRat(sum.Add(sum, last.sum)), each})
	for _, mark := range v.ends { // windows that begin at a mark and end in this run
		if end := mark.at + v.span; end > at && end <= to {
			v.meet(mark.at)
		}
	}
	if to >= v.span { // the window that ends with this run
		v.meet(to - v.span)
	}
	drop := 0
	for drop+1 < len(v.ends) && v.ends[drop+1].at <= to-v.span {
		drop++
	}
	v.ends = v.ends[drop:]
}

// meet looks at the window from a time on.
func (v *regionWindow) meet(from Micros) {
	sum := new(big.Rat).Sub(v.upTo(from+v.span), v.upTo(from))
	if sum.Cmp(v.best) > 0 {
		v.best, v.bestFrom = sum, from
	}
}

// upTo is what was admitted before t, which the marks enclose.
func (v *regionWindow) upTo(t Micros) *big.Rat {
	i := len(v.ends) - 1
	for i > 0 && v.ends[i-1].at >= t {
		i--
	}
	mark := v.ends[i]
	back := new(big.Rat)
	if mark.at > t {
		back.Mul(mark.each, new(big.Rat).SetInt64(int64((mark.at-t)/v.step)))
	}
	return back.Sub(mark.sum, back)
}

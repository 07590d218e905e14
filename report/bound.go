package report

import (
	"math"
	"time"
)

// The bound check.
//
// A limiter decides an attempt somewhere in [Sent, First]. A set of
// admissions is therefore proved to lie in [a, b] when each was sent at or
// after a and answered at or before b, and a bucket's promise is broken when
//
//	sum of costs  >  burst + rate * (b - a)
//
// for any such a and b. The worst excess is the maximum of left minus right
// over every a and b. Only a = some Sent and b = some First matter.
//
// Fed in order of First, b is always the newest answer. With S(a) the cost of
// all admissions seen so far that were sent at or after a, the best a is the
// one with the largest V(a) = S(a) + rate*a. An admission sent at s adds its
// cost to S(a) for every a <= s, so if a1 < a2 and V(a1) >= V(a2) then a2 can
// never win again. What is left is a list with a and V both rising, and the
// winner is its last member. Two neighbours stay apart as long as the cost
// between them is less than rate times the time between them: each member is
// the start of a busy period of the promised bucket. An admission sent after
// the last start, by far the usual case, touches that one alone; when Sent
// equals First nothing else is ever needed.
//
// Older starts matter only while an admission that was sent before the
// following start may still come. They are kept as long as the longest flight
// seen suggests; one that comes later still is under-counted, never over.

// bucketRule is a bucket promise with its fraction in lowest terms.
type bucketRule struct {
	units, per, burst int64
	costSafe, tSafe   int64 // products below these fit 62 bits
}

func newBucketRule(p *Promise) bucketRule {
	g := gcd(p.Units, p.Per)
	r := bucketRule{units: p.Units / g, per: p.Per / g, burst: p.Burst}
	r.costSafe = math.MaxInt64 / 2 / r.per
	r.tSafe = math.MaxInt64 / 2 / r.units
	return r
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, 1)
}

// apart reports cost < rate*t: a start t after another is not swallowed by it.
func (r *bucketRule) apart(cost, t int64) bool {
	if cost <= r.costSafe && t <= r.tSafe {
		return cost*r.per < r.units*t
	}
	return wideMul(cost, r.per).less(wideMul(t, r.units))
}

// excess is (cost - burst)*per - units*t: the excess in per-ths of a unit.
func (r *bucketRule) excess(cost, t int64) wide {
	d := cost - r.burst
	if d <= r.costSafe && d >= -r.costSafe && t <= r.tSafe {
		return wideOf(d*r.per - r.units*t)
	}
	return wideMul(d, r.per).sub(wideMul(t, r.units))
}

// units of cost that an excess stands for.
func (r *bucketRule) float(e wide) float64 { return e.float() / float64(r.per) }

// start is the beginning of a busy period and the cost of the admissions sent
// from there up to the next start.
type start struct{ at, cost int64 }

// boundState is one key's part of the check. The zero value has seen nothing.
type boundState struct {
	last  start
	first int64 // newest First so far
	worst wide  // valid when cost > 0
	cost  int64 // admitted inside the worst interval

	older    *[]start // earlier starts, ascending; nil until one is needed
	from, to int64    // the worst interval
}

// olderMax bounds a key's earlier starts.
const olderMax = 4096

// add takes one admission, in order of first, and reports whether the worst
// excess grew. flight is how long attempts have been seen to be under way; 0
// when every one so far had sent equal to first.
func (b *boundState) add(r *bucketRule, sent, first, cost, flight int64) bool {
	if first < b.first {
		first = b.first // out of order: claim the wider interval
	}
	b.first = first
	switch {
	case b.last.cost == 0:
		b.last = start{sent, cost}
	case sent >= b.last.at:
		if r.apart(b.last.cost, sent-b.last.at) {
			if flight > 0 {
				b.keep(first - flight)
			}
			b.last = start{sent, cost}
		} else {
			b.last.cost += cost
		}
	default:
		b.insert(r, sent, cost)
	}
	e := r.excess(b.last.cost, first-b.last.at)
	if b.cost == 0 || b.worst.less(e) {
		b.worst, b.from, b.to, b.cost = e, b.last.at, first, b.last.cost
		return true
	}
	return false
}

// keep moves last to the older starts. Before the list would grow, members
// whose successor lies before cutoff are let go: nothing sent before cutoff is
// expected any more.
func (b *boundState) keep(cutoff int64) {
	if b.older == nil {
		if b.last.at < cutoff {
			return
		}
		b.older = new([]start)
	}
	o := *b.older
	if len(o) == cap(o) && len(o) > 0 {
		drop := 0
		for drop < len(o) {
			next := b.last.at
			if drop+1 < len(o) {
				next = o[drop+1].at
			}
			if next >= cutoff {
				break
			}
			drop++
		}
		if len(o)-drop >= olderMax {
			drop = len(o) - olderMax/2
		}
		o = o[:copy(o, o[drop:])]
	}
	if o == nil {
		o = make([]start, 0, 2)
	}
	*b.older = append(o, b.last)
}

// insert takes an admission that was sent before the last start.
func (b *boundState) insert(r *bucketRule, sent, cost int64) {
	if b.older == nil {
		b.older = new([]start)
	}
	o := append(*b.older, b.last)
	i := len(o) - 1 // will be the newest start at or before sent
	for i >= 0 && o[i].at > sent {
		i--
	}
	if i >= 0 && !r.apart(o[i].cost, sent-o[i].at) {
		o[i].cost += cost
	} else {
		i++
		o = append(o, start{})
		copy(o[i+1:], o[i:])
		o[i] = start{sent, cost}
	}
	// The start at i grew, so it may swallow the ones after it.
	j := i + 1
	for j < len(o) && !r.apart(o[i].cost, o[j].at-o[i].at) {
		o[i].cost += o[j].cost
		j++
	}
	o = append(o[:i+1], o[j:]...)
	b.last = o[len(o)-1]
	*b.older = o[:len(o)-1]
}

// Allows is what the promise allows one key in any half-open interval of t
// nanoseconds; false when no interval can judge it. A nil Promise allows all.
func (p *Promise) Allows(t int64) (float64, bool) {
	j := newJudge(p, time.Time{})
	return j.boundIn(t)
}

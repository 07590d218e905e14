package report

import (
	"math/rand/v2"
	"sort"
	"testing"
)

type adm struct{ sent, first, cost int64 }

// bruteExcess claims a set for [a, b] when each was sent from a on and
// answered by b, and tries every a and b.
func bruteExcess(r bucketRule, as []adm) wide {
	worst := leastWide
	for _, from := range as {
		for _, to := range as {
			if to.first < from.sent {
				continue
			}
			var sum int64
			for _, x := range as {
				if x.sent >= from.sent && x.first <= to.first {
					sum += x.cost
				}
			}
			if sum == 0 {
				continue
			}
			if e := r.excess(sum, to.first-from.sent); worst.less(e) {
				worst = e
			}
		}
	}
	return worst
}

func bruteWindow(w int64, as []adm) int64 {
	var best int64
	for _, from := range as {
		for _, to := range as {
			if to.first < from.sent || to.first-from.sent >= w {
				continue
			}
			var sum int64
			for _, x := range as {
				if x.sent >= from.sent && x.first <= to.first {
					sum += x.cost
				}
			}
			best = max(best, sum)
		}
	}
	return best
}

func randomTrace(r *rand.Rand, n int, jitter int64) []adm {
	as := make([]adm, n)
	var t int64
	gap := r.Int64N(200) + 1
	for i := range as {
		if r.IntN(8) == 0 {
			t += r.Int64N(20 * gap)
		} else {
			t += r.Int64N(gap)
		}
		as[i] = adm{t, t, r.Int64N(3) + 1}
		if jitter > 0 {
			as[i].sent -= r.Int64N(jitter)
			as[i].first += r.Int64N(jitter)
		}
	}
	sort.SliceStable(as, func(i, j int) bool { return as[i].first < as[j].first })
	return as
}

func TestBoundEqualsEveryInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 600 {
		jitter := int64(0)
		if round%2 == 1 {
			jitter = r.Int64N(2000) + 1
		}
		as := randomTrace(r, r.IntN(60)+1, jitter)
		rule := newBucketRule(&Promise{Units: r.Int64N(5) + 1, Per: r.Int64N(300) + 1, Burst: r.Int64N(10) + 1})
		if round%5 == 0 {
			rule.costSafe, rule.tSafe = 0, 0 // force the 128-bit path
		}
		var b boundState
		l := newWindowLog([]int64{50, 777, 3000})
		room := int64(1 << 20)
		for _, a := range as {
			b.add(&rule, a.sent, a.first, a.cost, jitter*1000)
			l.add(a.sent, a.first, a.cost, &room)
		}
		if want := bruteExcess(rule, as); b.worst != want {
			t.Fatalf("round %d: worst %v, want %v (jitter %d)\n%v", round, b.worst, want, jitter, as)
		}
		var sum int64
		for _, a := range as {
			if a.sent >= b.from && a.first <= b.to {
				sum += a.cost
			}
		}
		if sum != b.cost {
			t.Fatalf("round %d: interval [%d,%d] holds %d, claimed %d", round, b.from, b.to, sum, b.cost)
		}
		for i := range l.wins {
			if w := &l.wins[i]; w.best != bruteWindow(w.length, as) {
				t.Fatalf("round %d: max in %d is %d, want %d", round, w.length, w.best, bruteWindow(w.length, as))
			}
		}
	}
}

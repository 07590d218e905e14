package report

import "math"

// evidence is the aggregate view that findings read. It holds the result as
// far as it is built and the few figures that no result shows.
type evidence struct {
	r     *Result
	judge *judge

	// Of the worst key.
	points  []point // most admitted in intervals of some lengths, ascending
	last    point   // over all of the key's admissions
	refused int64
	failed  int64
	most    [2]int64 // in windows aligned to the run's start and the wall clock
	tracked bool
	short   window // of the window-edge check

	targets []rowCount
	single  bool // one key only

	// Keys that got clearly less than a limiter with this promise would have
	// given for the same offers.
	shortKeys             int64
	shortGot, shortModel  int64
	shortWorst            string
	shortOffered          int64
	knocking, paused      int64
	stretchRefused, stuck int64

	starved, starvedExpected float64
	starvedOf                int64

	tooLong, hintLongest int64
	badText, suspectText string
	suspectUnit          string
	kept, alone          int64 // hints judged: true ones and wrong ones

	reduced reducedCount

	hinted map[string]int64 // failures that read like refusals, by status

	resetOnly int64  // refusals whose wait stands in a reset field alone
	resetName string // the field that most of them have
}

type point struct{ t, n int64 }

// underShare is the part of the promise below which a key counts as short.
const underShare = 0.9

func (c *Collector) evidence(r *Result, k *keyStat) *evidence {
	e := &evidence{r: r, judge: &c.judge, targets: c.targets, single: c.nKeys == 1,
		knocking: int64(c.stretch.knocking), paused: int64(c.stretch.paused),
		stretchRefused: int64(c.stretch.refusals),
		tooLong:        int64(c.hints.tooLong), hintLongest: c.hints.longest,
		badText: c.setup.Names.text(c.hints.badText), suspectText: c.setup.Names.text(c.hints.suspectText),
		kept: int64(c.kept), alone: int64(c.sole), hinted: statuses(&c.hinted), reduced: c.reduced}
	c.resetFields(e)
	if c.hints.suspectUnit != 0 {
		e.suspectUnit = c.setup.Names.unit(c.hints.suspectUnit)
	}
	if k != nil {
		e.refused, e.failed = int64(k.refused), int64(k.failed)
		e.last = point{k.bound.first - c.lowest, k.cost}
		if k.log != nil {
			e.tracked = len(k.log.wins) > 1
			for i := range k.log.wins {
				w := &k.log.wins[i]
				e.points = append(e.points, point{w.length, w.best})
				if w.length == c.judge.short {
					e.short = *w
				}
			}
		}
		if k.align != nil {
			e.most = k.align.most
		}
	}
	c.shortfall(e)
	c.starvation(e)
	return e
}

// resetFields counts the waits that came from a reset field. The dialect reader
// takes one only where no Retry-After is.
func (c *Collector) resetFields(e *evidence) {
	var most uint64
	for i, n := range c.hints.bySource {
		if n == 0 || i == 0 {
			continue
		}
		switch name := c.setup.Names.source(uint8(i)); name {
		case "ratelimit", "ratelimit-reset", "x-ratelimit-reset", "x-ratelimit-reset-after":
			e.resetOnly += int64(n)
			if n > most {
				most, e.resetName = n, name
			}
		}
	}
}

// shortfall compares each key with the model of its promise. A limiter may
// start empty, and attempts without an answer may have been admitted, so both
// are taken off first.
func (c *Collector) shortfall(e *evidence) {
	var slack int64
	switch c.judge.kind {
	case noPromise:
		return
	case bucketPromise:
		slack = c.judge.bucket.burst
	case windowPromise:
		slack = c.judge.limit
	}
	var worst int64
	c.eachKey(func(i uint32, k *keyStat) {
		if k.long(c.judge.recover) {
			e.stuck++
			e.stretchRefused += int64(k.refusedRun)
		}
		unanswered := int64(k.offered-k.admitted-k.refused) + int64(k.failed)
		want := int64(underShare*float64(k.model)) - slack - unanswered
		if k.refused == 0 || k.cost >= want || k.model-k.cost < 20 {
			return
		}
		e.shortKeys++
		e.shortGot += k.cost
		e.shortModel += k.model
		e.shortOffered += int64(k.offered)
		if gap := k.model - k.cost; gap > worst {
			worst, e.shortWorst = gap, c.setup.Names.key(i)
		}
	})
}

// starvation counts the clients that never got in, and how many of them
// chance alone would have left out if each attempt on a key had the same odds.
func (c *Collector) starvation(e *evidence) {
	for _, slab := range c.clients {
		if slab == nil {
			continue
		}
		for i := range slab {
			cl := &slab[i]
			if cl.offered < starvedAfter || cl.manyKeys || cl.key >= keysMax {
				continue
			}
			k := c.key(cl.key)
			if k.admitted == 0 {
				continue // the key as a whole got nothing: not a matter of fairness
			}
			e.starvedOf++
			p := float64(k.admitted) / float64(k.offered)
			e.starvedExpected += math.Pow(1-p, float64(cl.offered))
			if cl.admitted == 0 {
				e.starved++
			}
		}
	}
}

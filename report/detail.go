package report

import "slices"

// Detail is what a viewer draws of a run beyond its result. Collectors make it
// only when Setup.Detail asks for it.
type Detail struct {
	// Fine is the recent past in steps of 100 ms; Whole is all of the run, in
	// steps that widen as it grows.
	Fine, Whole Trail
	// Returns counts retries per 10 ms by when they were due, the last ten
	// seconds; Ahead those that were announced and are not due yet.
	Returns, Ahead Bins
	Waits          []Bar // the waits before retries
	// Waiting is how many clients sit out a wait.
	Waiting int64
	// Latencies from due, in the bars' order of magnitude.
	AdmittedIn, RefusedIn []Bar
	// Keys are all keys up to detailKeys, else the busiest and the worst.
	Keys     []KeyLine
	Findings []Found
}

// Bins counts per 10 ms from From, in nanoseconds since the start.
type Bins struct {
	From   int64
	Counts []uint32
}

// BinNS is the width of one of the Bins.
const BinNS = herdBin

// Bar is one row of a histogram: everything above the bar before it and up to
// Most nanoseconds. Most is 0 in the last bar, which has no upper end.
type Bar struct {
	Most int64
	N    int64
}

// Found is a finding and when it was first seen, in nanoseconds.
type Found struct {
	Finding
	Since int64
}

// KeyLine is one key, flat.
type KeyLine struct {
	Key                                string
	Offered, Admitted, Refused, Failed int64
	// Most is the most admitted in any second, -1 where it is not kept; Bound is
	// what the promise allows in one, 0 without a promise.
	Most  int64
	Bound float64
	// Share is what was admitted of what the promise allows over the run so far.
	Share, Excess float64
	Told          Told // about its bucket
	// Jain is the fairness among the Clients of the key; both are 0 where they
	// are not kept.
	Jain    float64
	Clients int64
}

// Told is what callers of a key were told about its limit last. Limit and
// Remaining are -1 and the waits negative where nothing was said.
type Told struct {
	At               int64 // when; 0 is never
	Limit, Remaining int64
	Reset            int64 // ns from At until the limit is fresh again
	RefusedAt        int64 // when somebody was told to wait; 0 is never
	RetryAfter       int64 // and for how long, in ns
}

const (
	detailKeys  = 256
	detailFair  = 1 << 16 // keys whose fairness is kept, and what was told about them
	returnsBins = 1000
	aheadMost   = 60_000 // bins of waits that are told apart: ten minutes
	aheadBins   = 1000
	fineTicks   = 3000 // five minutes
	wholeTicks  = 4096
	// findingsEvery is how often findings are looked for, and findingsCheap how
	// many keys and clients that may cost.
	findingsEvery = int64(1e9)
	findingsCheap = 20_000
)

// waitBars and latencyBars are the upper ends of the histograms' bars.
var (
	waitBars = []int64{0, 1e6, 1.5e6, 2e6, 3e6, 5e6, 7e6, 10e6, 15e6, 20e6, 30e6, 50e6, 70e6, 100e6, 150e6, 200e6, 300e6, 500e6, 700e6,
		1e9, 1.5e9, 2e9, 3e9, 5e9, 7e9, 10e9, 15e9, 30e9, 60e9, 300e9}
	latencyBars = []int64{50e3, 70e3, 100e3, 150e3, 200e3, 300e3, 500e3, 700e3, 1e6, 1.5e6, 2e6, 3e6, 5e6, 7e6, 10e6, 15e6, 20e6, 30e6, 50e6,
		70e6, 100e6, 150e6, 200e6, 300e6, 500e6, 700e6, 1e9, 1.5e9, 2e9, 3e9, 5e9, 10e9}
)

// detail grows with the run.
type detail struct {
	fine, whole trail
	waits       []int64 // one more than waitBars
	ahead       []uint32
	aheadFrom   int64 // bin of ahead[0]
	waiting     int64
	fair        []fairCount // by key
	told        []Told      // by key
	found       []Found
	foundAt     int64
	lean        bool // trails are in the last snapshot only
}

func newDetail(fine int) *detail {
	return &detail{fine: newTrail(fine, false), whole: newTrail(wholeTicks, true),
		waits: make([]int64, len(waitBars)+1), foundAt: -findingsEvery}
}

// add takes an offered attempt that left at left. cl is its client before it is
// counted, or nil.
func (d *detail) add(e *Event, left int64, cl *clientStat) {
	for _, t := range [2]*Tick{d.fine.at(left), d.whole.at(left)} {
		if t == nil {
			continue
		}
		t.Offered++
		switch e.Verdict {
		case Admitted:
			t.Admitted++
		case Refused:
			t.Refused++
		case Failed:
			t.Failed++
		}
	}
	if e.Wait >= 0 {
		i, _ := slices.BinarySearch(waitBars, e.Wait)
		d.waits[i]++
		d.announce(clampNs(float64(e.Done) + float64(e.Wait)))
	}
	d.tell(e)
	if cl != nil && !cl.manyKeys && e.Key < detailFair {
		for int(e.Key) >= len(d.fair) {
			d.fair = append(d.fair, fairCount{})
		}
		f := &d.fair[e.Key]
		if cl.offered == 0 {
			f.clients++
		}
		if e.Verdict == Admitted {
			f.sum++
			f.squares += 2*uint64(cl.admitted) + 1
		}
	}
}

// tell takes down what an answer says about the limit.
func (d *detail) tell(e *Event) {
	if e.Has&(HasLimit|HasRemaining|HasReset|HasRetryAfter) == 0 || e.Key >= detailFair {
		return
	}
	for int(e.Key) >= len(d.told) {
		d.told = append(d.told, Told{Limit: -1, Remaining: -1, Reset: -1, RetryAfter: -1})
	}
	t := &d.told[e.Key]
	if e.Has&(HasLimit|HasRemaining|HasReset) != 0 {
		t.At, t.Limit, t.Remaining, t.Reset = e.Done, -1, -1, -1
	}
	if e.Has&HasLimit != 0 {
		t.Limit = e.Limit
	}
	if e.Has&HasRemaining != 0 {
		t.Remaining = e.Remaining
	}
	if e.Has&HasReset != 0 {
		t.Reset = e.Reset
	}
	if e.Has&HasRetryAfter != 0 {
		t.RefusedAt, t.RetryAfter = e.Done, e.RetryAfter
	}
}

// announce books a retry that is due at due.
func (d *detail) announce(due int64) {
	i := due/herdBin - d.aheadFrom
	if i < 0 {
		return
	}
	d.ahead = bump(d.ahead, int(min(i, aheadMost)))
	d.waiting++
}

// pass forgets the announcements that are due by now, to the whole bin.
func (d *detail) pass(now int64) {
	n := now/herdBin + 1 - d.aheadFrom
	if n <= 0 {
		return
	}
	gone := min(n, int64(len(d.ahead)))
	for _, c := range d.ahead[:gone] {
		d.waiting -= int64(c)
	}
	kept := copy(d.ahead, d.ahead[gone:])
	clear(d.ahead[kept:]) // bump takes what lies beyond the end for zeros
	d.ahead = d.ahead[:kept]
	d.aheadFrom += n
}

// detailAt is what the collector's detail shows at now.
func (c *Collector) detailAt(s *Snapshot, now int64, last bool) *Detail {
	d := c.detail
	d.pass(now)
	out := &Detail{Waiting: d.waiting, Waits: bars(waitBars, d.waits),
		AdmittedIn: c.due[0].bars(latencyBars), RefusedIn: c.due[1].bars(latencyBars)}
	if !d.lean || last {
		out.Fine, out.Whole = d.fine.copied(), d.whole.copied()
	}
	out.Returns = c.herd.returns(now)
	out.Ahead = Bins{d.aheadFrom * herdBin, slices.Clone(d.ahead[:min(len(d.ahead), aheadBins)])}
	out.Keys = c.keyLines(max(now, c.end))
	every := findingsEvery
	if c.nKeys+int(c.fair.clients) > findingsCheap {
		every *= 10
	}
	if now-d.foundAt >= every || last {
		d.foundAt = now
		d.found = c.findingsSoFar(s, now)
	}
	out.Findings = d.found
	return out
}

func bars(most []int64, n []int64) []Bar {
	out := make([]Bar, len(n))
	for i := range out {
		out[i].N = n[i]
		if i < len(most) {
			out[i].Most = most[i]
		}
	}
	return out
}

// bars sums the histogram up; each of its buckets counts where its middle is.
func (h *Hist) bars(most []int64) []Bar {
	n := make([]int64, len(most)+1)
	if h.n > 0 {
		at := 0
		for i, c := range h.counts {
			for at < len(most) && bucketMid(i) > most[at] {
				at++
			}
			n[at] += int64(c)
		}
	}
	return bars(most, n)
}

// returns are the bins of the ten seconds before now.
func (h *herdCount) returns(now int64) Bins {
	to := min(max(now/herdBin+1, 0), herdBins)
	from := max(to-returnsBins, 0)
	b := Bins{From: from * herdBin, Counts: make([]uint32, to-from)}
	if from < int64(len(h.due)) {
		copy(b.Counts, h.due[from:min(to, int64(len(h.due)))])
	}
	return b
}

// keyLines lists the keys that a viewer can sort.
func (c *Collector) keyLines(end int64) []KeyLine {
	var lines []KeyLine
	if c.nKeys <= detailKeys {
		c.eachKey(func(i uint32, k *keyStat) { lines = append(lines, c.keyLine(i, k, end)) })
		return lines
	}
	seen := map[uint32]bool{}
	for _, top := range [2]*topKeys{&c.worst, &c.busiest} {
		for _, i := range top.ids[:top.n] {
			if !seen[i] {
				seen[i] = true
				lines = append(lines, c.keyLine(i, c.key(i), end))
			}
		}
	}
	return lines
}

func (c *Collector) keyLine(i uint32, k *keyStat, end int64) KeyLine {
	l := KeyLine{Key: c.setup.Names.key(i), Offered: int64(k.offered), Admitted: int64(k.admitted),
		Refused: int64(k.refused), Failed: int64(k.failed), Most: -1}
	if c.judge.kind != noPromise {
		allows, _ := c.judge.boundIn(end)
		l.Share, l.Excess = ratio(float64(k.cost), allows), c.excess(k)
		l.Bound, _ = c.judge.boundIn(1e9)
	}
	if k.log != nil {
		for w := range k.log.wins {
			if k.log.wins[w].length == 1e9 {
				l.Most = k.log.wins[w].best
			}
		}
	} else if k.admitted == 0 {
		l.Most = 0
	}
	if int(i) < len(c.detail.told) {
		l.Told = c.detail.told[i]
	}
	if int(i) < len(c.detail.fair) {
		f := &c.detail.fair[i]
		l.Clients = int64(f.clients)
		if f.clients > 0 {
			l.Jain = f.jain()
		}
	}
	return l
}

// findingsSoFar looks for findings in the run as it stands. The worst key is
// the worst of those on the list, which a full pass may yet correct.
func (c *Collector) findingsSoFar(s *Snapshot, now int64) []Found {
	r := &Result{Totals: s.Totals, Verdict: s.Verdict, Bound: s.Bound, PerTarget: s.Targets,
		Status: s.Status, RefusedStatuses: statuses(&c.refusals), Errors: s.Errors, RetryAfter: s.Hints,
		Herd: s.Herd, Fairness: s.Fairness, Latency: s.Latency, Sender: s.Sender, DurationS: seconds(now)}
	var out []Found
	for _, f := range findings(c.evidence(r, c.worstListed())) {
		since := now
		for _, was := range c.detail.found {
			if was.ID == f.ID {
				since = was.Since
			}
		}
		out = append(out, Found{f, since})
	}
	return out
}

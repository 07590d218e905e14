package report

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Setup is what a collector must know before the first event. The zero value
// judges nothing and makes names up.
type Setup struct {
	Names Names
	// Promise is the limit to judge each key by; nil judges nothing.
	Promise *Promise
	// Start is the wall clock at instant 0. Zero for simulated runs.
	Start time.Time
	// Tap, when set, sees every event in merge order, on the merging
	// goroutine. It must not keep the pointer.
	Tap func(*Event)
	// Detail adds to snapshots what a viewer draws beyond the result.
	Detail bool
}

// Collector merges the shards of a run and keeps every statistic. Shard and
// Latest may be called from any goroutine; Merge, Feed and Finish from one at a
// time.
type Collector struct {
	setup  Setup
	mu     sync.Mutex // shards, and one merge at a time
	shards []*Shard
	latest atomic.Pointer[Snapshot]

	totals   Totals
	conns    uint64
	series   series
	keys     []*[keySlab]keyStat
	nKeys    int
	restKey  keyStat
	clients  []*[clientSlab]clientStat
	targets  []rowCount
	groups   []rowCount // populations
	status   [1024]uint64
	refusals [1024]uint64 // refused, by status
	hinted   [1024]uint64 // failed by their status although they read like refusals
	classes  [classes]uint64
	fair     fairCount
	herd     herdCount
	hints    hintCount
	reduced  reducedCount
	detail   *detail // nil without Setup.Detail

	due, sent [3]Hist // admitted, refused, failed
	late      Hist

	judge   judge
	pend    [256]pending
	nPend   int
	sole    uint64 // obedient retries refused though nobody was admitted since
	kept    uint64 // obedient retries admitted, while their key had room for one more to wait
	stretch stretches
	flight  int64 // longest First-Sent of an admission
	end     int64 // newest Done
	lowest  int64 // earliest Sent
	any     bool
	tracked int
	logRoom int64
	busiest topKeys
	worst   topKeys
	broken  int // keys whose promise is broken

	keysOver, clientsOver, trackedOver bool

	loaded uint64 // a sum of what was looked at ahead, so that it is looked at
}

// rowCount is one target or population.
type rowCount struct {
	offered, admitted, refused, failed uint64
	cost                               int64
}

// judge is the promise in the forms the checks need.
type judge struct {
	kind     promiseKind
	bucket   bucketRule
	limit    int64
	window   int64
	offset   [2]int64 // run start and wall clock, for aligned windows
	lengths  []int64  // of max_in, ascending
	windowAt int      // of window in lengths
	short    int64    // of the window-edge check
	// tokenNs and fullNs: how long one unit, and everything, takes to return.
	tokenNs, fullNs float64
	tooLong         int64
	recover         int64
}

type promiseKind uint8

const (
	noPromise promiseKind = iota
	bucketPromise
	windowPromise
)

// baseLengths are the intervals whose exact maxima are kept.
var baseLengths = []int64{1e9, 10e9, 60e9}

func newJudge(p *Promise, start time.Time) judge {
	j := judge{lengths: append([]int64(nil), baseLengths...)}
	switch {
	case p == nil:
	case p.Units > 0 && p.Per > 0:
		j.kind = bucketPromise
		j.bucket = newBucketRule(p)
		j.tokenNs = float64(p.Per) / float64(p.Units)
		j.fullNs = j.tokenNs * float64(max(p.Burst, 1))
		j.tooLong = clampNs(j.fullNs + j.tokenNs + 1e9)
		j.recover = clampNs(max(j.fullNs, 10*j.tokenNs, 2e9))
	case p.Window > 0:
		j.kind = windowPromise
		j.limit, j.window = p.Limit, p.Window
		j.short = min(2e9, p.Window/5)
		j.addLength(p.Window)
		j.addLength(j.short)
		j.windowAt = slices.Index(j.lengths, p.Window)
		if !start.IsZero() {
			j.offset[1] = start.UnixNano() % p.Window
		}
		j.tokenNs = float64(p.Window) / float64(max(p.Limit, 1))
		j.fullNs = float64(p.Window)
		j.tooLong = clampNs(j.fullNs + 1e9)
		j.recover = clampNs(max(1.5*j.fullNs, 2e9))
	}
	return j
}

func clampNs(v float64) int64 {
	if v >= math.MaxInt64/4 {
		return math.MaxInt64 / 4
	}
	return int64(v)
}

func (j *judge) addLength(ns int64) {
	at := len(j.lengths)
	for i, l := range j.lengths {
		if l == ns || ns <= 0 {
			return
		}
		if l > ns {
			at = i
			break
		}
	}
	j.lengths = append(j.lengths, 0)
	copy(j.lengths[at+1:], j.lengths[at:])
	j.lengths[at] = ns
}

// boundIn is what the promise allows one key in any half-open interval of t
// nanoseconds; false when nothing is judged. For show: the check is integer.
func (j *judge) boundIn(t int64) (float64, bool) {
	switch j.kind {
	case bucketPromise:
		return float64(j.bucket.burst) + float64(t)/j.tokenNs, true
	case windowPromise:
		return float64(j.limit) * math.Ceil(float64(t)/float64(j.window)), true
	}
	return 0, false
}

// NewCollector returns a collector with no shards.
func NewCollector(s Setup) *Collector {
	c := &Collector{setup: s, judge: newJudge(s.Promise, s.Start), logRoom: admissionCap}
	c.busiest.flag, c.worst.flag = inBusiest, inWorst
	if s.Detail {
		c.detail = newDetail(fineTicks)
	}
	c.latest.Store(&Snapshot{Verdict: NotJudged, Sender: Sender{Trust: Good}})
	return c
}

// Shard adds a shard. Each belongs to the one goroutine that records into it.
func (c *Collector) Shard() *Shard {
	s := newShard()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shards = append(c.shards, s)
	return s
}

// add takes one event into the statistics.
func (c *Collector) add(e *Event) {
	if c.setup.Tap != nil {
		c.setup.Tap(e)
	}
	if e.Done > c.end {
		c.end = e.Done
	}
	if e.Verdict == Dropped {
		c.totals.Dropped++
		c.series.at(e.Due).Dropped++
		return
	}
	left := e.Sent
	if left == 0 && e.Due > 0 {
		left = e.Due // failed before it could leave
	} else {
		c.late.Record(e.Sent - e.Due)
	}
	if !c.any || left < c.lowest {
		c.lowest, c.any = left, true
	}
	c.totals.Offered++
	if e.Attempt > 1 {
		c.totals.Retries++
		c.herd.add(e.Due, left)
	}
	if e.Has&Abandoned != 0 {
		c.totals.Abandoned++
	}
	if e.Has&NewConn != 0 {
		c.conns++
	}
	c.status[min(e.Status, 1023)]++

	sec := c.series.at(left)
	sec.Offered++
	k := c.key(e.Key)
	if k.offered == 0 {
		c.nKeys++
	}
	k.offered++
	t := row(&c.targets, e.Target)
	t.offered++
	g := row(&c.groups, e.Population)
	g.offered++
	cl := c.client(e.Client)
	if cl != nil {
		if cl.offered > 0 && cl.key != e.Key {
			cl.manyKeys = true
		}
		cl.key = e.Key
	}
	if c.detail != nil {
		c.detail.add(e, left, cl)
	}
	if cl != nil {
		c.fair.add(cl, e.Verdict == Admitted)
	}

	if e.Has&Reduced != 0 {
		c.reduced.add(e)
	}
	switch e.Verdict {
	case Admitted:
		c.totals.Admitted++
		sec.Admitted++
		k.admitted++
		t.admitted++
		t.cost += cost(e)
		g.admitted++
		c.due[0].Record(e.Done - e.Due)
		c.sent[0].Record(e.Done - e.Sent)
		if e.Has&Obeyed != 0 {
			c.hints.obeyedAdmitted++
			if c.waiting(k) < pendingPerKey {
				c.kept++
			}
		}
		c.admitted(e, k)
	case Refused:
		c.totals.Refused++
		sec.Refused++
		k.refused++
		t.refused++
		g.refused++
		c.due[1].Record(e.Done - e.Due)
		c.sent[1].Record(e.Done - e.Sent)
		c.refusals[min(e.Status, 1023)]++
		c.hints.refused(e, c.judge.tooLong)
		c.refused(e, k, cl)
	case Failed:
		c.totals.Failed++
		sec.Failed++
		k.failed++
		t.failed++
		g.failed++
		c.due[2].Record(e.Done - e.Due)
		c.sent[2].Record(e.Done - left)
		c.classes[min(e.Class, OtherError)]++
		if e.Class == BadStatus && (e.Status == 429 || e.Has&HasRetryAfter != 0) {
			c.hinted[min(e.Status, 1023)]++
		}
	default:
		c.totals.InFlight++
		sec.InFlight++
	}
	if e.Has&(Obeyed|Early) != 0 {
		if e.Has&Obeyed != 0 {
			c.hints.obeyed++
		} else {
			c.hints.early++
		}
	}
	if e.Verdict == Admitted || e.Verdict == Refused {
		c.judge.model(k, left, cost(e))
	}
	if k.flags&inBusiest == 0 && k != &c.restKey {
		if c.busiest.n < topMax || k.offered&63 == 0 {
			c.busiest.offer(c, e.Key, k, busier)
		}
	}
}

func busier(a, b *keyStat) bool { return a.offered > b.offered }

func cost(e *Event) int64 { return int64(max(e.Cost, 1)) }

// row returns row i of a lazily grown table.
func row(t *[]rowCount, i uint16) *rowCount {
	for int(i) >= len(*t) {
		*t = append(*t, rowCount{})
	}
	return &(*t)[i]
}

// admitted runs the checks that an admission feeds.
func (c *Collector) admitted(e *Event, k *keyStat) {
	first, n := e.First, cost(e)
	if e.Has&HasFirst == 0 {
		first = e.Done
	}
	if first < e.Sent {
		first = e.Sent
	}
	if k.pending != 0 {
		c.contend(k, e.Sent)
	}
	c.stretch.admitted(k, e.Sent, c.judge.recover, c.flight)
	if first-e.Sent > c.flight {
		c.flight = first - e.Sent
	}
	k.cost += n
	if k == &c.restKey {
		return
	}
	switch c.judge.kind {
	case bucketPromise:
		was := k.bound.cost > 0 && k.bound.worst.positive()
		if k.bound.add(&c.judge.bucket, e.Sent, first, n, c.horizon()) {
			broke := !was && k.bound.worst.positive()
			if broke {
				c.broken++
			}
			c.rank(e.Key, k, broke)
		}
	default:
		k.bound.first = max(k.bound.first, first)
	}
	if k.log == nil {
		c.track(k)
	}
	if k.log != nil {
		k.log.add(e.Sent, first, n, &c.logRoom)
		if c.judge.kind == windowPromise {
			c.windowWorst(e.Key, k)
		}
	}
	if k.align != nil {
		k.align.add(e.Sent, n, c.judge.window, c.judge.offset)
	}
}

// rank offers a key whose excess grew to the list of the worst: while the list
// has room, when the key breaks its promise, and now and then after that.
func (c *Collector) rank(i uint32, k *keyStat, broke bool) {
	if k.flags&inWorst == 0 && (broke || c.worst.n < topMax || k.admitted&31 == 0) {
		c.worst.offer(c, i, k, worseKey)
	}
}

// worseKey orders by excess; a key with no admission ranks last.
func worseKey(a, b *keyStat) bool {
	if a.bound.cost == 0 || b.bound.cost == 0 {
		return a.bound.cost > 0
	}
	return b.bound.worst.less(a.bound.worst)
}

// windowWorst copies a window promise's worst interval to where a bucket's is
// kept, so that everything after this knows one form.
func (c *Collector) windowWorst(i uint32, k *keyStat) {
	w := &k.log.wins[0]
	if len(k.log.wins) > 1 {
		w = &k.log.wins[c.judge.windowAt]
	}
	if w.best <= k.bound.cost {
		return
	}
	broke := w.best > c.judge.limit && k.bound.cost <= c.judge.limit
	if broke {
		c.broken++
	}
	k.bound.cost, k.bound.from, k.bound.to = w.best, w.from, w.to
	k.bound.worst = wideOf(w.best - c.judge.limit)
	c.rank(i, k, broke)
}

// horizon is how long after its sending an admission may still turn up; 0
// while every decision had a single instant.
func (c *Collector) horizon() int64 {
	if c.flight == 0 {
		return 0
	}
	return max(2*c.flight, 1e9)
}

// track gives a key its window log, the full one for the first keys and for
// the rest only what a window promise needs.
func (c *Collector) track(k *keyStat) {
	if c.tracked < trackedMax {
		c.tracked++
		k.log = newWindowLog(c.judge.lengths)
		if c.judge.kind == windowPromise {
			k.align = new(alignment)
		}
		return
	}
	c.trackedOver = true
	if c.judge.kind == windowPromise {
		k.log = newWindowLog([]int64{c.judge.window})
	}
}

// model runs the promise itself over the offers: what would a limiter that
// keeps it have let through? GCRA for a bucket, a fixed window otherwise.
// Truncating to whole nanoseconds is safe: only findings with wide margins
// read it.
func (j *judge) model(k *keyStat, at, n int64) {
	switch j.kind {
	case bucketPromise:
		tat := max(k.modelAt, at)
		if next := tat + clampNs(float64(n)*j.tokenNs); float64(next-at) <= j.fullNs+1 {
			k.modelAt = next
			k.model += n
		}
	case windowPromise:
		if k.modelAt == 0 || at >= k.modelAt+j.window {
			k.modelAt, k.modelUsed = at, 0
		}
		if k.modelUsed+n <= j.limit {
			k.modelUsed += n
			k.model += n
		}
	}
}

package report

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"
)

// Meta is what a result says about its run that no event can tell.
type Meta struct {
	Source, Name string
	Seed         int64
	Repeat       string // the command that repeats the run
	Duration     int64  // ns; 0 takes the newest event's time
	Interrupted  bool
	CPUSeconds   float64
	RSSMB        float64
	// MaxRows bounds per_key; 0 is 100.
	MaxRows int
	// Notes are put before the collector's own.
	Notes []string
	Marks []Mark
}

const defaultRows = 100

// Finish merges whatever is left, publishes a last snapshot and returns the
// result. No shard may be recording any more.
func (c *Collector) Finish(m Meta) *Result {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.shards {
		s.Close()
	}
	c.drain(0)
	c.settle(forever)
	end := max(m.Duration, c.end)
	c.latest.Store(c.snapshot(end, true))

	r := &Result{Schema: Schema, Source: m.Source, Name: m.Name, Seed: m.Seed, Repeat: m.Repeat,
		Interrupted: m.Interrupted, Totals: c.total(), PerSecond: append([]Second{}, c.series.rows...)}
	if !c.setup.Start.IsZero() {
		r.StartedAt = c.setup.Start.UTC().Format(time.RFC3339Nano)
	}
	if m.Duration == 0 {
		m.Duration = c.end
	}
	r.DurationS = seconds(m.Duration)
	r.Notes, r.Marks = append([]string(nil), m.Notes...), m.Marks
	r.PerKey = c.keyRows(m, end, &r.Notes)
	worst, id, tested := c.worstKey()
	r.Verdict, r.Bound = c.verdict(worst, id, tested, end)
	r.PerTarget = rows(c.targets, c.setup.Names.target)
	if len(c.groups) > 1 {
		r.PerPopulation = rows(c.groups, c.setup.Names.population)
	}
	r.Status, r.RefusedStatuses, r.Errors = statuses(&c.status), statuses(&c.refusals), c.errors()
	r.RetryAfter = c.retryAfter()
	r.Herd = c.herd.result()
	r.Fairness = c.fairness()
	r.Latency = c.latency()
	r.Sender = c.sender()
	r.Sender.CPUS, r.Sender.RSSMB = round(m.CPUSeconds, 3), round(m.RSSMB, 1)
	r.Checks = []Check{}
	if r.Bound != nil {
		r.Checks = append(r.Checks, boundCheck(r))
	}
	r.Findings = findings(c.evidence(r, worst))
	r.Notes = append(r.Notes, c.notes()...)
	return r
}

func (c *Collector) total() Totals {
	t := c.totals
	t.Planned = t.Offered + t.Dropped
	return t
}

func (c *Collector) notes() []string {
	var n []string
	if c.keysOver {
		n = append(n, fmt.Sprintf("keys beyond the first %s share one row and are not judged", Count(keysMax)))
	}
	if c.clientsOver {
		n = append(n, fmt.Sprintf("clients beyond the first %s are left out of fairness", Count(clientsMax)))
	}
	if c.trackedOver {
		n = append(n, fmt.Sprintf("max_in is kept for the first %s admitted keys; the bound is checked on every key", Count(trackedMax)))
	}
	if c.series.over {
		n = append(n, fmt.Sprintf("per_second ends at %s s; its last row holds all that came later", Count(secondsMax)))
	}
	if c.herd.over > 0 {
		n = append(n, fmt.Sprintf("%s retries after the first %s are left out of the herd figures",
			Count(int64(c.herd.over)), span(herdBins*herdBin)))
	}
	coarse := 0
	c.eachKey(func(_ uint32, k *keyStat) {
		if k.log != nil && k.log.coarse {
			coarse++
		}
	})
	if coarse > 0 {
		n = append(n, fmt.Sprintf("%s keys admitted too much to keep every instant: their max_in may be a little low, never high", Count(int64(coarse))))
	}
	return n
}

// worstKey is the key with the highest excess, or the busiest when nothing is
// judged; tested reports that on some key the demand went beyond the promise.
func (c *Collector) worstKey() (worst *keyStat, id uint32, tested bool) {
	c.eachKey(func(i uint32, k *keyStat) {
		if worst == nil || c.ranks(k, worst) {
			worst, id = k, i
		}
		if k.refused > 0 || k.model < int64(k.offered) {
			tested = true
		}
	})
	return worst, id, tested
}

// ranks puts the worst offender first, then the busiest.
func (c *Collector) ranks(a, b *keyStat) bool {
	if c.judge.kind != noPromise {
		if worseKey(a, b) {
			return true
		}
		if worseKey(b, a) {
			return false
		}
	}
	return a.offered > b.offered
}

func (c *Collector) excess(k *keyStat) float64 {
	switch {
	case c.judge.kind == noPromise:
		return 0
	case k.bound.cost == 0 && c.judge.kind == bucketPromise:
		return -float64(c.judge.bucket.burst)
	case k.bound.cost == 0:
		return -float64(c.judge.limit)
	case c.judge.kind == bucketPromise:
		return c.judge.bucket.float(k.bound.worst)
	}
	return k.bound.worst.float()
}

func (c *Collector) verdict(k *keyStat, id uint32, tested bool, end int64) (string, *Bound) {
	if c.judge.kind == noPromise {
		return NotJudged, nil
	}
	b := &Bound{Promise: c.setup.Promise.Text, KeysJudged: int64(c.nKeys), KeysBroken: int64(c.broken),
		Tested: tested, OverS: seconds(end)}
	if c.keysOver && b.KeysJudged > 0 {
		b.KeysJudged-- // the shared row is not judged
	}
	if k == nil {
		b.Allows, _ = c.judge.boundIn(end)
		return Held, b
	}
	allows, _ := c.judge.boundIn(end)
	b.Key = c.setup.Names.key(id)
	b.Admitted, b.Allows, b.Ratio = k.cost, round(allows, 3), round(ratio(float64(k.cost), allows), 3)
	b.WorstExcess = round(c.excess(k), 3)
	if k.bound.cost > 0 {
		b.WorstInterval = Interval{seconds(k.bound.from), seconds(k.bound.to)}
		b.WorstAdmitted = k.bound.cost
		if c.judge.kind == bucketPromise {
			within, _ := c.judge.boundIn(k.bound.to - k.bound.from)
			b.WorstAllows = round(within, 3)
		} else {
			b.WorstAllows = float64(c.judge.limit)
		}
	}
	if c.broken > 0 {
		return Broken, b
	}
	return Held, b
}

// keyRows lists the worst keys and sums up the rest.
func (c *Collector) keyRows(m Meta, end int64, notes *[]string) []KeyRow {
	limit := m.MaxRows
	if limit <= 0 {
		limit = defaultRows
	}
	type ranked struct {
		id   uint32
		k    *keyStat
		name string
	}
	// Equals go by name: numbers differ between a run and its saved events.
	before := func(a, b *ranked) bool {
		if c.ranks(a.k, b.k) {
			return true
		}
		if c.ranks(b.k, a.k) {
			return false
		}
		for _, r := range []*ranked{a, b} {
			if r.name == "" {
				r.name = c.setup.Names.key(r.id)
			}
		}
		return byName(a.name, b.name) < 0
	}
	// The worst so far, in order; a million keys are not worth sorting.
	top := make([]ranked, 0, min(limit, c.nKeys)+1)
	var other KeyRow
	var worst *keyStat // of the others
	leave := func(k *keyStat) {
		other.add(k)
		if x := c.excess(k); worst == nil || x > c.excess(worst) || x == c.excess(worst) && k.bound.from < worst.bound.from {
			worst = k
			other.WorstExcess = round(x, 3)
			other.WorstInterval = Interval{seconds(k.bound.from), seconds(k.bound.to)}
		}
	}
	c.eachKey(func(i uint32, k *keyStat) {
		x := ranked{id: i, k: k}
		if len(top) == limit {
			if !before(&x, &top[limit-1]) {
				leave(k)
				return
			}
			leave(top[limit-1].k)
			top = top[:limit-1]
		}
		at := sort.Search(len(top), func(j int) bool { return before(&x, &top[j]) })
		top = slices.Insert(top, at, x)
	})
	rows := make([]KeyRow, 0, len(top)+1)
	for _, a := range top {
		rows = append(rows, c.keyRow(a.id, a.k, end))
	}
	if c.restKey.offered > 0 {
		other.add(&c.restKey)
	}
	if other.Keys > 0 {
		other.Key = "other"
		rows = append(rows, other)
		*notes = append(*notes, fmt.Sprintf("per_key lists the %s worst of %s keys; the last row sums up the rest",
			Count(int64(limit)), Count(int64(c.nKeys))))
	}
	return rows
}

func (r *KeyRow) add(k *keyStat) {
	r.Keys++
	r.Offered += int64(k.offered)
	r.Admitted += int64(k.admitted)
	r.Refused += int64(k.refused)
	r.Failed += int64(k.failed)
}

func (c *Collector) keyRow(id uint32, k *keyStat, end int64) KeyRow {
	r := KeyRow{Key: c.setup.Names.key(id)}
	r.add(k)
	r.Keys = 0
	if c.judge.kind != noPromise {
		r.Limit = c.setup.Promise.Text
		r.WorstExcess = round(c.excess(k), 3)
		r.WorstInterval = Interval{seconds(k.bound.from), seconds(k.bound.to)}
	}
	if k.log == nil {
		return r
	}
	r.MaxIn = make(map[string]int64, len(k.log.wins))
	for i := range k.log.wins {
		w := &k.log.wins[i]
		if i > 0 && w.length > end && w.length != c.judge.window {
			continue // the run is shorter
		}
		name := lengthName(w.length)
		r.MaxIn[name] = w.best
		if b, ok := c.judge.boundIn(w.length); ok {
			if r.BoundIn == nil {
				r.BoundIn = make(map[string]float64, len(k.log.wins))
			}
			r.BoundIn[name] = round(b, 3)
		}
	}
	return r
}

// lengthName writes an interval as in "10s", whole seconds without minutes.
func lengthName(ns int64) string {
	if ns%1e9 == 0 {
		return strconv.FormatInt(ns/1e9, 10) + "s"
	}
	return time.Duration(ns).String()
}

func rows(t []rowCount, name func(uint16) string) []Row {
	out := make([]Row, 0, len(t))
	for i, r := range t {
		if r.offered > 0 {
			out = append(out, Row{name(uint16(i)), int64(r.offered), int64(r.admitted), int64(r.refused), int64(r.failed)})
		}
	}
	slices.SortStableFunc(out, func(a, b Row) int { return byName(a.Name, b.Name) })
	return out
}

// byName orders names so that g2 comes before g10.
func byName(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }

// statuses leaves out 0, which stands for no status at all.
func statuses(n *[1024]uint64) map[string]int64 {
	m := map[string]int64{}
	for s, v := range n {
		if v == 0 || s == 0 {
			continue
		}
		name := strconv.Itoa(s)
		if s == len(n)-1 {
			name = "other"
		}
		m[name] = int64(v)
	}
	return m
}

func (c *Collector) errors() map[string]int64 {
	m := map[string]int64{}
	for i, v := range c.classes {
		if v > 0 {
			name := Class(i).String()
			if name == "" {
				name = "other"
			}
			m[name] += int64(v)
		}
	}
	return m
}

func (c *Collector) retryAfter() RetryAfter {
	r := c.hints.result()
	r.ObeyedAlone = int64(c.sole)
	return r
}

func (c *Collector) fairness() Fairness {
	return Fairness{round(c.fair.jain(), 4), int64(c.fair.clients), c.fair.starved}
}

func (h *Hist) summary() Quantiles {
	var q [4]int64
	h.quantiles([]float64{0.5, 0.9, 0.99, 0.999}, q[:])
	return Quantiles{int64(h.n), round(h.Mean()/1e6, 3), millis(q[0]), millis(q[1]), millis(q[2]), millis(q[3]), millis(h.max)}
}

func (c *Collector) latency() Latency {
	due, sent := c.due[0], c.sent[0]
	due.Merge(&c.due[1])
	sent.Merge(&c.sent[1])
	return Latency{due.summary(), sent.summary(), c.due[0].summary(), c.due[1].summary(), c.due[2].summary()}
}

func (c *Collector) sender() Sender {
	t := c.total()
	s := Sender{LateMS: c.late.summary(), Connections: int64(c.conns)}
	s.Trust, s.Why = trust(t.Planned, t.Dropped, c.late.Quantile(0.99))
	return s
}

// boundCheck is the check that every judged result carries.
func boundCheck(r *Result) Check {
	b := r.Bound
	c := Check{Name: "bound", Pass: r.Verdict == Held}
	switch {
	case b.Key == "":
		c.Detail = "nothing was admitted"
	case c.Pass:
		c.Detail = fmt.Sprintf("worst excess over any interval is %s (at or below 0 holds)", amount(b.WorstExcess))
	default:
		c.Detail = fmt.Sprintf("key %s: %s admitted in %s where the promise allows %s", Clean(b.Key),
			Count(b.WorstAdmitted), span(int64((b.WorstInterval.ToS-b.WorstInterval.FromS)*1e9)), amount(b.WorstAllows))
	}
	return c
}

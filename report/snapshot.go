package report

import "slices"

// Snapshot is the state of a run at one instant: an immutable value that any
// number of viewers may read. Its figures are made by the same code as the
// result's.
type Snapshot struct {
	At      int64 // ns since the start of the run
	Totals  Totals
	Series  []Second // the last snapshotSeconds seconds
	Verdict string
	Bound   *Bound // nil when nothing is judged
	// Keys are the worst keys when a promise is judged, else the busiest.
	Keys     []KeyRow
	NKeys    int
	Targets  []Row
	Status   map[string]int64
	Errors   map[string]int64
	Hints    RetryAfter
	Herd     Herd
	Fairness Fairness
	Latency  Latency
	Sender   Sender
	// Detail is nil unless the collector's Setup asked for it.
	Detail *Detail
}

const (
	snapshotSeconds = 300
	snapshotTargets = 64
	snapshotKeys    = 16
)

// snapshot makes one; last is the one of a run that is over.
func (c *Collector) snapshot(now int64, last bool) *Snapshot {
	end := max(now, c.end)
	s := &Snapshot{At: now, Totals: c.total(), NKeys: c.nKeys}
	from := max(len(c.series.rows)-snapshotSeconds, 0)
	s.Series = append([]Second(nil), c.series.rows[from:]...)
	ids := c.listed()
	var worst *keyStat
	var id uint32
	tested := c.totals.Refused > 0
	if len(ids) > 0 {
		worst, id = c.key(ids[0]), ids[0]
	}
	for _, i := range ids[:min(len(ids), snapshotKeys)] {
		s.Keys = append(s.Keys, c.keyRow(i, c.key(i), end))
	}
	s.Verdict, s.Bound = c.verdict(worst, id, tested, end)
	s.Targets = rows(c.targets[:min(len(c.targets), snapshotTargets)], c.setup.Names.target)
	s.Status, s.Errors = statuses(&c.status), c.errors()
	s.Hints, s.Herd, s.Fairness = c.retryAfter(), c.herd.result(), c.fairness()
	s.Latency, s.Sender = c.latency(), c.sender()
	if c.detail != nil {
		s.Detail = c.detailAt(s, now, last)
	}
	return s
}

// listed are the keys worth a look, the worst first when a promise is judged.
func (c *Collector) listed() []uint32 {
	top := &c.busiest
	if c.judge.kind != noPromise && c.worst.n > 0 {
		top = &c.worst
	}
	ids := append([]uint32(nil), top.ids[:top.n]...)
	slices.SortFunc(ids, func(a, b uint32) int {
		switch ka, kb := c.key(a), c.key(b); {
		case c.ranks(ka, kb):
			return -1
		case c.ranks(kb, ka):
			return 1
		}
		return 0
	})
	return ids
}

// worstListed is the first of them, or nil.
func (c *Collector) worstListed() *keyStat {
	if ids := c.listed(); len(ids) > 0 {
		return c.key(ids[0])
	}
	return nil
}

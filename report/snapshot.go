package report

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
}

const (
	snapshotSeconds = 300
	snapshotTargets = 64
)

func (c *Collector) snapshot(now int64) *Snapshot {
	end := max(now, c.end)
	s := &Snapshot{At: now, Totals: c.total(), NKeys: c.nKeys}
	from := max(len(c.series.rows)-snapshotSeconds, 0)
	s.Series = append([]Second(nil), c.series.rows[from:]...)
	top := &c.busiest
	if c.judge.kind != noPromise && c.worst.n > 0 {
		top = &c.worst
	}
	var worst *keyStat
	var id uint32
	tested := c.totals.Refused > 0
	ids := append([]uint32(nil), top.ids[:top.n]...)
	// A list of sixteen: insertion sort.
	for i := 1; i < len(ids); i++ {
		for j := i; j > 0 && c.ranks(c.key(ids[j]), c.key(ids[j-1])); j-- {
			ids[j], ids[j-1] = ids[j-1], ids[j]
		}
	}
	if len(ids) > 0 {
		worst, id = c.key(ids[0]), ids[0]
	}
	for _, i := range ids {
		s.Keys = append(s.Keys, c.keyRow(i, c.key(i), end))
	}
	s.Verdict, s.Bound = c.verdict(worst, id, tested, end)
	s.Targets = rows(c.targets[:min(len(c.targets), snapshotTargets)], c.setup.Names.target)
	s.Status, s.Errors = statuses(&c.status), c.errors()
	s.Hints, s.Herd, s.Fairness = c.retryAfter(), c.herd.result(), c.fairness()
	s.Latency, s.Sender = c.latency(), c.sender()
	return s
}

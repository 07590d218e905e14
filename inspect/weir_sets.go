package inspect

import (
	"fmt"
	"math"
	"sort"
	"strings"
	"time"

	"github.com/weir-cli/weir/limit"
)

// weirScore reads a score of weir's, which is whole.
func weirScore(f float64) (int64, bool) {
	return int64(f), f == math.Trunc(f) && math.Abs(f) <= weirMax
}

// weirEntry is one admission of a sliding log: its time in µs, its units and
// those of all up to and with it.
type weirEntry struct{ at, sum, cost int64 }

// weirLog is a sliding log as read. With missing, entries between the first
// head and the rest were not.
type weirLog struct {
	entries []weirEntry
	head    int
	missing bool
	limit   int64
	window  int64 // µs
	seen    int64 // the highest time, µs
}

// readWeirLog reads a log with its mark; nil for no key.
func readWeirLog(e *Entry) (*weirLog, bool) {
	if e == nil {
		return nil, true
	}
	log := &weirLog{head: e.Head, missing: e.Truncated}
	if len(e.Members) == 0 {
		return nil, false
	}
	last := e.Members[len(e.Members)-1]
	text, ok := strings.CutPrefix(last.Name, "limit=")
	l, w, two := strings.Cut(text, " window=")
	var ok1, ok2, ok3 bool
	log.limit, ok1 = weirWhole(l)
	log.window, ok2 = weirWhole(w)
	log.seen, ok3 = weirScore(last.Score)
	if !ok || !two || !ok1 || !ok2 || !ok3 || log.window == 0 {
		return nil, false
	}
	for _, m := range e.Members[:len(e.Members)-1] {
		sum, cost, ok := strings.Cut(m.Name, ":")
		s, ok1 := weirWhole(sum)
		c, ok2 := weirWhole(cost)
		at, ok3 := weirScore(m.Score)
		// A sum has 16 digits, by which entries of one time are in order.
		if !ok || len(sum) != 16 || !ok1 || !ok2 || !ok3 || c < 1 || c > s {
			return nil, false
		}
		log.entries = append(log.entries, weirEntry{at, s, c})
	}
	return log, true
}

// units are those later than edge; exact is false when the first of them was
// not read.
func (w *weirLog) units(edge int64) (n int64, exact bool) {
	i := sort.Search(len(w.entries), func(i int) bool { return w.entries[i].at > edge })
	if i == len(w.entries) {
		return 0, true
	}
	first, newest := w.entries[i], w.entries[len(w.entries)-1]
	return max(0, newest.sum-first.sum+first.cost), !w.missing || i != w.head
}

func decodeWeirLog(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingLog.String()
	log, ok := readWeirLog(f.keys[f.layout.Keys[0].Role])
	if !ok {
		f.r.problem("unreadable", "The log's last member is no mark, or an entry is not SUM:COST.")
		f.r.note("State that cannot be read counts as used up; the next call replaces it.")
		return nil
	}
	var l, w int64
	if log != nil {
		l, w = log.limit, log.window
		at := log.seen * 1000
		f.r.LastUse = &at
	}
	most, window, known := f.weirWindowRule(limit.SlidingLog, l, w)
	if !known {
		return nil
	}
	none := int64(0)
	f.r.Used = &none
	if log == nil {
		return &verdict{most: most, passes: func(_, cost int64) bool { return cost <= most }}
	}
	now := f.now / 1000
	used, exact := log.units(max(now, log.seen) - window)
	f.r.Used = &used
	if !exact {
		f.r.problem("truncated", fmt.Sprintf("The log has %d entries, too many to read; the oldest of the window was not among them.", len(log.entries)))
		return nil
	}
	if log.seen > now {
		f.r.problem("future", fmt.Sprintf("The highest time seen is %s ahead of the server's clock, which has stepped back.", shownWait((log.seen-now)*1000)))
	}
	if log.seen-now > max(window, weirHeld) {
		// The log is folded into one entry at now.
		return &verdict{most: most, passes: func(at, cost int64) bool {
			return cost <= most-used || cost <= most && at/1000 >= now+window
		}}
	}
	return &verdict{most: most, passes: func(at, cost int64) bool {
		n, _ := log.units(max(at/1000, log.seen) - window)
		return cost <= most-n
	}}
}

// weirLetGo is how many holders a check lets go of.
const weirLetGo = 128

func decodeWeirConcurrency(f *frame) *verdict {
	f.r.Algorithm = limit.Concurrency.String()
	e := f.keys[f.layout.Keys[0].Role]
	var most, hold, extra, held int64
	units := map[string]int64{}
	began := map[string]int64{}
	var holders []string
	if e != nil {
		for _, m := range e.Members {
			n, ok := weirScore(m.Score)
			switch {
			case !ok:
				f.r.problem("unreadable", "A score is no whole number: "+shownKey(m.Name)+".")
				return nil
			case n >= 0:
				held++
				holders = append(holders, m.Name)
				began[m.Name] = n
			case m.Name == "limit":
				most = -n
			case m.Name == "hold":
				hold = -n
			case m.Name == "extra":
				extra = -n
			default:
				units[strings.TrimPrefix(m.Name, "c")] = -n
			}
		}
		held += max(0, e.Len-int64(len(e.Members)))
	}
	if f.told != nil {
		if f.told.Algorithm != limit.Concurrency {
			f.misfit("slots")
		} else {
			most = f.told.Limit
		}
	}
	if most <= 0 {
		return nil
	}
	from := "state"
	if f.told != nil && f.told.Algorithm == limit.Concurrency {
		from = "told"
	}
	f.setLimit(limit.Spec{Algorithm: limit.Concurrency, Limit: most}, from)
	// Holders are in the order of their times.
	gone, crashed := 0, int64(0)
	for _, name := range holders {
		if hold <= 0 || began[name] > f.now/1000-hold {
			continue
		}
		crashed++
		if gone < weirLetGo {
			gone++
			held--
			if extra > 0 {
				extra = max(0, extra-max(1, units[name])+1)
			}
		}
	}
	if held == 0 {
		extra = 0
	}
	used := held + extra
	f.r.Used = &used
	if crashed > 0 {
		f.r.problem("crashed-holders", fmt.Sprintf("%d holders began longer ago than the longest hold, %s: they crashed, or forgot to give back; the next call lets go of them.", crashed, shownWait(hold*1000)))
	}
	if len(holders) > 0 {
		f.r.note(fmt.Sprintf("The oldest of %d holders began %s ago; a slot is let go after %s when it is not given back.",
			len(holders), shownWait((f.now/1000-began[holders[0]])*1000), limit.ShortDuration(time.Duration(hold)*time.Microsecond)))
	}
	return &verdict{most: most, slots: true, passes: func(_, cost int64) bool { return cost <= most-used }}
}

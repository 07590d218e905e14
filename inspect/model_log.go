package inspect

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/weir-cli/weir/limit"
)

// The model "log": the time of each call, as members or scores of a sorted set
// or as items of a list. A call passes while fewer than the limit are in the
// last window.

func checkLog(l *Layout) string {
	switch d := &l.Decode; {
	case d.Unit == "":
		return "needs unit"
	case d.Edge == "":
		return "needs edge: inside or outside"
	case d.Time == "" && l.Keys[0].Type == "zset":
		return "needs time: member or score"
	case l.Keys[0].Type != "zset" && l.Keys[0].Type != "list":
		return "needs a sorted set or a list"
	}
	return ""
}

func decodeLog(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingLog.String()
	most, w, known := f.window(limit.SlidingLog)
	e := f.keys[f.layout.Keys[0].Role]
	log, ok := f.readLog(e)
	if !ok {
		return nil
	}
	if n := len(log.times); n > 0 {
		f.r.LastUse = &log.times[n-1]
	}
	if !known {
		return nil
	}
	inside := func(at int64) int64 {
		edge := at - int64(w)
		if f.layout.Decode.Edge == "inside" {
			edge--
		}
		return log.after(edge)
	}
	used := inside(f.now)
	f.r.Used = &used
	if log.missing > 0 {
		f.partial = used == log.read()-log.head
		f.r.problem("truncated", fmt.Sprintf("The log has %d entries, of which %d were read, those at its ends: what hangs on the others, a count or a wait, is at least what is said here.", log.length, len(log.times)))
	}
	if old := log.length - used; f.layout.Decode.Refusals == "counted" && used > most {
		f.r.problem("long-log", fmt.Sprintf("The log has %d calls in a window of %d, since refused calls are counted: a client that keeps calling does not get out.", used, most))
	} else if old > most {
		f.r.note(fmt.Sprintf("%d entries are older than the window and go at the next call.", old))
	}
	return &verdict{most: most, passes: func(at, cost int64) bool { return cost <= satSub(most, inside(at)) }}
}

// callLog are the times of calls in order, unix ns. When missing is above zero
// that many between the first head and the rest were not read.
type callLog struct {
	times                 []int64
	head, missing, length int64
}

// after counts the calls later than edge; those not read count as earlier
// unless all before them are later.
func (c *callLog) after(edge int64) int64 {
	i := int64(sort.Search(len(c.times), func(i int) bool { return c.times[i] > edge }))
	n := int64(len(c.times)) - i
	if c.missing > 0 && i < c.head {
		n += c.missing
	}
	return n
}

// read is how many times were.
func (c *callLog) read() int64 { return int64(len(c.times)) }

func (f *frame) readLog(e *Entry) (callLog, bool) {
	if e == nil {
		return callLog{}, true
	}
	log := callLog{length: e.Len}
	if e.Truncated {
		log.head, log.missing = int64(e.Head), max(0, e.Len-int64(len(e.Members)))
	}
	for _, item := range e.Members {
		at, ok := f.memberTime(item)
		if !ok {
			return callLog{}, false
		}
		log.times = append(log.times, at)
	}
	if e.Type == "list" && len(log.times) > 1 && log.times[0] > log.times[len(log.times)-1] {
		slices.Reverse(log.times)
		log.head = int64(len(log.times)) - log.head
	}
	if !slices.IsSorted(log.times) {
		f.r.problem("out-of-order", "The times of the log are not in order: the clocks of its writers differ.")
		slices.Sort(log.times)
	}
	if n := len(log.times); n > 0 && log.times[n-1] > f.now+int64(1e9) {
		f.r.problem("future", fmt.Sprintf("The last entry is %s ahead of the server's clock: the clock of who wrote it runs ahead.", shownWait(log.times[n-1]-f.now)))
	}
	return log, true
}

// memberTime is when a call of the log was, unix ns.
func (f *frame) memberTime(item Member) (at int64, ok bool) {
	m := &f.layout.Decode
	if m.Time != "score" {
		return f.instant(item.Name, "An entry of the log")
	}
	if math.Abs(item.Score) < 1<<53 && item.Score == math.Trunc(item.Score) {
		return timesAdd(int64(item.Score), units[m.Unit], m.Epoch)
	}
	return instantOf(item.Score, units[m.Unit], m.Epoch)
}

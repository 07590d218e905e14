package report

import (
	"sort"
	"strconv"
)

// hintValues bounds the table of distinct waits.
const hintValues = 64

// hintCount counts what refusals said about waiting and who listened.
type hintCount struct {
	seen, missing, invalid, suspect       uint64
	obeyed, obeyedAdmitted, early, capped uint64
	badText, suspectText                  uint32 // first example, index into Texts
	suspectUnit                           uint8
	tooLong                               uint64
	longest                               int64
	bySource                              [256]uint64 // usable waits by the field they came from

	values [hintValues]hintValue
	n      int
	last   int // index of the latest hit
	other  uint64
}

type hintValue struct {
	wait int64 // ns, rounded as in roundWait
	n    uint64
}

// roundWait keeps whole seconds from 10 s on and tenths below, so that dates
// and milliseconds fall into few rows.
func roundWait(ns int64) int64 {
	const tenth = int64(1e8)
	if ns >= 100*tenth {
		return (ns + 5*tenth) / (10 * tenth) * (10 * tenth)
	}
	return (ns + tenth/2) / tenth * tenth
}

func (h *hintCount) value(ns int64) {
	w := roundWait(ns)
	if h.last < h.n && h.values[h.last].wait == w {
		h.values[h.last].n++
		return
	}
	for i := range h.values[:h.n] {
		if h.values[i].wait == w {
			h.values[i].n++
			h.last = i
			return
		}
	}
	if h.n == hintValues {
		h.other++
		return
	}
	h.values[h.n] = hintValue{w, 1}
	h.last = h.n
	h.n++
}

// refused takes a refusal's hint. tooLong is the longest wait that the promise
// can call for, 0 when nothing is promised.
func (h *hintCount) refused(e *Event, tooLong int64) {
	switch {
	case e.Has&HasRetryAfter != 0:
		h.seen++
		h.bySource[e.HintSource]++
		h.value(e.RetryAfter)
		if tooLong > 0 && e.RetryAfter > tooLong {
			h.tooLong++
		}
		h.longest = max(h.longest, e.RetryAfter)
	case e.Has&BadRetryAfter == 0:
		h.missing++
	}
	if e.Has&BadRetryAfter != 0 {
		if h.invalid++; h.badText == 0 {
			h.badText = e.Text
		}
	}
	if e.Has&Suspect != 0 {
		if h.suspect++; h.suspectText == 0 {
			h.suspectText, h.suspectUnit = e.Text, e.HintUnit
		}
	}
	if e.Has&Capped != 0 {
		h.capped++
	}
}

func (h *hintCount) result() RetryAfter {
	r := RetryAfter{Seen: int64(h.seen), Missing: int64(h.missing), Invalid: int64(h.invalid),
		Suspect: int64(h.suspect), Obeyed: int64(h.obeyed), ObeyedThenAdmitted: int64(h.obeyedAdmitted),
		Early: int64(h.early), Capped: int64(h.capped), LongestS: seconds(h.longest),
		Values: make(map[string]int64, h.n)}
	rows := append([]hintValue(nil), h.values[:h.n]...)
	sort.Slice(rows, func(i, j int) bool { return rows[i].wait < rows[j].wait })
	for _, v := range rows {
		r.Values[strconv.FormatFloat(float64(v.wait)/1e9, 'f', -1, 64)] = int64(v.n)
	}
	if h.other > 0 {
		r.Values["other"] = int64(h.other)
	}
	return r
}

package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/weir-cli/weir/limit"
)

// mennanovState is the JSON that mennanov/limiters keeps, or, of older
// versions, its numbers from keys of their own.
type mennanovState struct {
	there     bool
	Last      int64 // unix ns
	Available *int64
}

// readMennanov reads {"state":{"Last":…,"Available":…},"version":…}.
func readMennanov(text []byte) (mennanovState, error) {
	var v struct {
		State *struct {
			Last      *int64
			Available *int64
		} `json:"state"`
		Version *int64 `json:"version"`
	}
	if len(text) > 1024 {
		return mennanovState{}, errors.New("it is too long")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return mennanovState{}, errors.New("it is no such JSON")
	}
	if v.State == nil || v.State.Last == nil || d.More() {
		return mennanovState{}, errors.New("its JSON has no state")
	}
	return mennanovState{true, *v.State.Last, v.State.Available}, nil
}

// isMennanov reports whether an entry is such JSON, with tokens or without.
func isMennanov(e *Entry, tokens bool) bool {
	s, err := readMennanov(e.Text)
	return err == nil && (s.Available != nil) == tokens
}

func (f *frame) mennanov() (mennanovState, bool) {
	var s mennanovState
	if len(f.layout.Keys) == 1 {
		e := f.main()
		if e == nil {
			return s, !f.unread()
		}
		s, err := readMennanov(e.Text)
		if err != nil {
			f.unreadable(err)
			return s, false
		}
		return s, f.mennanovClock(s)
	}
	last, there := f.text("last")
	if !there {
		return s, true
	}
	n, ok := f.whole(last, "The time of the last call")
	if !ok {
		return s, false
	}
	s.there, s.Last = true, n
	if left, there := f.text("available"); there {
		n, ok := f.whole(left, "The number of tokens")
		if !ok {
			return s, false
		}
		s.Available = &n
	}
	return s, f.mennanovClock(s)
}

// mennanovClock notes the time of the last call and checks it.
func (f *frame) mennanovClock(s mennanovState) bool {
	if s.Last < f.now-2*plausible || s.Last > f.now+2*plausible {
		f.r.problem("not-a-time", fmt.Sprintf("The time of the last call is no time in ns: %d.", s.Last))
		return false
	}
	return true
}

// decodeMennanovToken is a bucket of whole tokens, of which one comes back
// each so many ns.
func decodeMennanovToken(f *frame) *verdict {
	f.r.Algorithm = limit.TokenBucket.String()
	s, ok := f.mennanov()
	rate, burst, known := f.bucket()
	if !ok {
		return nil
	}
	tokens := math.NaN()
	if s.there {
		f.r.LastUse = &s.Last
		f.ahead("The last call", s.Last, 1e9)
		if s.Available == nil {
			f.r.problem("half-missing", "The number of tokens is missing: the next call finds a full bucket.")
		} else if tokens = float64(*s.Available); *s.Available < 0 {
			f.r.problem("negative", fmt.Sprintf("It holds %d tokens.", *s.Available))
		}
	}
	if !known {
		if s.Available != nil {
			f.r.note(fmt.Sprintf("At the last call it held %d tokens.", *s.Available))
		}
		return nil
	}
	each := max(int64(rate.Per)/rate.Units, 1)
	left := func(at int64) int64 {
		if s.Available == nil {
			return burst
		}
		return min(burst, satAdd(*s.Available, max(0, at-s.Last)/each))
	}
	if tokens > float64(burst) {
		f.r.problem("above-capacity", fmt.Sprintf("It holds %d tokens, more than a burst of %d.", *s.Available, burst))
	}
	v := &verdict{most: burst, passes: func(at, cost int64) bool { return left(at) >= cost }}
	f.held(v, float64(left(f.now)))
	return v
}

// decodeMennanovLeaky is a queue: the time at which its last call goes.
func decodeMennanovLeaky(f *frame) *verdict {
	f.r.Algorithm = limit.LeakyQueue.String()
	s, ok := f.mennanov()
	rate, most, known := f.bucket()
	if !ok {
		return nil
	}
	if s.there && s.Last > f.now {
		f.r.note(fmt.Sprintf("The last call in the queue goes in %s.", shownWait(s.Last-f.now)))
	}
	if !known {
		return nil
	}
	f.setLimit(limit.Spec{Algorithm: limit.LeakyQueue, Rate: rate, Queue: most - 1}, "told")
	each := max(int64(rate.Per)/rate.Units, 1)
	queued := func(at, cost int64) int64 { // where the last of cost calls would be
		last := at
		switch {
		case !s.there:
		case at < s.Last:
			last = satAdd(s.Last, each)
		case at-s.Last < each:
			last = s.Last + each
		}
		if cost-1 > (math.MaxInt64-max(0, last))/each {
			return math.MaxInt64
		}
		return (last + (cost-1)*each - at) / each
	}
	waiting := queued(f.now, 1)
	f.r.Used = &waiting
	return &verdict{most: most, passes: func(at, cost int64) bool { return queued(at, cost) < most }}
}

// decodeMennanovSliding is the count of one of two windows.
func decodeMennanovSliding(f *frame) *verdict {
	f.r.Algorithm = limit.SlidingCounter.String()
	_, w, known := f.window(limit.SlidingCounter)
	if text, there := f.text(f.layout.Keys[0].Role); there {
		n, ok := f.whole(text, "The count")
		if !ok {
			return nil
		}
		f.r.Used = &n
	}
	start, end, ok := f.bounds(w, known)
	if !ok {
		f.r.note("The window before weighs in, too, under a key of its own that ends in its start.")
		return nil
	}
	f.r.WindowStart, f.r.WindowEnd = &start, &end
	f.r.note(fmt.Sprintf("The window before weighs in, too: its key ends in %d.", start-int64(w)))
	return nil
}

// satAdd is a+b within int64.
func satAdd(a, b int64) int64 {
	switch c := a + b; {
	case b > 0 && c < a:
		return math.MaxInt64
	case b < 0 && c > a:
		return math.MinInt64
	default:
		return c
	}
}

package inspect

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weir-cli/weir/limit"
)

// Move is what happened to a state between two looks at it.
type Move struct {
	Interval time.Duration // between the looks, by the server's clock
	// Admitted are units of calls since the look before; nil where the states
	// do not show it. AtLeast is true when there may have been more, before
	// the bucket was full or in a window that is over.
	Admitted *int64
	AtLeast  bool
	// Counted is true where refused calls count too, and the limit is not
	// known by which they could be told apart: Admitted is then all calls.
	Counted  bool
	Refilled *float64 // tokens that came back; nil for what is no bucket
	Events   []Event
}

// Event is something that a look sees to have happened since the one before.
type Event struct {
	ID   string // such as "new-window"; see docs/inspect.md
	Text string // a few words
}

func (m *Move) event(id, format string, args ...any) {
	m.Events = append(m.Events, Event{id, fmt.Sprintf(format, args...)})
}

// At is what r's state says at a later time when nobody writes to it.
func (r *Reading) At(now int64) (Reading, error) {
	entries := cloneEntries(r.Entries)
	for i := range entries {
		e := &entries[i]
		if e.TTL < 0 {
			continue
		}
		if e.TTL -= time.Duration(now - r.Now); e.TTL <= 0 {
			*e = gone(e)
		}
	}
	return r.With(entries, now)
}

// With is what entries that were read in place of r's say at now.
func (r *Reading) With(entries []Entry, now int64) (Reading, error) {
	told := r.told
	there := slices.ContainsFunc(entries, func(e Entry) bool { return e.Exists() })
	if told == nil && r.LimitFrom == "state" && !there {
		told = r.Limit // a state that is gone does not say it
	}
	next, err := Decode(r.Layout, entries, now, told)
	next.Sure, next.Others = r.Sure, r.Others
	if next.Limit != nil && told != r.told {
		next.LimitFrom = r.LimitFrom
	}
	return next, err
}

// Compare finds what happened from one look to the next, of the same
// customer's state. before is nil at the first look.
func Compare(before, now *Reading) Move {
	var m Move
	if before == nil {
		return m
	}
	m.Interval = time.Duration(now.Now - before.Now)
	was, is := before.Existing() > 0, now.Existing() > 0
	switch {
	case !was && !is:
		return m
	case !was:
		m.event("begun", "the key is there")
	case before.Layout != now.Layout:
		m.event("other-layout", "it is now as %s writes it, and was as %s does", now.Layout.Name, before.Layout.Name)
		return m
	}
	if before.Limit != nil && now.Limit != nil && *before.Limit != *now.Limit {
		m.event("limit-changed", "the limit is %s and was %s", now.Limit, before.Limit)
	}
	for _, p := range now.Problems {
		if !before.Has(p.ID) {
			m.event(p.ID, "%s", p.Text)
		}
	}
	expected, err := before.At(now.Now)
	if err != nil {
		return m
	}
	if was && !is {
		if expected.Existing() > 0 {
			m.event("reset", "the key was deleted before its time")
		} else {
			m.event("expired", "the key has expired")
		}
		return m
	}
	newWindow := m.windows(before, now)
	switch {
	case now.Algorithm == limit.Concurrency.String():
		m.holders(before, now)
	case now.Held != nil:
		m.bucket(before, &expected, now)
	case now.Used != nil:
		m.counts(&expected, now, newWindow || !was || over(before, now.Now))
	}
	return m
}

// sameWindow is by how much two ends of one window may differ, where they are
// known from a time to live.
const sameWindow = int64(50 * time.Millisecond)

// windows notes a window that is another one than before.
func (m *Move) windows(before, now *Reading) bool {
	if before.WindowEnd == nil || now.WindowEnd == nil {
		return false
	}
	d := *now.WindowEnd - *before.WindowEnd
	if d >= -sameWindow && d <= sameWindow {
		return false
	}
	if *before.WindowEnd <= now.Now {
		m.event("new-window", "a new window")
	} else {
		m.event("window-moved", "the window ends %s %s than it did", shownWait(max(d, -d)), map[bool]string{true: "later", false: "earlier"}[d > 0])
	}
	return true
}

// over reports whether a window ended before now, so that another one may have
// come and gone.
func over(r *Reading, now int64) bool {
	if r.Algorithm != limit.FixedWindow.String() {
		return false
	}
	if r.WindowEnd != nil {
		return *r.WindowEnd <= now
	}
	return r.Entries[0].TTL != NoTTL
}

// bucket compares tokens at the time of the last write, when the state says
// it: what is refilled since is no matter then.
func (m *Move) bucket(before, expected, now *Reading) {
	then, held, at := expected, *now.Held, now
	if now.wrote != nil && *now.wrote > before.Now && *now.wrote < now.Now {
		x, errX := before.At(*now.wrote)
		y, errY := Decode(now.Layout, now.Entries, *now.wrote, now.told)
		if errX == nil && errY == nil && x.Held != nil && y.Held != nil {
			then, held, at = &x, *y.Held, &y
		}
	}
	if then.Held == nil || at.Capacity == nil {
		return
	}
	taken := *then.Held - held
	if taken < -0.5 {
		m.event("raised", "%s tokens came from elsewhere: granted, reset or written under another limit", amount(-taken))
		return
	}
	m.AtLeast = *then.Held >= float64(*at.Capacity)
	n := int64(math.Round(taken))
	if m.AtLeast {
		n = int64(math.Ceil(taken - 1e-6))
	}
	n = max(n, 0)
	m.Admitted = &n
	if before.Held != nil {
		back := math.Max(0, *now.Held-*before.Held+float64(n))
		m.Refilled = &back
	}
}

// counts compares what is used with what would be, had nobody called.
func (m *Move) counts(expected, now *Reading, fresh bool) {
	used := int64(0)
	if expected.Used != nil && expected.Existing() > 0 {
		used = *expected.Used
	}
	is := *now.Used
	if now.Layout.Decode.Refusals == "counted" || now.Layout.Decode.Name == "counter" {
		if now.Capacity != nil {
			is, used = min(is, *now.Capacity), min(used, *now.Capacity)
		} else {
			m.Counted = true
		}
	}
	n := is - used
	if n < 0 {
		m.event("lowered", "%d were given back", -n)
		return
	}
	m.Admitted = &n
	m.AtLeast = fresh || m.Interval > 0 && now.Limit != nil && now.Limit.Window > 0 && m.Interval > now.Limit.Window
}

// holders compares who holds a slot.
func (m *Move) holders(before, now *Reading) {
	had := map[string]bool{}
	for _, e := range before.Entries {
		for _, x := range e.Members {
			had[x.Name] = x.Score >= 0
		}
	}
	took := int64(0)
	for _, e := range now.Entries {
		for _, x := range e.Members {
			if x.Score >= 0 && !had[x.Name] {
				took++
			}
		}
	}
	m.Admitted, m.AtLeast = &took, true
}

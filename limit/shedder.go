package limit

import (
	"strconv"
	"time"
)

// Shedder caps the calls in flight to something that can be overloaded. It is
// no limit of a caller's: it counts everybody's calls alike, and gives nobody
// a share. With Least below Most the cap follows how long calls take: it grows
// by a little while calls that use it up are quick (additive increase), and
// falls by a tenth when they take twice as long as they do without a queue, or
// fail (multiplicative decrease). Not safe for concurrent use.
type Shedder struct {
	spec ShedSpec
	cap  int
	in   int

	// The window being watched; opened at the first call after the last one.
	opened    int64
	open      bool
	calls     int64
	failed    int64
	sum, low  int64 // ns
	peak      int   // most in flight
	saturated bool  // a call was shed

	base int64 // what a call takes without a queue, ns; 0 is not known yet
}

// ShedSpec is a shedder's numbers; the zero value follows from 4 to 4,096.
type ShedSpec struct {
	Least, Most int // the cap stays between; 0 is 4 and 4,096
	First       int // where it begins; 0 is 64, within the two
}

// MaxInFlight is the highest cap.
const MaxInFlight = 1_000_000

const (
	shedWindow = int64(100 * time.Millisecond) // or twice the base, if that is longer
	shedCalls  = 10                            // a window is judged from so many calls
	// shedNoise is what a call may take longer than the base in any case:
	// below it a scheduler's hiccup would count as a queue.
	shedNoise = int64(2 * time.Millisecond)
)

// NewShedder makes one. Its error is a *SpecError.
func NewShedder(s ShedSpec) (*Shedder, error) {
	if s.Least == 0 {
		s.Least = 4
	}
	if s.Most == 0 {
		s.Most = 4096
	}
	if s.First == 0 {
		s.First = 64
	}
	bad := func(n int, reason string) error {
		return &SpecError{Field: "calls in flight", Value: strconv.Itoa(n), Reason: reason, Hint: "100"}
	}
	switch {
	case s.Least < 1:
		return nil, bad(s.Least, "must be above zero")
	case s.Most > MaxInFlight:
		return nil, bad(s.Most, "is above "+strconv.Itoa(MaxInFlight))
	case s.Most < s.Least:
		return nil, bad(s.Most, "is below the least, "+strconv.Itoa(s.Least))
	}
	s.First = min(max(s.First, s.Least), s.Most)
	return &Shedder{spec: s, cap: s.First}, nil
}

// Enter lets one call in, or reports that it has to be shed. One that was let
// in must leave.
func (s *Shedder) Enter(now int64) bool {
	if !s.open {
		s.open, s.opened = true, now
		s.calls, s.failed, s.sum, s.low, s.peak, s.saturated = 0, 0, 0, 0, s.in, false
	}
	if s.in >= s.cap {
		s.saturated = true
		return false
	}
	s.in++
	s.peak = max(s.peak, s.in)
	return true
}

// Leave ends a call that took so long to be answered, or failed because the
// other side was overloaded or silent. How long a failure took says nothing,
// and a negative time is not known.
func (s *Shedder) Leave(now int64, took time.Duration, failed bool) {
	s.in--
	if !s.open || s.spec.Least == s.spec.Most {
		return
	}
	switch t := max(1, int64(took)); {
	case failed:
		s.calls++
		s.failed++
	case took >= 0:
		s.calls++
		s.sum = satAdd(s.sum, t)
		if s.low == 0 || t < s.low {
			s.low = t
		}
	}
	if s.calls >= shedCalls && now-s.opened >= max(shedWindow, 2*min(s.base, int64(time.Minute))) {
		s.judge()
		s.open = false
	}
}

// judge moves the cap by what the window saw.
func (s *Shedder) judge() {
	quiet := 2*s.peak < s.cap && !s.saturated
	mean := s.base
	if n := s.calls - s.failed; n > 0 {
		mean = s.sum / n
	}
	switch {
	case s.low == 0: // nothing was answered
	case s.base == 0 || s.low < s.base:
		s.base = s.low
	case quiet || s.cap == s.spec.Least:
		// There is no queue of our making, so this is what a call takes now.
		s.base += (s.low - s.base + 7) / 8
	}
	switch {
	case s.failed*10 > s.calls || mean-s.base > max(s.base, shedNoise):
		if !quiet {
			s.cap = max(s.spec.Least, s.cap-max(1, s.cap/10))
		}
	case s.saturated || 10*s.peak >= 9*s.cap:
		step := 1
		for (step+1)*(step+1) <= s.cap {
			step++
		}
		s.cap = min(s.spec.Most, s.cap+step)
	}
}

// Cap is the highest number of calls in flight now.
func (s *Shedder) Cap() int { return s.cap }

// InFlight is how many calls are in.
func (s *Shedder) InFlight() int { return s.in }

package limit

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxLog bounds a sliding log, which keeps an entry per admission.
const maxLog = 1 << 24

// maxWindow bounds windows, of which two must fit in a wait.
const maxWindow = time.Duration(maxWait / 2)

// Spec is a limit as a user writes it: `10/s,burst=20` (a token bucket) or
// `ALGORITHM:key=value,…`. Only the fields of its algorithm are set.
type Spec struct {
	Algorithm Algorithm
	Rate      Rate          // token-bucket, gcra, leaky-queue, leaky-meter
	Burst     int64         // token-bucket, gcra; capacity of leaky-meter
	Queue     int64         // leaky-queue: calls that may wait, from 0
	Limit     int64         // windows: units per Window; concurrency: in flight
	Window    time.Duration // fixed-window, sliding-log, sliding-counter

	// Follow makes a token bucket write back each caller's time even when it
	// is earlier than the stored one, as scripts do that trust their callers'
	// clocks. It is wrong: with one caller's clock ahead by D, that caller's
	// check refills D of time and the next caller's sets the clock back, so
	// the same D is refilled again and again. It exists to show that. It is no
	// part of the text form.
	Follow bool

	// ShortWait ends the wait of a sliding counter at the latest when the next
	// window begins, as many implementations do, although what is admitted now
	// still weighs there. It changes waits only, and may make them too short.
	// It is no part of the text form.
	ShortWait bool

	// Millis makes a leaky meter keep time in whole milliseconds and let a key
	// never seen before begin at a level of 0 after its first call, as nginx's
	// limit_req does: burst+1 calls pass at once. It is no part of the text
	// form.
	Millis bool
}

// String is the form that ParseSpec reads; ParseSpec gives s back for every
// valid s without Follow.
func (s Spec) String() string {
	if int(s.Algorithm) >= len(syntaxes) {
		return s.Algorithm.String()
	}
	var b strings.Builder
	if s.Algorithm != TokenBucket {
		b.WriteString(s.Algorithm.String())
		b.WriteByte(':')
	}
	for i, field := range syntaxes[s.Algorithm].fields {
		if i > 0 {
			b.WriteByte(',')
		}
		if s.Algorithm != TokenBucket || field != "rate" {
			b.WriteString(field)
			b.WriteByte('=')
		}
		b.WriteString(s.field(field))
	}
	return b.String()
}

// field is the text of one field.
func (s Spec) field(name string) string {
	switch name {
	case "rate":
		return s.Rate.String()
	case "burst":
		return strconv.FormatInt(s.Burst, 10)
	case "queue":
		return strconv.FormatInt(s.Queue, 10)
	case "limit":
		return strconv.FormatInt(s.Limit, 10)
	case "window":
		return ShortDuration(s.Window)
	}
	return "true" // the options
}

// Validate reports the first field that cannot be used, as a *SpecError.
func (s Spec) Validate() error {
	_, err := s.New()
	return err
}

// New builds the limiter. Its error is a *SpecError. The limiter of a
// concurrency spec is a [Releaser].
func (s Spec) New() (Limiter, error) {
	if err := s.checkFields(); err != nil {
		return nil, err
	}
	switch s.Algorithm {
	case FixedWindow:
		return &fixedWindow{s}, nil
	case SlidingLog:
		return &slidingLog{s}, nil
	case SlidingCounter:
		return &slidingCounter{s}, nil
	case Concurrency:
		return &concurrency{s}, nil
	}
	most, field := s.Burst, "burst"
	if s.Algorithm == LeakyQueue {
		most, field = s.Queue+1, "queue"
	}
	if s.Millis {
		return newMilliMeter(s)
	}
	p, err := newPace(s.Rate, most)
	if err != nil {
		return nil, s.fail(field, "is too many at "+s.Rate.String()+" to count exactly in 64 bits")
	}
	switch s.Algorithm {
	case GCRA:
		return newGCRA(s, p), nil
	case LeakyQueue:
		return &leakyQueue{p, s}, nil
	case LeakyMeter:
		return &leakyMeter{p, s}, nil
	}
	return &tokenBucket{p, s}, nil
}

// checkFields checks each number on its own, and that no other is set.
func (s Spec) checkFields() error {
	if int(s.Algorithm) >= len(syntaxes) {
		_, err := ParseAlgorithm(s.Algorithm.String())
		return err
	}
	for _, o := range []struct {
		name string
		set  bool
		only Algorithm
	}{{"follow", s.Follow, TokenBucket}, {"short wait", s.ShortWait, SlidingCounter}, {"millis", s.Millis, LeakyMeter}} {
		if o.set && s.Algorithm != o.only {
			return s.fail(o.name, "is only for "+o.only.String())
		}
	}
	wants := func(field string) bool {
		return slices.Contains(syntaxes[s.Algorithm].fields, field)
	}
	for _, f := range []struct {
		name     string
		set, bad bool
	}{
		{"rate", s.Rate != Rate{}, s.Rate.Units <= 0 || s.Rate.Per <= 0},
		{"burst", s.Burst != 0, s.Burst <= 0},
		{"queue", s.Queue != 0, s.Queue < 0},
		{"limit", s.Limit != 0, s.Limit <= 0},
		{"window", s.Window != 0, s.Window <= 0},
	} {
		switch {
		case f.set && !wants(f.name):
			return s.fail(f.name, "is not a field of "+s.Algorithm.String())
		case f.bad && wants(f.name):
			if f.name == "queue" {
				return s.fail(f.name, "must not be negative")
			}
			return s.fail(f.name, "must be above zero")
		}
	}
	switch {
	case s.Queue > maxLevel:
		return s.fail("queue", "does not fit in 61 bits")
	case s.Limit > maxLevel:
		return s.fail("limit", "does not fit in 61 bits")
	case s.Algorithm == SlidingLog && s.Limit > maxLog:
		return &SpecError{
			Field: "limit", Value: s.field("limit"),
			Reason: "is too many for a log of every call, which ends at " + strconv.Itoa(maxLog),
			Hint:   "sliding-counter:limit=" + s.field("limit") + ",window=" + s.field("window"),
		}
	case s.Window > maxWindow:
		return s.fail("window", "is longer than "+ShortDuration(maxWindow.Truncate(time.Hour)))
	}
	return nil
}

func (s Spec) fail(field, reason string) error {
	return &SpecError{Field: field, Value: s.field(field), Reason: reason, Hint: syntaxes[s.Algorithm].example}
}

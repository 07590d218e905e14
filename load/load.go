// Package load plans traffic, decides what virtual clients do next, and
// drives a sender through the plan.
//
// Everything that decides is pure: behaviours and arrival processes are
// functions of their arguments and a seeded source. Only the engine reads a
// clock, and only a sender touches a socket.
package load

import (
	"time"

	"github.com/weir-cli/weir/limit/dialect"
	"github.com/weir-cli/weir/report"
)

// Slot is one planned first attempt.
type Slot struct {
	N          uint64 // position in the plan, from 0
	Due        int64  // nanoseconds since the start of the run
	Client     uint32 // global number across populations
	Key        uint32 // index into the plan's keys
	Cost       uint32
	Population uint16
	Route      uint16
}

// Schedule yields the open-loop slots of a plan in order of due time.
type Schedule interface {
	Next() (Slot, bool)
}

// Outcome is what a client knows after an attempt.
type Outcome struct {
	Verdict report.Verdict
	Class   report.Class
	Status  uint16
	Attempt int             // which attempt just ended, from 1
	Elapsed time.Duration   // since the call's first attempt was due
	Answer  *dialect.Answer // what the response said; nil when there was none
}

// Memory is the retry state of one caller; the zero value is a new caller.
// It outlives a single call only for budgets and breakers.
type Memory struct {
	Prev    time.Duration // previous wait of this call (decorrelated jitter)
	Tokens  int64         // budget, in millionths of a retry
	Fails   int32         // breaker: failures in a row
	Started bool          // budget has been filled once
	Paid    uint16        // quota: price of the last retry of this call, in tokens
	OpenTo  int64         // breaker: refuses to send until this instant
}

// Behaviour decides what a client does after an attempt. Pure: it draws only
// from r and writes only m.
type Behaviour interface {
	// After returns the wait before the next attempt of the same call, counted
	// from the answer, or retry false when the client lets the call go.
	// It is called for every attempt, admitted ones too, so that budgets fill.
	After(o Outcome, now int64, m *Memory, r *Rand) (wait time.Duration, retry bool)
	String() string
}

// Attempt is one request on its way. The engine owns it and reuses it; there
// are never more of them than connections.
type Attempt struct {
	Event report.Event
	// Answer is the sender's scratch: what the response said about limits,
	// nil when there was no response. Valid until done returns.
	Answer *dialect.Answer
	Seq    uint64 // number of the attempt, from 1; no two of a run share one
	call   int32
}

// Sender carries attempts out. One engine loop owns one sender and calls it
// from one goroutine only, so it needs no lock on this path. Instants are
// nanoseconds on the run's clock.
type Sender interface {
	// Room reports whether an attempt at this target by this client could
	// leave now. The engine queues what has no room.
	Room(target uint16, client uint32) bool
	// Send starts an attempt there is room for and returns at once. It sets
	// Event.Sent.
	Send(a *Attempt)
	// Poll hands finished attempts to done, which may call Send. It returns
	// once something finished or the clock has reached until; an until in the
	// past means do not wait, and it may return early. With nap it may sleep
	// until then without looking up, if it can still tell when answers came:
	// at high open-loop rates one wake-up then serves many answers.
	Poll(until int64, nap bool, done func(*Attempt))
	// Abort hands back every unfinished attempt as it is.
	Abort(done func(*Attempt))
	Close() error
}

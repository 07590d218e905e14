// Package report counts what a run did and says whether it kept a promise.
//
// An [Event] is one attempt. Senders fill it in place and hand it to a
// [Shard]; a [Collector] merges shards and everything a person reads is made
// from what it publishes. The package imports nothing else of weir.
package report

// Verdict is what became of one attempt.
type Verdict uint8

const (
	// InFlight is the zero value: sent, but unanswered when the run was cut.
	InFlight Verdict = iota
	Admitted
	Refused
	Failed
	// Dropped was planned but could not leave in time, so was never offered.
	Dropped
)

// Class says why a Failed attempt failed. NoError on every other verdict.
type Class uint8

const (
	NoError Class = iota
	ConnectRefused
	ConnectTimeout
	Unreachable
	UnknownHost
	TLSFailed
	ConnReset
	ClosedEarly // the peer closed before the answer was complete
	Timeout     // no complete answer within the attempt's time
	Malformed   // bytes that are not HTTP
	TooLarge    // a header block or frame above the cap
	NoHandles   // out of file handles or local ports
	BadStatus   // an answer that is neither admitted nor refused, such as a 500
	OtherError
	classes
)

// Has is a presence mask: a number in an Event means something only when its
// bit is set.
type Has uint16

const (
	HasFirst Has = 1 << iota
	HasLimit
	HasRemaining
	HasReset
	// HasRetryAfter: RetryAfter holds a usable wait the server asked for.
	HasRetryAfter
	// BadRetryAfter: the server sent one and it could not be read.
	BadRetryAfter
	// Obeyed: this attempt is a retry that left no earlier than the previous
	// refusal of the same call had asked.
	Obeyed
	// Early: this attempt is a retry that left before that instant.
	Early
	// Abandoned: the client gave the call up after this attempt.
	Abandoned
	// Capped: the wait the behaviour wanted was above the cap, so the client
	// stopped instead of coming back early.
	Capped
	// NewConn: the attempt opened its own connection.
	NewConn
	// Suspect: the hint was used but something about it is odd (see dialect).
	Suspect
	// Reduced: the answer says that who decided has less to give for now, as a
	// gateway without its store does.
	Reduced
)

// Event is one attempt: a flat value without pointers, so that recording it
// is a copy. Times are nanoseconds since the start of the run; a decision by
// the limiter lies in [Sent, First]. Names (keys, targets, texts) live in
// tables beside the events.
type Event struct {
	Due, Sent, First, Done int64
	// Wait is how long the client waits before its next attempt of this call,
	// counted from Done; -1 when there is none.
	Wait int64
	// RetryAfter and Reset are waits in nanoseconds counted from Done.
	RetryAfter, Reset int64
	Limit, Remaining  int64
	Client, Key       uint32
	Bytes             uint32 // of the body
	Text              uint32 // raw hint, index into the run's Texts; 0 is none
	Cost              uint32 // units asked for, at least 1
	Has               Has
	Status            uint16
	Target            uint16
	Population        uint16
	Route             uint16
	Attempt           uint16 // 1 is the first try
	HintSource        uint8  // dialect.Source of the hint
	HintUnit          uint8  // dialect.Unit of the hint
	Verdict           Verdict
	Class             Class
}

// Promise is a limit as the bound check sees it. Exactly one shape is set:
// Units per Per with Burst (bound(t) = Burst + Units*t/Per), or Limit in any
// half-open Window, or Concurrent, which no interval can prove or break.
// All times are nanoseconds.
type Promise struct {
	Text       string
	Units, Per int64
	Burst      int64
	Limit      int64
	Window     int64
	Concurrent int64
}

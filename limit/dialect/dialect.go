// Package dialect reads and writes what servers say about their limits:
// Retry-After, the RateLimit drafts, X-RateLimit-* and vendors' own fields.
// It is pure and never panics, whatever the bytes are.
package dialect

import "time"

// Source says which field a number came from.
type Source uint8

const (
	NoSource Source = iota
	RetryAfter
	RetryAfterMS    // retry-after-ms
	XMSRetryAfterMS // x-ms-retry-after-ms
	AmzRetryAfter   // x-amz-retry-after, milliseconds
	RateLimitT      // the RateLimit field: t of a member, or a count of it
	RateLimitReset  // RateLimit-Reset
	XRateLimitReset // X-RateLimit-Reset and X-Rate-Limit-Reset
	XRateLimitResetAfter
	XRetryIn
	VendorReset // any other vendor's reset field
	Body        // a hint in the body
	LimitField
	RemainingField
	PolicyField
	XRateLimitRetryAfter // x-ratelimit-retry-after
	NamedRetryAfter      // Retry-After with a limiter's name appended
	GRPCPushback         // grpc-retry-pushback-ms, milliseconds
	BodyText             // a sentence in the body, such as "try again in 2.4s"
	sources
)

// Unit says how a number was read.
type Unit uint8

const (
	NoUnit Unit = iota
	Seconds
	Millis
	UnixSeconds
	UnixMillis
	HTTPDate
	ISOTime
	DurationText
	units
)

// MaxWait is the longest wait and window that Read reports; anything longer
// is cut to it. It leaves room to add such a wait to any unix time that an
// int64 of nanoseconds can hold until the year 2252.
const MaxWait = 10 * 365 * 24 * time.Hour

// SaneWait is where a wait becomes [TooLong]: services do ask for a day after
// an abuse, and a client that sleeps through one unasked looks hung.
const SaneWait = 24 * time.Hour

// RawMax is how many bytes of a hint's text are kept.
const RawMax = 47

// Hint is one wait that a response asked for. Has false with text in Raw is a
// field that was there and could not be read.
type Hint struct {
	Has    bool
	Wait   time.Duration // from receipt; 0 is now
	Source Source
	Unit   Unit
	RawLen uint8
	Raw    [RawMax]byte // the field's text, cut to fit
}

// Notes is a set of oddities.
type Notes uint32

const (
	Malformed        Notes = 1 << iota // some field could not be read at all
	BadRetryAfter                      // Retry-After present and unusable
	NotWhole                           // Retry-After with a fraction
	Duplicate                          // one field twice; the larger wins
	Past                               // an instant before now
	TooLong                            // above any sane wait; clamped, not to be obeyed blindly
	OverloadNotLimit                   // 503 with Retry-After
	LikelyMillis                       // seconds that are ten times longer than the policy's window
	Inconsistent                       // remaining above limit
	Unlimited                          // -1 or 0 where a count should be
	NoLimitNumber                      // a policy without its number
	Disagree                           // two hints of one answer differ; the larger wins
	NotHTTPDate                        // a date in a form that HTTP does not allow
	NotLimited                         // a 429 that is a lock or a billing state
	Cached                             // a positive Age: the counts are another caller's, and ignored
	LikelyUnix                         // a Retry-After that looks like a unix time
	EpochReset                         // a unix time where the drafts promise seconds left
	Guessed                            // Limited follows from a proxy's stock page only
	Reduced                            // the service says that it has less to give for now
	noteEnd
)

// OddWait are the notes that make a wait doubtful. The others speak of counts,
// or of what a status means.
const OddWait = Malformed | BadRetryAfter | NotWhole | Duplicate | Past | TooLong | LikelyMillis |
	Disagree | NotHTTPDate | LikelyUnix | EpochReset

// Tri is an order to retry or not: 0 none, 1 yes, -1 no.
type Tri int8

// Policy is one member of a RateLimit-Policy or its older forms.
type Policy struct {
	Name                   [24]byte
	NameLen                uint8
	HasQuota, HasWindow    bool
	HasRemaining, HasReset bool
	Quota, Remaining       int64
	Window, Reset          time.Duration
}

// Answer is everything one response said about limits. A value without
// pointers that the caller reuses; Read resets it.
type Answer struct {
	// Wait is the hint to obey, chosen by order of trust.
	Wait Hint
	// Each kind on its own, for clients that only know one.
	Retry  Hint // Retry-After
	Milli  Hint // the millisecond fields
	Reset  Hint // RateLimit-Reset and vendors' resets
	Should Tri  // x-should-retry, stripe-should-retry

	HasLimit, HasRemaining bool
	Limit, Remaining       int64
	// LimitFrom and RemainingFrom say which field the two came from.
	LimitFrom, RemainingFrom Source
	Policies                 [4]Policy
	NPolicies                uint8
	MorePolicies             uint16 // members beyond the array
	Family                   Family
	Limited                  bool // this answer is a refusal by a limiter, as far as it tells
	Notes                    Notes
	// Floor is the least wait that a service wants when it names none: 60 s
	// for GitHub's secondary limits, 30 s for Google's quotas, else 0.
	Floor time.Duration
}

// Family tells the RateLimit drafts apart.
type Family uint8

const (
	NoFamily Family = iota
	FamilyA         // RateLimit-Limit, -Remaining, -Reset
	FamilyB         // RateLimit: limit=, remaining=, reset=
	FamilyC         // RateLimit: "name";r=;t=
	FamilyX         // X-RateLimit-*
	FamilyOther
)

// Field is one header line, aliasing the caller's bytes.
type Field struct{ Name, Value []byte }

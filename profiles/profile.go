// Package profiles is what a user writes to describe traffic: YAML in,
// checked structs out, with a library of built-in profiles.
package profiles

import "time"

// Profile is a named mix of populations.
type Profile struct {
	Name        string
	About       string        // one line
	Duration    time.Duration // default length of a run
	Populations []Population
}

// Population is a group of clients that act alike.
type Population struct {
	Name string
	// Clients is how many virtual callers there are. In a closed loop each has
	// one call at a time. In an open loop they are the identities that the
	// arrivals go round; 0 means every arrival is a new caller.
	Clients   int
	Keys      Keys
	Arrivals  Arrivals
	Behaviour string // as in load.ParseBehaviour, e.g. "storm", "retry-after,spread"
	// MaxAttempts bounds the attempts of one call; 0 leaves it to the behaviour.
	MaxAttempts int
	Cost        []Cost  // empty means cost 1
	Routes      []Route // empty means the target's own path
}

// KeyKind says how callers get their keys.
type KeyKind string

const (
	OneKey     KeyKind = "one"        // all callers share one
	KeyEach    KeyKind = "per-client" // each caller its own
	KeyCycle   KeyKind = "cycle"      // caller i has key i mod Count
	KeyUniform KeyKind = "uniform"    // drawn per call from Count
	KeyZipf    KeyKind = "zipf"       // drawn per call from Count with exponent S
	KeyFile    KeyKind = "file"       // lines of a file, caller i has line i mod n
)

// Keys says which key a call counts under. Names are Prefix plus a number
// from 1, or the lines of File.
type Keys struct {
	Kind   KeyKind
	Count  int
	Prefix string
	S      float64 // zipf exponent, above 0
	File   string
}

// ArrivalKind says when first attempts are due.
type ArrivalKind string

const (
	Closed   ArrivalKind = "closed"   // each client sends again Think after its call ended
	Constant ArrivalKind = "constant" // evenly at Rate
	Poisson  ArrivalKind = "poisson"  // at random at a mean of Rate
	Ramp     ArrivalKind = "ramp"     // from Rate to To, linearly over the run
	Step     ArrivalKind = "step"     // Steps in turn
	Spike    ArrivalKind = "spike"    // Rate, but To between At and At+For
	Sine     ArrivalKind = "sine"     // around Rate by Amplitude with a Period
	Burst    ArrivalKind = "burst"    // Min to Max calls at one instant, every Period
	Edge     ArrivalKind = "edge"     // Count calls over Spread before and after each multiple of Period
	Expiry   ArrivalKind = "expiry"   // one call Lead before each multiple of Period since the client's first
	Trace    ArrivalKind = "trace"    // from File: CSV lines of seconds[,key[,cost]]
)

// Arrivals is one process. Only the fields of its kind are set. Rates are
// calls per second.
type Arrivals struct {
	Kind ArrivalKind

	Think       time.Duration // closed
	ThinkJitter float64       // closed: fraction of Think, either way, 0 to 1
	Stagger     time.Duration // closed: client i of n starts at Stagger*i/n

	Rate      float64
	To        float64
	Steps     []StepOf
	At, For   time.Duration
	Amplitude float64
	Period    time.Duration
	Min, Max  int
	Count     int
	Spread    time.Duration
	Lead      time.Duration
	File      string
	// Aligned starts Edge and Burst on the wall clock's multiples of Period
	// rather than on the run's own start.
	Aligned bool
}

// StepOf is one plateau.
type StepOf struct {
	Rate float64
	For  time.Duration
}

// Cost is a cost with its weight in the mix.
type Cost struct {
	Cost   int
	Weight float64
}

// Route is a path with its weight in the mix; Method "" is the run's own.
type Route struct {
	Method string
	Path   string
	Weight float64
	Cost   int // 0: from the population's mix
}

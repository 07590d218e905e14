// Package tui is the dashboard: it draws the snapshots of a run on a terminal,
// whoever makes them, and passes on what a person does about the run.
//
// The model is pure: it draws what it was given last, and reads a source only
// on its own tick. Nothing here can slow down a sender.
package tui

import "github.com/weir-cli/weir/report"

// Source is whatever the dashboard shows. Its methods are called on the
// dashboard's goroutine ten times a second and must return at once. What a
// source can do beyond this it says by the interfaces below.
type Source interface {
	// Snapshot is the newest one, with its Detail; never nil, never changed
	// afterwards.
	Snapshot() *report.Snapshot
	About() About
}

// About is what does not change, or seldom, about a source.
type About struct {
	Kind string // "load", "saved run", …
	Name string
	At   string // what the traffic is aimed at; "" for nothing
	// Promise is the limit that one key is promised; nil for none.
	Promise *report.Promise
	Length  int64 // of the run in nanoseconds; 0 is open-ended
	// Sending is how many attempts are under way, -1 where nobody knows.
	Sending int64
	// Result is the answer of a run that is over; nil before.
	Result *report.Result
	Over   bool
	Marks  []report.Mark
	// Trouble is what keeps the source from being up to date; "" for nothing.
	Trouble string
	// Instead stands where the verdict and the sums do, for a source that has
	// none; "" for one that has.
	Instead string
	// Missing says, by view, why a source has nothing for it.
	Missing map[View]string
}

// Marker takes marks that a person sets.
type Marker interface {
	// Mark sets one at an instant of the run, in nanoseconds.
	Mark(at int64, text string)
}

// Stopper is a run that can be ended: the first Stop lets what is under way
// finish, the second one does not.
type Stopper interface{ Stop() }

// Pauser is a run whose sending can stand still and go on.
type Pauser interface {
	Paused() bool
	SetPaused(on bool)
}

// Pacer is a run whose rate can be changed.
type Pacer interface {
	// Pace is the present factor on the planned rate; SetPace changes it.
	Pace() float64
	SetPace(factor float64)
}

// Behaver is a run whose clients can be made to behave differently.
type Behaver interface {
	// Behaviours are the ones to choose from, the plan's own first under the
	// name "as planned"; Behaviour is the present one.
	Behaviours() []string
	Behaviour() string
	SetBehaviour(name string)
}

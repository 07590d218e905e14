// Package sim runs whole fleets in virtual time, exactly and repeatably.
//
// A [Kind] is a family of scenarios that share a model; a scenario is a YAML
// file that names a kind and states its parameters. Every kind uses the
// mechanisms of package limit and has none of its own. Time is whole
// microseconds since the scenario's zero. See docs/simulator.md.
package sim

import "context"

// Kind is a family of scenarios.
type Kind struct {
	Name  string
	About string // one line
	// Rules are the rules of the model that it uses, in words, for the result.
	Rules []string
	// Figures are all the figures that a run of this kind can report.
	Figures []FigureInfo
	// Plots are the series that a text report draws, in this order; one that
	// ends in a star stands for all that begin with what is before it.
	Plots []string
	// Anytime says that the answer in words holds for a part of a run, too.
	Anytime bool
	// New returns parameters with the kind's defaults, ready to be decoded
	// into. The struct's yaml tags are the paths of --set.
	New func() Params
}

// FigureInfo explains a figure.
type FigureInfo struct {
	Name    string // snake_case words, such as admitted_in_storm
	Unit    string // "requests", "tokens", "s", "1/s", …
	Meaning string // a phrase: no capital, no final period
}

// Params are the parameters of one scenario.
type Params interface {
	// Validate refuses what cannot be simulated; a *ParamError names the path.
	Validate() error
	// Run simulates and reports through o. It returns ctx's error when it was
	// interrupted, having reported what it has.
	Run(ctx context.Context, o *Outcome) error
}

// ParamError is a parameter that makes no sense.
type ParamError struct {
	Path string // as in --set
	Msg  string
	Hint string // what to type
}

func (e *ParamError) Error() string { return e.Path + ": " + e.Msg }

package redislimit

import (
	"fmt"

	"github.com/weir-cli/weir/limit"
)

// algorithm is how a limit is kept in Redis.
type algorithm struct {
	letter string // its fragment sets L.letter
	file   string // lua/file.lua
	base   string // a file that the fragment builds on, or ""
	// number fills in what the fragment is to know: numbers and most. The spec
	// is valid.
	number func(r *Rule) error
	// gives is whether the fragment's finish knows the mode 'give'.
	gives bool
}

// algorithms are those that can be kept in Redis.
var algorithms = map[limit.Algorithm]algorithm{
	limit.TokenBucket: {letter: "t", file: "token_bucket", base: "level", number: numberBucket, gives: true},
	limit.GCRA:        {letter: "g", file: "gcra", base: "level", number: numberBucket, gives: true},
	limit.LeakyMeter:  {letter: "m", file: "leaky_meter", base: "level", number: numberBucket, gives: true},
	limit.LeakyQueue:  {letter: "q", file: "leaky_queue", base: "level", number: numberBucket},

	limit.FixedWindow:    {letter: "f", file: "fixed_window", base: "align", number: numberWindow},
	limit.SlidingLog:     {letter: "l", file: "sliding_log", base: "scores", number: numberWindow},
	limit.SlidingCounter: {letter: "s", file: "sliding_counter", base: "align", number: numberWindow},
	limit.Concurrency:    {letter: "c", file: "concurrency", base: "scores", number: numberConcurrency},
}

// Compile makes a limit ready for the scripts. Its error is a
// *limit.SpecError: the spec is not valid, needs whole numbers of 2^53 or more,
// or a finer clock than microseconds.
func Compile(spec limit.Spec) (*Rule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	a, ok := algorithms[spec.Algorithm]
	if !ok {
		return nil, &limit.SpecError{Field: "algorithm", Value: spec.Algorithm.String(), Reason: "cannot be kept in Redis", Hint: "10/s,burst=20"}
	}
	r := &Rule{spec: spec, letter: a.letter}
	if err := a.number(r); err != nil {
		return nil, err
	}
	return r, nil
}

// Gives reports whether what was taken can be given back, which leases need.
func (r *Rule) Gives() bool { return algorithms[r.spec.Algorithm].gives }

// fail is the error for a field of a valid spec that Redis cannot keep.
func fail(field, value, format string, args ...any) error {
	return &limit.SpecError{Field: field, Value: value, Reason: fmt.Sprintf(format, args...), Hint: "10/s,burst=20"}
}

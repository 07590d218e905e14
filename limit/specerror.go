package limit

import (
	"errors"
	"strconv"
)

// SpecError says which part of a limit cannot be used and what to write.
type SpecError struct {
	Field  string // rate, burst, queue, limit, window, the options, algorithm, or "" for the whole text
	Value  string // as given
	Reason string // follows the value in a sentence: "must be above zero"
	Hint   string // a limit, rate or count that can be typed instead
}

func (e *SpecError) Error() string {
	field := e.Field
	if field == "" {
		field = "text"
	}
	return "limit: " + field + " " + strconv.Quote(e.Value) + " " + e.Reason
}

// errTooFine is newPace's complaint; Spec.Validate puts names to it.
var errTooFine = errors.New("rate and burst need more than 61 bits")

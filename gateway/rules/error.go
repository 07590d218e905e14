package rules

import (
	"fmt"
	"strings"
)

// Error is one thing in a rule file that cannot be read.
type Error struct {
	File         string
	Line, Column int    // from 1; 0 when unknown
	Rule         string // "" outside of a rule
	Msg          string // names the field and shows the offending text
	Why          string // why that matters; "" when it is plain
	Hint         string // what to write instead; "" when Msg says it all
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Errors is everything found wrong with one file, in the order of its text.
// [errors.As] with an *Error finds the first.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets [errors.As] look into each.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, one := range e {
		out[i] = one
	}
	return out
}

// maxErrors is how many problems of a text are reported; the rest wait for the
// next try.
const maxErrors = 20

// shown quotes a text of the file, cut to a length that fits a line.
func shown(s string) string {
	if len(s) > 400 {
		s = s[:400]
	}
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

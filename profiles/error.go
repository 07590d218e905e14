package profiles

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong with a profile.
type Error struct {
	File         string // "" when the profile did not come from text
	Line, Column int    // from 1; 0 when unknown
	Msg          string // names the field and shows the offending text
	Hint         string // what to write instead; "" when Msg says it all
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Msg
	case e.Line == 0:
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// Errors is everything found wrong with one profile, in order of its text.
// [errors.As] with an *Error finds the first.
type Errors []*Error

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets [errors.As] and [errors.Is] look into each.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, one := range e {
		out[i] = one
	}
	return out
}

// maxErrors is how many problems are reported; the rest wait for the next try.
const maxErrors = 20

// joined is nil, the only error, or all of them.
func joined(errs []*Error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	return Errors(errs[:min(len(errs), maxErrors)])
}

// shown quotes an offending text, cut to a length that fits a line.
func shown(s string) string {
	if r := []rune(s); len(r) > 40 {
		s = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// OneOf is the hint for a name that is not among those known.
func OneOf(name string, known []string) string {
	if near := nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "one of " + strings.Join(known, ", ")
}

// nearest is the known name closest to a mistyped one, or "" when none is
// within a third of its length in edits.
func nearest(name string, known []string) string {
	if len(name) > 64 {
		return ""
	}
	name = strings.ToLower(strings.ReplaceAll(name, "_", "-"))
	best, bestAt := "", max(1, len(name)/3)+1
	for _, k := range known {
		if d := edits(name, strings.ReplaceAll(k, "_", "-")); d < bestAt {
			best, bestAt = k, d
		}
	}
	return best
}

// edits is the number of insertions, deletions, replacements and swaps of
// neighbours between a and b (optimal string alignment).
func edits(a, b string) int {
	var before, last, row []int
	for j := 0; j <= len(b); j++ {
		last = append(last, j)
	}
	for i := 1; i <= len(a); i++ {
		row = append(make([]int, 0, len(b)+1), i)
		for j := 1; j <= len(b); j++ {
			swap := 1
			if a[i-1] == b[j-1] {
				swap = 0
			}
			d := min(last[j]+1, row[j-1]+1, last[j-1]+swap)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, before[j-2]+1)
			}
			row = append(row, d)
		}
		before, last = last, row
	}
	return last[len(b)]
}

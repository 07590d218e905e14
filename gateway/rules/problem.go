package rules

import "errors"

// Severity is how bad a problem is.
type Severity uint8

const (
	Note    Severity = iota // good to know
	Warning                 // most likely not what was meant
	Fault                   // the set is not taken
)

var severities = [...]string{"note", "warning", "error"}

// String is "note", "warning" or "error".
func (s Severity) String() string { return severities[s] }

// MarshalText is String.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Problem is one thing that is wrong with a set of rules.
type Problem struct {
	Severity Severity `json:"severity"`
	ID       string   `json:"id"` // such as "cost-above-burst"; "unreadable" for a text that is no set
	Rule     string   `json:"rule,omitempty"`
	Line     int      `json:"line,omitempty"` // 0 when unknown
	Column   int      `json:"column,omitempty"`
	What     string   `json:"what"`
	Why      string   `json:"why,omitempty"`
	Fix      string   `json:"fix,omitempty"`
}

// Faults counts the problems for which a set is not taken.
func Faults(problems []Problem) int {
	n := 0
	for _, p := range problems {
		if p.Severity == Fault {
			n++
		}
	}
	return n
}

// Problems is an error of [Parse] as a list.
func Problems(err error) []Problem {
	var all Errors
	if !errors.As(err, &all) {
		return nil
	}
	out := make([]Problem, len(all))
	for i, e := range all {
		out[i] = Problem{Fault, "unreadable", e.Rule, e.Line, e.Column, e.Msg, e.Why, e.Hint}
	}
	return out
}

// CheckText is [Parse] and [Set.Check]; the set is nil when it cannot be read.
func CheckText(data []byte, name string, o Against) (*Set, []Problem) {
	s, err := Parse(data, name)
	if err != nil {
		return nil, Problems(err)
	}
	return s, s.Check(o)
}

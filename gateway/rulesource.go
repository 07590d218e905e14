package gateway

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-cli/weir/gateway/rules"
)

// RuleSource is where rules come from, and where changes are written to.
type RuleSource interface {
	// String names it for people, without secrets.
	String() string
	// Load reads the text that is there. [ErrNoRules] means that there is none.
	Load(ctx context.Context) ([]byte, error)
	// Save puts another set in place of the text before, nil for none; it
	// fails with [ErrRulesChanged] when that is not what is there any more.
	Save(ctx context.Context, before []byte, s RuleChange) error
	// Watch calls changed whenever the text may have become another one,
	// until ctx ends.
	Watch(ctx context.Context, changed func())
}

// RuleChange is a set on its way to a source.
type RuleChange struct {
	Set         *rules.Set
	Who, Reason string
	At          time.Time
}

var (
	// ErrNoRules means that a source has nothing.
	ErrNoRules = errors.New("there are no rules")
	// ErrRulesChanged means that somebody else was faster.
	ErrRulesChanged = errors.New("the rules have been changed by somebody else in the meantime")
)

// RefusedRulesError is a set that is not taken for what it says.
type RefusedRulesError struct {
	Source   string
	Problems []rules.Problem
}

func (e *RefusedRulesError) Error() string {
	n := rules.Faults(e.Problems)
	for _, p := range e.Problems {
		if p.Severity != rules.Fault {
			continue
		}
		where := e.Source
		if p.Line > 0 {
			where += fmt.Sprintf(":%d", p.Line)
		}
		if n > 1 {
			return fmt.Sprintf("%s: %s (and %d more)", where, p.What, n-1)
		}
		return where + ": " + p.What
	}
	return e.Source + ": the rules are refused"
}

// ReadRules reads and checks what a source has. What is merely worth knowing
// of is in the problems; a set with faults is a [*RefusedRulesError].
func ReadRules(ctx context.Context, from RuleSource, against rules.Against) (*rules.Set, []rules.Problem, error) {
	text, err := from.Load(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, problems := rules.CheckText(text, from.String(), against)
	if rules.Faults(problems) > 0 {
		return nil, problems, &RefusedRulesError{from.String(), problems}
	}
	return s, problems, nil
}

package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/weir-cli/weir/load"
	"github.com/weir-cli/weir/profiles"
	"github.com/weir-cli/weir/report"
)

// problem is one mistake in what a user wrote, whichever package found it.
type problem struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (p problem) String() string {
	s := p.Message
	if p.File != "" && p.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, max(p.Column, 1), s)
	} else if p.File != "" {
		s = p.File + ": " + s
	}
	if p.Hint != "" {
		s += " (" + p.Hint + ")"
	}
	return s
}

// edit is the hint that points at the mistake; file is for one without.
func (p problem) edit(file string) string {
	if p.File != "" {
		file = p.File
	}
	if p.Line > 0 {
		return fmt.Sprintf("edit %s at line %d", file, p.Line)
	}
	return "edit " + file
}

// problemsOf lists the mistakes that err tells of, or nil when it tells of
// something else, such as a file that is not there.
func problemsOf(err error) []problem {
	var many profiles.Errors
	if errors.As(err, &many) {
		var all []problem
		for _, e := range many {
			all = append(all, problem{e.File, e.Line, e.Column, e.Msg, e.Hint})
		}
		return all
	}
	var (
		one       *profiles.Error
		plan      *load.PlanError
		file      *load.FileError
		behaviour *load.BehaviourError
	)
	switch {
	case errors.As(err, &one):
		return []problem{{one.File, one.Line, one.Column, one.Msg, one.Hint}}
	case errors.As(err, &plan):
		return []problem{{Message: plan.Error(), Hint: plan.Hint}}
	case errors.As(err, &file):
		return []problem{{File: file.File, Line: file.Line, Message: file.Msg, Hint: file.Hint}}
	case errors.As(err, &behaviour):
		return []problem{{Message: behaviour.Error(), Hint: behaviour.Hint()}}
	}
	return nil
}

// inputError types an error about what a user wrote: exit 2 with the hint of
// whoever found it, or exit 3 for a file that cannot be read.
func inputError(err error) error {
	if found := problemsOf(err); found != nil {
		return usageError(err, found[0].Hint)
	}
	var path *fs.PathError
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.As(err, &path) {
		return reachError(err, "weir profiles list")
	}
	return err
}

// plural writes a count with thousands set off: "1 key", "1,219 keys".
func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return report.Count(int64(n)) + " " + noun
}

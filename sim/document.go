package sim

import (
	"slices"
	"strconv"

	"github.com/weir-cli/weir/report"
)

// Documented are Params whose runs decide single requests, so that the usual
// document can be made of them.
type Documented interface {
	Document() Document
}

// Document is what the usual document must know beforehand.
type Document struct {
	Names   report.Names
	Promise *report.Promise // nil judges nothing
	Length  Micros          // of the run; 0 is to the last decision
}

// Partial are Params some of which mean nothing beside others, by path, with
// the reason. Setting one of them is a mistake.
type Partial interface {
	Unused() map[string]string
}

func showInt(n int64) string { return strconv.FormatInt(n, 10) }

func maxOf(n []int64) int64 { return slices.Max(n) }
func minOf(n []int64) int64 { return slices.Min(n) }

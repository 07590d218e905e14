package redislimit

import (
	"github.com/weir-cli/weir/limit"
)

// Part is what a request asks of one of its limits.
type Part struct {
	Key  string // in Redis; see [Key]
	Rule *Rule
	Cost int64 // 0 is a peek: it takes nothing and is short when a cost of 1 would be
	// ID names the holder of a concurrency limit's slots, which Release wants
	// back. Other limits have none.
	ID string
}

// Answer is the outcome of one check.
type Answer struct {
	// Decision is that of all parts together, as limit.Joint has it: the
	// smallest Remaining with its Limit, the worst RetryAfter, the largest
	// ResetAfter and Delay.
	limit.Decision
	By    int              // the part that decided; -1 when there are none
	Parts []limit.Decision // each part's own, after the check
	At    int64            // the clock that decided, unix ns
	// Unreadable counts parts whose state was not their own and was replaced.
	Unreadable int
}

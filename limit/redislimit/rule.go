package redislimit

import (
	"github.com/weir-cli/weir/limit"
)

// Rule is a limit made ready for the scripts. Immutable and safe for
// concurrent use.
type Rule struct {
	spec    limit.Spec
	letter  string // of the Lua fragment that decides
	numbers [ruleNumbers]string
	most    int64 // the highest cost that can pass
}

// ruleNumbers is how many numbers a fragment gets for each of its limits.
const ruleNumbers = 5

// maxExact is the largest whole number that a script's arithmetic, in doubles,
// counts without a gap.
const maxExact = 1<<53 - 1

// Spec is what r was made from.
func (r *Rule) Spec() limit.Spec { return r.spec }

package gateway

import "github.com/weir-cli/weir/limit"

// together is the decision of a request's hits: all pass or none. by is the
// hit that decided, -1 when there are none; see [limit.Joint].
func together(parts []hitState) (d limit.Decision, by int) {
	var j limit.Joint
	for i := range parts {
		j.Add(&parts[i].Decision)
	}
	return j.Decision()
}

package redislimit

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

const (
	// DefaultHold is how long a holder of a concurrency limit may take before
	// it counts as crashed, unless [Rule.WithHold] says otherwise.
	DefaultHold = 5 * time.Minute
	// MaxHold is the longest that can be said.
	MaxHold = 30 * 24 * time.Hour

	// maxHeld is the most units of a concurrency limit.
	maxHeld = 1 << 50
	// maxID bounds the name of a holder, in bytes.
	maxID = 200
)

// numberConcurrency fills in the units and the longest hold in µs.
func numberConcurrency(r *Rule) error {
	text := strconv.FormatInt(r.spec.Limit, 10)
	if r.spec.Limit > maxHeld {
		return &limit.SpecError{Field: "limit", Value: text, Reason: "is too many to count exactly in a script", Hint: "concurrency:limit=40"}
	}
	r.most = r.spec.Limit
	r.numbers = [ruleNumbers]string{text, strconv.FormatInt(DefaultHold.Microseconds(), 10)}
	return nil
}

// WithHold is r, a concurrency limit, with another longest hold: above zero
// and at most [MaxHold]. What is held for longer is free again, so it should be
// longer than any request may take, and no longer than a slot lost to a crash
// can be done without.
func (r *Rule) WithHold(d time.Duration) (*Rule, error) {
	switch {
	case r.spec.Algorithm != limit.Concurrency:
		return nil, fmt.Errorf("redislimit: a longest hold of %v is only for a concurrency limit, not for %v", d, r.spec)
	case d < time.Millisecond || d > MaxHold:
		return nil, fmt.Errorf("redislimit: a longest hold of %v is not between 1ms and %s", d, limit.ShortDuration(MaxHold))
	}
	c := *r
	c.numbers[1] = strconv.FormatInt(d.Microseconds(), 10)
	return &c, nil
}

// Releases reports whether what r admits must be given back with an ID.
func (r *Rule) Releases() bool { return r.spec.Algorithm == limit.Concurrency }

// releaseScript gives the units of one holder back.
func releaseScript() *Script { return scriptOf(scriptKey{"release", letterBit("c")}) }

// encodeRelease appends the arguments of giving back what p took: its ID and
// its cost.
func encodeRelease(dst []any, p *Part) (keys []string, args []any) {
	return []string{p.Key}, append(dst, p.ID, strconv.FormatInt(min(p.Cost, p.Rule.most), 10), p.Rule.numbers[1])
}

// decodeRelease reads the reply to a release: the units that came free.
func decodeRelease(reply any) (int64, error) {
	n, ok := reply.(int64)
	if list, is := reply.([]int64); is && len(list) == 1 {
		n, ok = list[0], true
	}
	if !ok || n < 0 || n > maxHeld {
		return 0, fmt.Errorf("redislimit: the reply to a release cannot be right: %.40q", fmt.Sprint(reply))
	}
	return n, nil
}

// errNoHolder is the complaint about a part of a concurrency limit that nobody
// could give back.
var errNoHolder = errors.New("a concurrency limit needs an ID of 1 to 200 bytes for each holder")

// checkHolder reports a part that takes or gives back slots without a name for
// who does.
func checkHolder(p *Part) error {
	if p.Rule.Releases() && p.Cost > 0 && (p.ID == "" || len(p.ID) > maxID) {
		return errNoHolder
	}
	return nil
}

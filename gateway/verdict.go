package gateway

import (
	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
)

// Source tells who made a decision.
type Source uint8

const (
	// FromMemory is a limiter in this process: a gateway's own, its key's
	// owner's, or the one store of a fleet without Redis.
	FromMemory     Source = iota
	FromStore             // Redis
	FromLease             // tokens that the gateway holds
	FromDenyCache         // a refusal of the store that is still in force
	FromLocalShare        // the gateway's share, while the store does not answer
	FromOpen              // admitted unasked, while the store does not answer
	FromClosed            // refused unasked, while the store does not answer

	sources // how many there are
)

var sourceNames = [...]string{"memory", "store", "lease", "deny-cache", "local-share", "open", "closed"}

// String is the name in counts, metrics and logs.
func (s Source) String() string { return nameOf(sourceNames[:], int(s)) }

// caller is who a request comes from.
type caller struct {
	Key     string // what named rules count by; "" when nobody known
	Plan    string // "" when the key has none
	Address string // IP, or IPv6 prefix; "unix" on a unix socket
	Known   bool   // the key stands in a table of keys, or there is none
}

// verdict is what a fleet decided about one request. The zero value admits a
// request that no rule is for. Its slices live as long as the scratch that it
// was decided with.
type verdict struct {
	// Decision is that of all enforced hits together: the smallest Remaining
	// with its Limit, the worst RetryAfter of those that are short, the
	// largest ResetAfter and Delay.
	limit.Decision
	By     *rules.Rule  // the rule that decided; nil when none applied
	Limit  *rules.Limit // By's limit for this caller
	Source Source       // who decided By
	Hits   []hitState   // the enforced ones, in the order of the rules
	Shadow []hitState   // on trial: each decided apart, and never obeyed
}

// hitState is a rule that a request is under: what it is asked, and what it had
// to say.
type hitState struct {
	Rule     *rules.Rule
	Limit    *rules.Limit
	Subject  string // whose bucket it is
	Cost     int64  // of the request under this rule; 0 takes nothing
	Source   Source
	Decision limit.Decision

	leased  bool        // tokens that the gateway held were spent
	asks    bool        // others wait to hear what the store says
	atShare bool        // slots are held in the gateway's own share
	common  bool        // a bank had no account of the subject's own for them
	ready   *readyLimit // of the gateway's rule set
	id      string      // holder of a concurrency limit's slots in Redis
	key     string      // in Redis, once it is known
}

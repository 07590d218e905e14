package gateway

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/weir-cli/weir/gateway/rules"
)

// books count by rule. Safe for concurrent use.
type books struct {
	mu sync.Mutex
	of map[string]*ruleBook
}

// ruleBook is one rule's, whatever its version.
type ruleBook struct {
	decided, refused                atomic.Int64
	tried, wouldHaveRefused, missed atomic.Int64
}

func newBooks() *books { return &books{of: map[string]*ruleBook{}} }

// rule finds or makes a rule's.
func (b *books) rule(name string) *ruleBook {
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.of[name]; one != nil {
		return one
	}
	one := new(ruleBook)
	b.of[name] = one
	return one
}

// keep drops the rules that set has not, so that the table cannot grow with
// every change.
func (b *books) keep(set *rules.Set) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name := range b.of {
		if set.Rule(name) == nil {
			delete(b.of, name)
		}
	}
}

func (b *books) reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.of {
		for _, n := range []*atomic.Int64{&r.decided, &r.refused, &r.tried, &r.wouldHaveRefused, &r.missed} {
			n.Store(0)
		}
	}
}

// read lists the rules by name.
func (b *books) read() []RuleCounts {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]RuleCounts, 0, len(b.of))
	for name, r := range b.of {
		all = append(all, RuleCounts{
			Rule: name, Decided: r.decided.Load(), Refused: r.refused.Load(),
			ShadowDecided: r.tried.Load(), ShadowRefused: r.wouldHaveRefused.Load(), ShadowMissed: r.missed.Load(),
		})
	}
	slices.SortFunc(all, func(a, b RuleCounts) int { return strings.Compare(a.Rule, b.Rule) })
	return all
}

// trial takes note of what a rule on trial had to say.
func (r *ruleBook) trial(refused bool) {
	r.tried.Add(1)
	if refused {
		r.wouldHaveRefused.Add(1)
	}
}

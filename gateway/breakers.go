package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/limit/redislimit"
)

// DefaultBreaker opens after five failures in a row and looks once a second
// whether the store is back.
var DefaultBreaker = limit.BreakerRule{Failures: 5, Every: time.Second}

// mostNodes bounds the table of shards. A cluster has fewer.
const mostNodes = 1024

// breakers are one gateway's, one for each shard of the store. Safe for
// concurrent use.
type breakers struct {
	rule limit.BreakerRule
	// tell hears of each that opens or closes, locked: two that come close
	// together are told in their order.
	tell func(node string, open bool)
	mu   sync.Mutex
	of   map[string]*limit.Breaker
}

func newBreakers(rule limit.BreakerRule, tell func(node string, open bool)) *breakers {
	return &breakers{rule: rule, tell: tell, of: map[string]*limit.Breaker{}}
}

// breaker finds or makes a node's, locked. Beyond the bound nodes share one.
func (b *breakers) breaker(node string) *limit.Breaker {
	if one := b.of[node]; one != nil {
		return one
	}
	if len(b.of) >= mostNodes {
		if node = ""; b.of[node] != nil {
			return b.of[node]
		}
	}
	one, err := limit.NewBreaker(b.rule)
	if err != nil {
		panic("gateway: the breaker's rule was checked: " + err.Error())
	}
	b.of[node] = one
	return one
}

// ask tells where a check of a key on node goes.
func (b *breakers) ask(node string, now int64) limit.Ticket {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.breaker(node).Ask(now)
}

// settle takes the outcome of a check.
func (b *breakers) settle(node string, t limit.Ticket, now int64, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	one := b.breaker(node)
	if failed && one.Failed(t, now) || !failed && one.Answered(t) {
		b.tell(node, one.Open())
	}
}

// unsent takes a ticket back whose check was not sent after all. Another probe
// goes at its time.
func (b *breakers) unsent(node string, t limit.Ticket, now int64) {
	if t.Way == limit.Probe {
		b.settle(node, t, now, true)
	}
}

// probe is how long until a node may be asked again: the next probe of an open
// breaker, or the time between two.
func (b *breakers) probe(node string, now int64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	one, every := b.breaker(node), int64(b.rule.Every)
	if !one.Open() || now < one.OpenedAt() {
		return b.rule.Every
	}
	return time.Duration(every - (now-one.OpenedAt())%every)
}

// counts are the nodes whose breaker is open, and how often any opened.
func (b *breakers) counts() (open, openings int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, one := range b.of {
		if one.Open() {
			open++
		}
		openings += one.Openings()
	}
	return open, openings
}

// outcome tells the node's breaker what became of a check.
func (g *gateway) outcome(node string, t limit.Ticket, err error) {
	g.breakers.settle(node, t, g.now(), sick(err))
}

// sick reports whether err says that the store, and not only this check, is in
// trouble. A store that answers about one key that it cannot is well.
func sick(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var e *redislimit.StoreError
	if errors.As(err, &e) {
		switch e.Kind {
		case redislimit.KindWrongType, redislimit.KindCrossSlot, redislimit.KindTryAgain, redislimit.KindCanceled:
			return false
		}
	}
	return true
}

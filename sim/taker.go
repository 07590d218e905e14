package sim

import (
	"strconv"
	"time"

	"github.com/weir-cli/weir/limit"
)

// taker asks the limit that a call falls under.
type taker struct {
	take       func(c *call, now int64) limit.Decision
	level      func(now, cost int64) (tokens float64, calls int64)
	knowsLevel bool
	queue      bool // decisions carry a delay
	moves      func() int
}

// taker builds the design. The states of accounts come after that of the key
// itself, which normal calls and page loads fall under.
func (p *oneKey) taker() (taker, error) {
	if p.Algorithm == "token-bucket" {
		return p.bucketTaker()
	}
	spec, err := p.spec()
	if err != nil {
		return taker{}, err
	}
	l, err := spec.New()
	if err != nil {
		return taker{}, err
	}
	cost := p.Cost
	states := make([]limit.State, p.slots())
	t := taker{queue: spec.Algorithm == limit.LeakyQueue, level: func(int64, int64) (float64, int64) { return 0, 0 }}
	if len(states) == 1 {
		t.take = func(_ *call, now int64) limit.Decision { return l.Take(&states[0], now, cost) }
		return t, nil
	}
	t.take = func(c *call, now int64) limit.Decision { return l.Take(&states[p.slot(c)], now, cost) }
	return t, nil
}

// bucketTaker is taker for token buckets, which know more designs.
func (p *oneKey) bucketTaker() (taker, error) {
	spec, cost := p.bucket(), p.Cost
	spec.TTL, spec.Follow = time.Duration(p.TTL)*time.Microsecond, p.WriteBack
	if p.Design == shares {
		var err error
		if spec, err = spec.Share(limit.Fraction{Num: 1, Den: p.Gateways}); err != nil {
			return taker{}, err
		}
	}
	rule, err := spec.Rule()
	if err != nil {
		return taker{}, err
	}
	if p.Design == sticky {
		return p.stickyTaker(&rule), nil
	}
	buckets := make([]limit.Bucket, p.slots())
	t := taker{level: func(now, cost int64) (float64, int64) {
		units := buckets[0].Level(&rule, now)
		return float64(units) / float64(rule.Grain()), units / int64(rule.Grain()) / cost
	}}
	if len(buckets) == 1 {
		t.knowsLevel = true
		t.take = func(_ *call, now int64) limit.Decision { return buckets[0].Take(&rule, now, cost) }
		return t, nil
	}
	t.take = func(c *call, now int64) limit.Decision { return buckets[p.slot(c)].Take(&rule, now, cost) }
	return t, nil
}

// stickyTaker keeps the key's bucket at an owner who changes at each move.
func (p *oneKey) stickyTaker(rule *limit.BucketRule) taker {
	states := make([]limit.Sticky, p.Accounts+1)
	owner, moved := "owner-1", 0
	return taker{
		level: func(int64, int64) (float64, int64) { return 0, 0 },
		take: func(c *call, now int64) limit.Decision {
			for moved < len(p.Moves) && p.Moves[moved] <= c.at {
				moved++
				owner = "owner-" + strconv.Itoa(moved+1)
			}
			return states[p.account(c)].Take(owner, rule, now, p.Cost)
		},
		moves: func() int {
			n := 0
			for i := range states {
				n += states[i].Moves()
			}
			return n
		},
	}
}

// account is 0 for calls of the key itself.
func (p *oneKey) account(c *call) int64 {
	if p.Accounts == 0 || c.kind != stormCall {
		return 0
	}
	return 1 + c.n%p.Accounts
}

func (p *oneKey) slots() int64 {
	if p.Design == local || p.Design == shares {
		return (p.Accounts + 1) * p.Gateways
	}
	return p.Accounts + 1
}

func (p *oneKey) slot(c *call) int64 {
	if p.Design == local || p.Design == shares {
		return p.account(c)*p.Gateways + int64(c.gateway)
	}
	return p.account(c)
}

// neighbourCalls are those of k-8.
type neighbourCalls struct {
	even   stream
	random gaps
	drawn  bool
	n      int64
}

// neighbour starts k-8's calls; nil when there is none.
func (p *oneKey) neighbour() *neighbourCalls {
	switch p.Neighbour {
	case even:
		return &neighbourCalls{even: evenly(p.Phase, p.Length, p.NeighbourPer)}
	case random:
		return &neighbourCalls{random: randomly(0, p.Length, p.NeighbourPer, p.Seed), drawn: true}
	}
	return nil
}

func (n *neighbourCalls) peek() Micros {
	if n.drawn {
		return n.random.at
	}
	return n.even.at
}

func (n *neighbourCalls) pop() {
	n.n++
	if n.drawn {
		n.random.pop()
		return
	}
	n.even.pop()
}

// next fills c; false when there is no more.
func (n *neighbourCalls) next(c *call, gateways int64) bool {
	at := n.peek()
	if at == never {
		return false
	}
	*c = call{at: at, n: n.n, gateway: int32(n.n % gateways), kind: otherCall}
	n.pop()
	return true
}

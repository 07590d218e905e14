package load

import (
	"strconv"

	"github.com/weir-cli/weir/report"
)

// purse pays for retries out of successes. All amounts are millionths, so
// that a ratio of 0.1 is exact. The zero value costs nothing.
//
// Its state is Memory.Tokens, filled on first use (Memory.Started), so it
// belongs to one caller. The adaptive throttle keeps its two counters in the
// same word.
type purse struct {
	kind  purseKind
	ratio int64 // added by a success, in millionths; the throttle's multiplier
	start int64 // allowance of a new caller, in millionths
	max   int64 // what it holds at most, in millionths
}

type purseKind uint8

const (
	free purseKind = iota
	// budgetPurse: a success adds ratio, a retry takes a whole token
	// (Finagle's RetryBudget, without its time window).
	budgetPurse
	// quotaPurse: the AWS SDKs' retry quota.
	quotaPurse
	// halfPurse: gRPC's retry throttling (proposal A6).
	halfPurse
	// adaptivePurse: client-side throttling of the SRE book, "Handling
	// Overload", applied to retries.
	adaptivePurse
)

const token = 1_000_000

// The AWS SDKs' retry quota: 500 tokens, 5 for a retry, 10 after a timeout.
const (
	quotaRetry   = 5
	quotaTimeout = 10
)

// adaptiveWindow is how many attempts the throttle remembers: both counters
// are halved there, which forgets the past geometrically.
const adaptiveWindow = 1 << 12

// note fills a new caller's purse and books what o earned.
func (p *purse) note(o Outcome, m *Memory) {
	if !m.Started {
		m.Started, m.Tokens = true, p.start
	}
	good := o.Verdict == report.Admitted
	switch p.kind {
	case budgetPurse:
		if good {
			m.Tokens = min(p.max, m.Tokens+p.ratio)
		}
	case quotaPurse:
		if !good {
			return
		}
		back := int64(1) // a success at the first try
		if o.Attempt > 1 {
			back = int64(m.Paid)
		}
		m.Tokens = min(p.max, m.Tokens+back*token)
	case halfPurse:
		if good {
			m.Tokens = min(p.max, m.Tokens+p.ratio)
		} else if grpcUnavailable(o) {
			m.Tokens = max(0, m.Tokens-token)
		}
	case adaptivePurse:
		requests, accepts := m.Tokens>>32, m.Tokens&(1<<32-1)
		if o.Verdict == report.Dropped || o.Verdict == report.InFlight {
			return
		}
		requests++
		if good {
			accepts++
		}
		if requests >= adaptiveWindow {
			requests, accepts = requests/2, accepts/2
		}
		m.Tokens = requests<<32 | accepts
	}
}

// pay takes the price of one retry, or says that there is not enough.
func (p *purse) pay(o Outcome, m *Memory, r *Rand) bool {
	switch p.kind {
	case budgetPurse:
		if m.Tokens < token {
			return false
		}
		m.Tokens -= token
	case quotaPurse:
		cost := int64(quotaRetry)
		if o.Class == report.Timeout || o.Class == report.ConnectTimeout {
			cost = quotaTimeout
		}
		if m.Tokens < cost*token {
			return false
		}
		m.Tokens -= cost * token
		m.Paid = uint16(cost)
	case halfPurse:
		return m.Tokens > p.max/2
	case adaptivePurse:
		requests, accepts := m.Tokens>>32, m.Tokens&(1<<32-1)
		// Let go with probability (requests - K*accepts) / (requests + 1).
		// Both counters are below 4096 and K below 1000, in millionths.
		excess := requests*token - p.ratio*accepts
		return excess <= 0 || r.Int64n(token) >= excess/(requests+1)
	}
	return true
}

// A new caller may retry once on credit, and a purse saves up ten retries.
const (
	budgetStart = 1
	budgetMax   = 10
)

func buildBudget(c *client, a *arguments) string {
	p := purse{kind: budgetPurse, ratio: token / 10}
	if s, ok := a.value(); ok {
		p.ratio = a.millionths("the ratio", s, 0, 100*token)
	}
	start := a.count("start", 0, 1_000_000, budgetStart)
	most := a.count("max", 1, 1_000_000, max(budgetMax, start))
	if most < start {
		a.bad("it starts with more than it can hold")
	}
	p.start, p.max = start*token, most*token
	c.purse = p
	text := "budget:" + millionthsText(p.ratio)
	if start != budgetStart {
		text += ",start=" + strconv.FormatInt(start, 10)
	}
	if most != max(budgetMax, start) {
		text += ",max=" + strconv.FormatInt(most, 10)
	}
	return text
}

func buildThrottle(c *client, a *arguments) string {
	p := purse{kind: adaptivePurse, ratio: 2 * token}
	if s, ok := a.value(); ok {
		p.ratio = a.millionths("the multiplier", s, token, 100*token)
	}
	c.purse = p
	return "throttle:" + millionthsText(p.ratio)
}

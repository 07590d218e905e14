package replay

import (
	"cmp"
	"context"
	"io"
	"slices"

	"github.com/weir-cli/weir/gateway/rules"
	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// RuleFields are the fields of a trace that rules look at, in the order in
// which Ruled expects them first among Options.Fields.
var RuleFields = []string{"remote_addr", "method", "path"}

// Ruled is a set of rules in front of traffic that has already been. A request
// passes when every enforced limit that it is under lets it pass, and is
// charged to all of them or to none; shadow rules only count.
type Ruled struct {
	Set *rules.Set
	// Keyless: the trace names nobody, and the key is only how its rows are
	// told apart.
	Keyless bool
	// Plan: the field after RuleFields is the caller's plan.
	Plan     bool
	Hidden   bool
	Name     string
	Repeat   string
	Progress func(calls int64)
	Watch    Watch
}

// bucketName is one limit's state for one subject.
type bucketName struct {
	limit   int
	subject string
}

// ruledRun is a Ruled under way.
type ruledRun struct {
	*Ruled
	limiters map[int]limit.Limiter
	states   map[bucketName]*limit.State
	sweepAt  int
	rules    map[*rules.Rule]*report.ReplayRule
	hits     []rules.Hit
	trial    []limit.State
}

// sweepStates is how many states are kept before those that no longer matter
// are first looked for.
const sweepStates = 1 << 16

// Run reads src to its end, as Shadow.Run does.
func (u *Ruled) Run(ctx context.Context, src *Source) (*report.Result, error) {
	s := &ruledRun{Ruled: u, limiters: map[int]limit.Limiter{}, states: map[bucketName]*limit.State{}, sweepAt: sweepStates, rules: map[*rules.Rule]*report.ReplayRule{}}
	for _, rule := range u.Set.Rules {
		s.rules[rule] = &report.ReplayRule{Rule: rule.Name, Shadow: rule.Shadow}
	}
	for _, l := range u.Set.Limits() {
		limiter, err := l.Spec.New()
		if err != nil {
			return nil, err
		}
		s.limiters[l.Index] = limiter
	}
	r := newRecorder(u.Hidden, nil, u.Watch)
	recorded := &difference{out: report.ReplayDifference{With: "the trace"}}
	var c Call
	var err error
	for n := int64(1); ; n++ {
		if err = src.Next(&c); err != nil {
			break
		}
		r.startAt(c.At)
		id := r.id(c.Key)
		v := s.decide(&c)
		r.record(id, c.At, c.Cost, v)
		if c.Recorded == report.Admitted || c.Recorded == report.Refused {
			if recorded.add(id, v.Verdict, c.Recorded) && recorded.out.First == nil {
				recorded.out.First = r.differing(id, c.At, c.Cost, c.Line, v.Verdict, c.Recorded)
			}
		}
		if n%lookEvery == 0 {
			if u.Progress != nil {
				u.Progress(n)
			}
			if ctx.Err() != nil {
				break
			}
		}
	}
	result := r.finish(report.Meta{Source: "replay", Name: u.Name, Repeat: u.Repeat, Interrupted: ctx.Err() != nil || err != nil && err != io.EOF}, src.Seen(), u.Name)
	if recorded.out.Calls > 0 {
		result.Replay.Recorded = &recorded.out
	}
	for _, rule := range u.Set.Rules {
		result.Replay.Rules = append(result.Replay.Rules, *s.rules[rule])
	}
	if err == io.EOF {
		err = nil
	}
	return result, err
}

// request is what the trace says of a call.
func (s *ruledRun) request(c *Call) rules.Request {
	q := rules.Request{Address: string(nth(c.Values, 0)), Method: string(nth(c.Values, 1)), Path: string(nth(c.Values, 2))}
	if !s.Keyless {
		q.Key = string(c.Key)
	}
	if s.Plan {
		q.Plan = string(nth(c.Values, len(RuleFields)))
	}
	return q
}

// decide tries the call on copies, and keeps them when all pass. Of a refused
// call nothing is kept, as in a script that checks all limits at once.
func (s *ruledRun) decide(c *Call) verdict {
	s.hits = s.Set.Match(s.hits[:0], s.request(c), c.At)
	v := verdict{Verdict: report.Admitted}
	s.trial = s.trial[:0]
	for i := range s.hits {
		h := &s.hits[i]
		limiter := s.limiters[h.Limit.Index]
		st := s.state(h, c.At)
		try := st.Clone()
		d := limiter.Take(&try, c.At, h.Cost*c.Cost)
		s.trial = append(s.trial, try)
		rule := s.rules[h.Rule]
		rule.Offered++
		if d.OK {
			continue
		}
		rule.Refused++
		if !h.Rule.Shadow {
			v.Verdict = report.Refused
			if v.wait >= 0 && (d.RetryAfter < 0 || d.RetryAfter > v.wait) {
				v.wait = d.RetryAfter
			}
		}
	}
	for i := range s.hits {
		// A shadow rule counts what it would have let pass.
		if h := &s.hits[i]; v.Verdict == report.Admitted || h.Rule.Shadow {
			*s.state(h, c.At) = s.trial[i]
		}
	}
	return v
}

// state is that of a hit's bucket. Now and then those that no longer matter
// are dropped.
func (s *ruledRun) state(h *rules.Hit, now int64) *limit.State {
	name := bucketName{h.Limit.Index, h.Subject}
	if st := s.states[name]; st != nil {
		return st
	}
	if len(s.states) >= s.sweepAt {
		for n, st := range s.states {
			if s.limiters[n.limit].Fresh(st, now) {
				delete(s.states, n)
			}
		}
		s.sweepAt = max(sweepStates, 2*len(s.states))
	}
	st := &limit.State{}
	s.states[name] = st
	return st
}

// mostRefusing orders rules for people.
func mostRefusing(a, b report.ReplayRule) int { return cmp.Compare(b.Refused, a.Refused) }

// ByRefusals is a copy of list, the rule that refuses most first.
func ByRefusals(list []report.ReplayRule) []report.ReplayRule {
	list = slices.Clone(list)
	slices.SortStableFunc(list, mostRefusing)
	return list
}

package replay

import (
	"context"
	"io"

	"github.com/weir-cli/weir/limit"
	"github.com/weir-cli/weir/report"
)

// Shadow is a limit in front of traffic that has already been: what would it
// have refused, whom and when?
type Shadow struct {
	Limit limit.Spec
	// Against is a second limit that decides on the same calls, or nil.
	Against *limit.Spec
	Promise *report.Promise // to judge by; nil judges nothing
	Hidden  bool            // show keys as a short hash
	Name    string          // of the trace
	Repeat  string
	// Progress is told the calls so far now and then; it may be nil.
	Progress func(calls int64)
	Watch    Watch
}

// lookEvery is how many calls go by between two looks at the context, a
// multiple of batchCalls.
const lookEvery = 1 << 16

// Run reads src to its end. When the context or a broken line ends it, the
// result is of what was read; the error is the line's.
func (s *Shadow) Run(ctx context.Context, src *Source) (*report.Result, error) {
	p, err := newPure(s.Limit)
	if err != nil {
		return nil, err
	}
	var other *pure
	against, recorded := &difference{}, &difference{}
	if s.Against != nil {
		if other, err = newPure(*s.Against); err != nil {
			return nil, err
		}
		against.out.With = s.Against.String()
	}
	recorded.out.With = "the trace"
	r := newRecorder(s.Hidden, s.Promise, s.Watch)
	b := &ahead{}
	for n := int64(0); err == nil; {
		var calls []awaited
		calls, err = b.read(src, r.keys)
		b.load(calls, r, p)
		for i := range calls {
			c := &calls[i]
			r.startAt(c.at)
			id := r.idOf(c.hash, c.key)
			var before, thereBefore string
			if other != nil && against.out.First == nil {
				before, thereBefore = p.peek(id, c.key, c.at), other.peek(id, c.key, c.at)
			}
			d := p.take(id, c.key, c.at, c.cost)
			v := outcomeOf(&d)
			r.record(id, c.at, c.cost, v)
			if other != nil {
				o := other.take(id, c.key, c.at, c.cost)
				if there := outcomeOf(&o).Verdict; against.add(id, v.Verdict, there) && against.out.First == nil {
					first := r.differing(id, c.at, c.cost, c.line, v.Verdict, there)
					first.Before, first.After = before, stateText(&d)
					first.ThereBefore, first.ThereAfter = thereBefore, stateText(&o)
					against.out.First = first
				}
			}
			if c.recorded == report.Admitted || c.recorded == report.Refused {
				if recorded.add(id, v.Verdict, c.recorded) && recorded.out.First == nil {
					recorded.out.First = r.differing(id, c.at, c.cost, c.line, v.Verdict, c.recorded)
					recorded.out.First.After = stateText(&d)
				}
			}
		}
		if n += int64(len(calls)); n%lookEvery == 0 && err == nil {
			if s.Progress != nil {
				s.Progress(n)
			}
			if ctx.Err() != nil {
				break
			}
		}
	}
	result := r.finish(report.Meta{Source: "replay", Name: s.Name, Repeat: s.Repeat, Interrupted: ctx.Err() != nil || err != nil && err != io.EOF}, src.Seen(), s.Name)
	if other != nil {
		result.Replay.Against = &against.out
	}
	if recorded.out.Calls > 0 {
		result.Replay.Recorded = &recorded.out
	}
	if err == io.EOF {
		err = nil
	}
	return result, err
}

// differing describes a call that was decided differently.
func (r *recorder) differing(id uint32, at, cost, line int64, here, there report.Verdict) *report.ReplayDiffCall {
	return &report.ReplayDiffCall{Line: line, AtS: seconds(at - r.start), Key: r.keys.label(id), Cost: cost,
		Here: here.String(), There: there.String()}
}

package replay

import (
	"context"
	"io"
	"time"

	"github.com/weir-cli/weir/report"
)

// inOrder replays call after call.
func (s *session) inOrder(ctx context.Context, src *Source) error {
	var c Call
	var halves []*item // first halves that wait for their second, by time
	finish := func(until int64) error {
		for len(halves) > 0 && halves[0].at+int64(s.Apart) <= until {
			it := halves[0]
			halves = halves[1:]
			s.Store.setTime(it.at + int64(s.Apart))
			if err := s.second(ctx, []*item{it}); err != nil {
				return err
			}
			if err := s.settle(ctx, it); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		err := src.Next(&c)
		if err == io.EOF {
			return finish(1 << 62)
		}
		if err != nil {
			_ = finish(1 << 62) // the line's error is the one to tell
			return err
		}
		if s.script.Calls == 0 {
			if err := s.prepare(ctx, &c, src.in.relative); err != nil {
				return err
			}
		}
		it := s.newItem(&c)
		if err := finish(it.at); err != nil {
			return err
		}
		if err := s.pace(ctx, it); err != nil {
			return err
		}
		if err := s.Drill.at(ctx, s, it.at-s.base); err != nil {
			return err
		}
		s.Store.setTime(it.at)
		s.look(ctx, it)
		if err := s.send(ctx, 0, []*item{it}); err != nil {
			return err
		}
		if len(s.Halves) > 1 {
			halves = append(halves, it)
		} else if err := s.settle(ctx, it); err != nil {
			return err
		}
		if err := s.tell(ctx); err != nil {
			return err
		}
	}
}

// tell reports progress and sees whether the run should end.
func (s *session) tell(ctx context.Context) error {
	if s.script.Calls%256 == 0 {
		if s.Progress != nil {
			s.Progress(s.script.Calls)
		}
		return ctx.Err()
	}
	return nil
}

// second calls the second half of items whose first half was answered.
func (s *session) second(ctx context.Context, items []*item) error {
	var live []*item
	for _, it := range items {
		if it.a.err == nil {
			it.f = s.Halves[1].Map.fill(&it.call, s.prefix, moment{now: it.now, number: it.number, reply: it.a.reply})
			live = append(live, it)
		}
	}
	if len(live) == 0 {
		return nil
	}
	return s.send(ctx, 1, live)
}

// pace waits until a call is due, and on the server's clock makes that its
// time.
func (s *session) pace(ctx context.Context, it *item) error {
	if s.Speed > 0 && !s.Store.virtual() {
		due := s.started.Add(time.Duration(float64(it.at-s.base) / s.Speed))
		if d := time.Until(due); d > 0 {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-t.C:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	if s.ServerClock {
		it.at = s.base + int64(time.Since(s.started))
	}
	return nil
}

// look keeps what the script's keys hold before a call, until the first
// difference has been found.
func (s *session) look(ctx context.Context, it *item) {
	if s.pure != nil && s.against.out.First == nil {
		it.before = stateOf(ctx, s.Store, it.f.keys, s.show)
		it.pureAt = s.pure.peek(it.id, it.key, it.at)
	}
}

// settle reads a call's answer, records it and compares it.
func (s *session) settle(ctx context.Context, it *item) error {
	v := verdict{Verdict: report.Failed, wait: -1}
	if it.a.err == nil {
		ok, wait, err := s.Meaning.read(it.a.reply, it.cost)
		if err != nil {
			return err
		}
		v = verdict{Verdict: report.Refused, wait: wait}
		if ok {
			v.Verdict = report.Admitted
		}
	} else {
		s.script.Failed++
		if s.script.FirstError == "" {
			s.script.FirstError = s.errorText(it.a.err)
		}
	}
	if !s.Store.virtual() {
		v.took, v.atOnce = int64(it.took), !s.ServerClock
	}
	if it.sampled {
		s.sample[it.number-1].obs = it.obs
	}
	s.r.record(it.id, it.at, it.cost, v)
	if v.Verdict == report.Failed {
		return nil
	}
	if s.pure != nil {
		d := s.pure.take(it.id, it.key, it.at, it.cost)
		there := outcomeOf(&d).Verdict
		if s.against.add(it.id, v.Verdict, there) && s.against.out.First == nil {
			first := s.differing(it, v.Verdict, there)
			first.ThereBefore, first.ThereAfter = it.pureAt, stateText(&d)
			if it.before != "" {
				first.Before, first.After = it.before, stateOf(ctx, s.Store, it.f.keys, s.show)
			}
			s.against.out.First = first
		}
	}
	if it.recorded == report.Admitted || it.recorded == report.Refused {
		if s.recorded.add(it.id, v.Verdict, it.recorded) && s.recorded.out.First == nil {
			s.recorded.out.First = s.differing(it, v.Verdict, it.recorded)
		}
	}
	return nil
}

func (s *session) differing(it *item, here, there report.Verdict) *report.ReplayDiffCall {
	return &report.ReplayDiffCall{Line: it.line, AtS: seconds(it.at - s.base), Key: s.r.keys.label(it.id), Cost: it.cost,
		Here: here.String(), There: there.String()}
}
